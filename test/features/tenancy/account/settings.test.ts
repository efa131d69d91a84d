import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { foldText } from '../../../../src/platform/text.ts';
import { codeOf, dataOf, faultsOf, payloadOf, userErrorsOf } from '../../../support/answers.ts';
import { eventually, startGateway, type TestGateway, type TestTenant } from '../../../support/gateway.ts';
import { harnessFor } from '../../messages/inbound/harness.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.stop());

const SETTINGS =
  'settings { windowPolicy timeZone optOutWords optInWords optWordsByLanguage { language optOutWords optInWords } defaultCountry { alpha2 } defaultSource { name } defaultStatus { databaseId } defaultAssignee { name } }';
const update = (input: object, token?: string) =>
  gateway.mutate('updateAccount', input, `account { databaseId ${SETTINGS} }`, token);
const settingsOf = async (tenant: TestTenant) =>
  dataOf(await gateway.graphql(`{ account { ${SETTINGS} } }`, {}, tenant.token)).account.settings;
const addStaff = async (tenant: TestTenant, name: string): Promise<number> => {
  const [row] = await gateway.database.query<{ id: string }>(
    'insert into staff (tenant_id, name, email) values ($1, $2, $3) returning id',
    [tenant.id, name, `${name.toLowerCase()}@example.com`],
  );
  return Number(row?.id);
};
const addLabel = async (tenant: TestTenant, kind: 'Source' | 'Status', name: string): Promise<string> => {
  const answer = await gateway.mutate(
    `createContact${kind}`,
    { name },
    `contact${kind} { id databaseId }`,
    tenant.token,
  );
  return payloadOf(answer)[`contact${kind}`].databaseId;
};

test('a new account has the settings of its plan-free defaults', async () => {
  const tenant = await gateway.addTenant({ channel: false });
  expect(await settingsOf(tenant)).toMatchObject({
    windowPolicy: 'NETWORK',
    timeZone: 'UTC',
    optOutWords: expect.arrayContaining(['stop', 'unsubscribe']),
    optInWords: expect.arrayContaining(['start']),
    optWordsByLanguage: expect.arrayContaining([
      { language: 'de', optOutWords: ['stopp', 'abmelden'], optInWords: ['anmelden'] },
    ]),
    defaultCountry: null,
    defaultSource: null,
    defaultStatus: null,
    defaultAssignee: null,
  });
});

test('settings are changed together, kept when omitted, cleared by null, and named in the audit log', async () => {
  const tenant = await gateway.addTenant({ channel: false });
  const staffId = await addStaff(tenant, 'Ana');
  const [source, status] = [await addLabel(tenant, 'Source', 'Web'), await addLabel(tenant, 'Status', 'New')];
  const changed = payloadOf(
    await update(
      {
        ...{ windowPolicy: 'REFUSE', timeZone: 'Europe/Berlin', defaultCountry: 'deu' },
        ...{ defaultSourceId: source, defaultStatusId: status, defaultAssigneeId: String(staffId) },
        ...{ optOutWords: [' Halt ', 'ARRÊT', 'arret', 'รอ'], optInWords: [] },
      },
      tenant.token,
    ),
  ).account;
  const settings = {
    windowPolicy: 'REFUSE',
    timeZone: 'Europe/Berlin',
    optOutWords: ['halt', 'arrêt', 'รอ'],
    optInWords: [],
    optWordsByLanguage: expect.any(Array),
    defaultCountry: { alpha2: 'DE' },
    defaultSource: { name: 'Web' },
    defaultStatus: { databaseId: status },
    defaultAssignee: { name: 'Ana' },
  };
  expect(changed).toEqual({ databaseId: String(tenant.id), settings });
  const cleared = { defaultCountry: null, defaultSourceId: null, defaultAssigneeId: null };
  expect(payloadOf(await update(cleared, tenant.token)).account.settings).toEqual({
    ...settings,
    ...{ defaultCountry: null, defaultSource: null, defaultAssignee: null },
  });
  expect(await settingsOf(tenant)).toMatchObject({ windowPolicy: 'REFUSE', defaultSource: null });
  dataOf(await update({ timeZone: 'Europe/Berlin' }, tenant.token));
  expect(
    await gateway.database.query(
      `select author->>'name' as name, details from audit_log where tenant_id = $1 and action = 'account.updated' order by id`,
      [tenant.id],
    ),
  ).toEqual([
    { name: 'test', details: expect.objectContaining({ time_zone: 'Europe/Berlin', opt_in_words: [] }) },
    { name: 'test', details: { default_country: null, default_source_id: null, default_assignee_id: null } },
  ]);
});

test('all faults are reported at once, and nothing is changed', async () => {
  const other = await gateway.addTenant({ channel: false });
  const theirs = await addLabel(other, 'Source', 'Theirs');
  const before = await settingsOf(gateway.tenant);
  const answer = await update({
    windowPolicy: null,
    timeZone: '+01:00',
    defaultCountry: 'Atlantis',
    optOutWords: ['ok', '…', 'x'.repeat(51)],
    optInWords: ['Start', ' OK '],
    defaultSourceId: theirs,
    defaultAssigneeId: '999999',
  });
  expect(Object.keys(faultsOf(answer)).sort()).toEqual([
    'defaultAssigneeId',
    'defaultCountry',
    'defaultSourceId',
    'optInWords',
    'optOutWords.1',
    'optOutWords.2',
    'timeZone',
    'windowPolicy',
  ]);
  expect(userErrorsOf(answer)).toContainEqual(expect.objectContaining({ code: 'TAKEN', path: ['optInWords'] }));
  expect(await settingsOf(gateway.tenant)).toEqual(before);
  expect(faultsOf(await update({ optInWords: ['STÓP'] }))).toEqual({
    optInWords: ['Already opts a person out: stóp.'],
  });
  expect(Object.keys(faultsOf(await update({ timeZone: null, optOutWords: null })))).toEqual([
    'optOutWords',
    'timeZone',
  ]);
});

test('changing settings needs account:write, and a repeated request changes nothing twice', async () => {
  const reader = await gateway.addToken(gateway.tenant, { scopes: ['account:read'] });
  expect(codeOf(await update({ timeZone: 'Asia/Tokyo' }, reader))).toBe('INSUFFICIENT_SCOPE');
  const tenant = await gateway.addTenant({ channel: false });
  const keyed = { timeZone: 'Asia/Tokyo', idempotencyKey: 'zone' };
  dataOf(await update(keyed, tenant.token));
  dataOf(await update({ timeZone: 'UTC' }, tenant.token));
  expect(payloadOf(await update(keyed, tenant.token)).account.settings.timeZone).toBe('UTC');
});

describe('defaults', () => {
  test('of a source and a status are those of the next new contact, although its token was cached before', async () => {
    const tenant = await gateway.addTenant({ channel: false });
    const status = await addLabel(tenant, 'Status', 'Lead');
    dataOf(await update({ defaultStatusId: status }, tenant.token));
    await eventually(async () => {
      const phone = `+49151${Math.floor(Math.random() * 9e7) + 1e7}`;
      const created = await gateway.mutate('createContact', { phone }, 'contact { status { name } }', tenant.token);
      expect(payloadOf(created).contact.status).toEqual({ name: 'Lead' });
    });
  });

  test('of an assignee are those of new conversations, unless their contact has one, for messages in both directions', async () => {
    const harness = await harnessFor(gateway);
    const { tenant } = harness;
    const [ana, bob] = [await addStaff(tenant, 'Ana'), await addStaff(tenant, 'Bob')];
    dataOf(await update({ defaultAssigneeId: String(ana) }, tenant.token));
    const contact = { phone: '+4915150000001', assigneeId: String(bob) };
    dataOf(await gateway.mutate('createContact', contact, 'contact { id }', tenant.token));
    const known = { phone: '+4915150000002' };
    dataOf(await gateway.mutate('createContact', known, 'contact { id }', tenant.token));
    const send = async (phone: string) =>
      payloadOf(
        await gateway.mutate(
          'sendMessage',
          { to: { phone }, content: { text: { body: 'Hi' } } },
          'message { conversation { assignee { name } } }',
          tenant.token,
        ),
      ).message.conversation.assignee;
    expect(await send('+4915150000001')).toEqual({ name: 'Bob' });
    expect(await send('+4915150000002')).toEqual({ name: 'Ana' });
    expect(await send('+4915150000003')).toEqual({ name: 'Ana' });
    await harness.write({ from: '4915150000004', text: 'Hello' });
    expect(
      await harness.query(
        `select v.assignee_id::int as id from conversations v join contacts c on c.tenant_id = v.tenant_id and c.id = v.contact_id
         where v.tenant_id = $1 and c.phone = '+4915150000004'`,
      ),
    ).toEqual([{ id: ana }]);
  });

  test('of opt-out words apply to the next message, in any language of the list', async () => {
    const harness = await harnessFor(gateway);
    dataOf(await update({ optOutWords: ['stop', 'Arrêt', 'रोको'], optInWords: ['Début'] }, harness.tenant.token));
    const isOptedOut = async () =>
      (
        await harness.query<{ out: boolean }>(
          'select opted_out_at is not null as out from contacts where tenant_id = $1',
        )
      )[0]?.out;
    for (const [text, expected] of [
      ['ARRET.', true],
      ['debut', false],
      ['रोको', true],
      ['début!', false],
    ] as const) {
      await harness.write({ from: '4915150000009', text });
      expect(await isOptedOut(), text).toBe(expected);
    }
  });

  test('of words of a language hold for everybody, and change without those of other languages', async () => {
    const harness = await harnessFor(gateway);
    const { token } = harness.tenant;
    const change = (optWordsByLanguage: object[]) => update({ optWordsByLanguage }, token);
    const wordsOf = async () =>
      Object.fromEntries(
        (await settingsOf(harness.tenant)).optWordsByLanguage.map(
          ({ language, ...words }: { language: string; optOutWords: string[]; optInWords: string[] }) => [
            language,
            words,
          ],
        ),
      );
    const before = await wordsOf();
    dataOf(await change([{ language: 'pt_br', optOutWords: ['Descadastrar'], optInWords: ['Voltar aqui'] }]));
    dataOf(
      await change([
        { language: 'pt-BR', optInWords: ['quero'] },
        { language: 'fr', optOutWords: [], optInWords: [] },
      ]),
    );
    const { fr: _none, ...others } = before;
    expect(await wordsOf()).toEqual({
      ...others,
      'pt-BR': { optOutWords: ['descadastrar'], optInWords: ['quero'] },
    });
    const isOptedOut = async () =>
      (
        await harness.query<{ out: boolean }>(
          'select opted_out_at is not null as out from contacts where tenant_id = $1',
        )
      )[0]?.out;
    for (const [text, expected] of [
      ['DESCADASTRAR!', true],
      ['Quero', false],
      ['abmelden', true],
      ['voltar aqui', true],
      ['arrêt', true],
      ['Start', false],
      ['arrêt', false],
    ] as const) {
      await harness.write({ from: '4915150000019', text });
      expect(await isOptedOut(), text).toBe(expected);
    }
    expect(
      faultsOf(
        await change([
          { language: 'not a tag', optOutWords: ['…'] },
          { language: 'de', optInWords: ['Start'] },
          { language: 'DE', optInWords: [] },
        ]),
      ),
    ).toEqual({
      'optWordsByLanguage.0.language': ['Must be a language tag such as de or pt-BR, not not a tag.'],
      'optWordsByLanguage.0.optOutWords.0': ['Must contain a letter or digit.'],
      'optWordsByLanguage.2.language': ['Is there twice: de.'],
    });
    expect(faultsOf(await change([{ language: 'it', optInWords: ['Baja'] }]))).toEqual({
      optWordsByLanguage: ['Opts a person both in and out: baja.'],
    });
    expect(Object.keys(faultsOf(await update({ optWordsByLanguage: null }, token)))).toEqual(['optWordsByLanguage']);
  });

  test('fall away with the staff member', async () => {
    const tenant = await gateway.addTenant({ channel: false });
    const ana = await addStaff(tenant, 'Ana');
    dataOf(await update({ defaultAssigneeId: String(ana) }, tenant.token));
    await gateway.database.query('delete from staff where tenant_id = $1 and id = $2', [tenant.id, ana]);
    expect((await settingsOf(tenant)).defaultAssignee).toBeNull();
  });
});

test('folding twice is folding once, and never leaves case or outer spaces', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), text => {
      const folded = foldText(text);
      expect(foldText(folded)).toBe(folded);
      expect(folded.trim()).toBe(folded);
      expect(foldText(text.toUpperCase())).toBe(folded);
    }),
  );
});
