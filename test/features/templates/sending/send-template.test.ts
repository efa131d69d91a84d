import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { codeOf, dataOf, payloadOf } from '../../../support/answers.ts';
import {
  eventually,
  type GraphQLAnswer,
  startGateway,
  type TestGateway,
  type TestTenant,
} from '../../../support/gateway.ts';
import { holdLock } from '../../../support/lock.ts';
import { newPhone } from '../../../support/seed.ts';
import { contentFaultsOf } from '../../../support/sending.ts';
import { ORDER, type Sending, startSending } from '../sending.ts';

let gateway: TestGateway;
let send: Sending['send'];
beforeAll(async () => {
  ({ gateway, send } = await startSending());
});
beforeEach(() => gateway.emulator.resetFaults());
afterAll(() => gateway.stop());

const sent = async (input: object) => dataOf(await send(input)).sendMessage.message;

describe('a template', () => {
  test('is sent outside the service window, and rendered for display', async () => {
    const to = newPhone();
    const message = await sent({ ...ORDER, to });
    expect(message).toMatchObject({
      status: expect.stringMatching(/SENT|DELIVERED|READ/),
      type: 'template',
      text: 'Hello Ana, order 1042 is on its way, Ana.',
    });
    expect(message.shown.rendered).toEqual({
      header: { format: 'TEXT', text: 'Order 77', link: null, filename: null },
      body: 'Hello Ana, order 1042 is on its way, Ana.',
      footer: 'Reply STOP to end',
      buttons: [
        { type: 'QUICK_REPLY', text: 'Thanks', url: null, phoneNumber: null },
        { type: 'URL', text: 'Track', url: 'https://shop.example/track/a%20b', phoneNumber: null },
        { type: 'PHONE_NUMBER', text: 'Call', url: null, phoneNumber: '+15550783881' },
      ],
    });
    const [onTheWire] = gateway.emulator.sent({ to }).messages;
    expect(onTheWire).toMatchObject({ type: 'template', body: 'Hello Ana, order 1042 is on its way, Ana.' });
    const { rendered: _shown, ...object } = message.content;
    expect(object).toEqual({
      name: 'order',
      language: { code: 'en_US' },
      components: [
        { type: 'header', parameters: [{ type: 'text', text: '77' }] },
        {
          type: 'body',
          parameters: [
            { type: 'text', text: 'Ana' },
            { type: 'text', text: '1042' },
          ],
        },
        { type: 'button', sub_type: 'url', index: '1', parameters: [{ type: 'text', text: 'a b' }] },
      ],
    });
  });

  test('fills merge fields of its parameters from the contact, once', async () => {
    const message = await sent({
      ...ORDER,
      body: ['@{contact_first_name}', '@{contact_company}!'],
      contact: { firstName: '@{contact_email}', company: 'ACME' },
    });
    expect(message.text).toBe('Hello @{contact_email}, order ACME! is on its way, @{contact_email}.');
    expect(contentFaultsOf(await send({ ...ORDER, body: ['@{contact_shoe_size}', 'x'] }))).toEqual({
      'body.0': [expect.stringContaining('Unknown merge field')],
    });
  });

  test('with named variables takes values by name or in order', async () => {
    const byName = await sent({
      name: 'named',
      header: { text: 'Al' },
      bodyByName: [
        { name: 'thing', value: 'tea' },
        { name: 'first_name', value: 'Ada' },
      ],
    });
    expect(byName.text).toBe('Dear Ada, tea is here.');
    expect(byName.content.components).toEqual([
      { type: 'header', parameters: [{ type: 'text', parameter_name: 'nick', text: 'Al' }] },
      {
        type: 'body',
        parameters: [
          { type: 'text', parameter_name: 'first_name', text: 'Ada' },
          { type: 'text', parameter_name: 'thing', text: 'tea' },
        ],
      },
    ]);
    expect((await sent({ name: 'named', header: { text: 'Al' }, body: ['Ada', 'tea'] })).text).toBe(
      'Dear Ada, tea is here.',
    );
  });

  test.each([
    [
      'a picture',
      'picture',
      { image: { link: 'https://x.example/a.png' } },
      { type: 'image', image: { link: 'https://x.example/a.png' } },
    ],
    [
      'a document',
      'paper',
      { document: { link: 'https://x.example/a.pdf', filename: 'C:\\x\\a.pdf' } },
      { type: 'document', document: { link: 'https://x.example/a.pdf', filename: 'a.pdf' } },
    ],
    [
      'a place',
      'place',
      { location: { latitude: 1.5, longitude: -2, name: 'Shop' } },
      { type: 'location', location: { latitude: '1.5', longitude: '-2', name: 'Shop' } },
    ],
  ])('has %s in its header', async (_what, name, header, parameter) => {
    expect((await sent({ name, header })).content.components).toEqual([{ type: 'header', parameters: [parameter] }]);
  });

  test('can have a location header', async () => {
    const location = { latitude: 91, longitude: -180.5 };
    expect(contentFaultsOf(await send({ name: 'place', to: newPhone(), header: { location } }))).toEqual({
      'header.location.latitude': ['Must be from -90 to 90 degrees.'],
      'header.location.longitude': ['Must be from -180 to 180 degrees.'],
    });
  });

  test('is found by any spelling of its language', async () => {
    expect((await sent({ ...ORDER, language: 'en-US' })).content.language).toEqual({ code: 'en_US' });
  });

  test('carries the payload of a quick reply and the code of a coupon', async () => {
    const reply = await sent({ ...ORDER, buttons: [...ORDER.buttons, { index: 0, value: 'THANKS' }] });
    expect(reply.content.components[2]).toEqual({
      type: 'button',
      sub_type: 'quick_reply',
      index: '0',
      parameters: [{ type: 'payload', payload: 'THANKS' }],
    });
    const coupon = await sent({ name: 'coupon', buttons: [{ index: 0, value: 'SAVE10' }] });
    expect(coupon.content.components).toEqual([
      {
        type: 'button',
        sub_type: 'copy_code',
        index: '0',
        parameters: [{ type: 'coupon_code', coupon_code: 'SAVE10' }],
      },
    ]);
  });

  test('takes three round trips to be accepted', async () => {
    const phone = newPhone();
    await sent({ name: 'plain', to: phone });
    await eventually(async () => expect(await gateway.database.query('select from outbox')).toEqual([]));
    const quiet = await startGateway({ role: 'gateway', emulator: { templates: [] } });
    try {
      await quiet.database.query(
        `insert into templates (tenant_id, waba_id, network_id, name, language, category, status, parameter_format, components)
         values ($1, $2, '1', 'plain', 'en_US', 'UTILITY', 'APPROVED', 'POSITIONAL', '[{"type":"BODY","text":"Hi"}]')`,
        [quiet.tenant.id, quiet.tenant.wabaId],
      );
      const once = () =>
        quiet.graphql(
          'mutation ($to: String!) { sendMessage(input: { to: { phone: $to }, content: { template: { name: "plain", language: "en_US" } } }) { message { status } userErrors { code message path } } }',
          { to: phone },
        );
      dataOf(await once());
      quiet.statements.length = 0;
      dataOf(await once());
      expect(
        quiet.statements.filter(text => !text.includes('/* cross-tenant:') && !/^(begin|commit)/i.test(text)),
      ).toHaveLength(3);
    } finally {
      await quiet.stop();
    }
  });
});

describe('an idempotency key', () => {
  test('returns the first message, even if the template can no longer be sent', async () => {
    const input = { name: 'plain', to: newPhone(), idempotencyKey: 'once' };
    const first = await sent(input);
    await gateway.database.query("update templates set status = 'DISABLED' where name = 'plain'");
    try {
      expect((await sent(input)).databaseId).toBe(first.databaseId);
      expect(contentFaultsOf(await send({ ...input, idempotencyKey: 'twice' }))).toEqual({
        name: [expect.stringContaining('DISABLED')],
      });
    } finally {
      await gateway.database.query("update templates set status = 'APPROVED' where name = 'plain'");
    }
    expect(codeOf(await send({ ...ORDER, idempotencyKey: 'once' }))).toBe('IDEMPOTENCY_MISMATCH');
  });
});

describe('a one-time code', () => {
  /** Every table of the tenant's data as text. */
  async function wholeDatabase(): Promise<string> {
    const tables = await gateway.database.query<{ name: string }>(
      "select table_schema || '.' || table_name as name from information_schema.tables where table_schema not in ('pg_catalog', 'information_schema') and table_type = 'BASE TABLE'",
    );
    const rows = await Promise.all(
      tables.map(({ name }) => gateway.database.query<{ row: string }>(`select t::text as row from ${name} t`)),
    );
    return rows
      .flat()
      .map(({ row }) => row)
      .join('\n');
  }

  test('is sent in text and button, and is absent from database, events and response', async () => {
    const [to, code] = [newPhone(), '583920174'];
    // Held up, so that the message waits in the outbox while we look.
    gateway.emulator.setFaults({ next: [{ errorCode: 130_429, to }] });
    const answer = await send({ name: 'code', to, body: [code], idempotencyKey: 'otp-1', waitForAcceptance: false });
    expect(JSON.stringify(answer)).not.toContain(code);
    expect(dataOf(answer).sendMessage.message).toMatchObject({
      text: '*••••••* is your verification code.',
      shown: {
        rendered: { body: '*••••••* is your verification code.', buttons: [{ type: 'OTP', text: 'Copy code' }] },
      },
    });
    const whole = await wholeDatabase();
    expect(whole).toContain('is your verification code.');
    expect(whole).not.toContain(code);
    await eventually(() =>
      expect(gateway.emulator.sent({ to }).messages).toMatchObject([{ body: `*${code}* is your verification code.` }]),
    );
    const [{ content } = { content: undefined }] = await gateway.database.query<{ content: object }>(
      "select content from messages where content->>'name' = 'code' and content::text like '%url%'",
    );
    expect(content).toMatchObject({ components: [{ type: 'body' }, { type: 'button', sub_type: 'url', index: '0' }] });
    await eventually(async () =>
      expect(await gateway.database.query('select from outbox where sealed is not null')).toEqual([]),
    );
    expect(await wholeDatabase()).not.toContain(code);
    expect(JSON.stringify(gateway.logs)).not.toContain(code);
  });

  test('returns the first message for its key, even if the template can no longer be sent', async () => {
    const input = { name: 'code', to: newPhone(), body: ['333333'], idempotencyKey: 'otp-3' };
    const first = await sent(input);
    await gateway.database.query("update templates set status = 'PAUSED' where name = 'code'");
    try {
      expect((await sent(input)).databaseId).toBe(first.databaseId);
    } finally {
      await gateway.database.query("update templates set status = 'APPROVED' where name = 'code'");
    }
  });

  test('returns the first message for its key, even with another code', async () => {
    const to = newPhone();
    const first = await sent({ name: 'code', to, body: ['111111'], idempotencyKey: 'otp-2' });
    expect((await sent({ name: 'code', to, body: ['222222'], idempotencyKey: 'otp-2' })).databaseId).toBe(
      first.databaseId,
    );
  });
});

describe('a tenant with two business accounts, of which the first has the template,', () => {
  let tenant: TestTenant;
  let [home, away] = [0, 0];
  const makeDefault = async (id: number | null) => {
    await gateway.database.query('update channels set is_default = false where tenant_id = $1', [tenant.id]);
    await gateway.database.query('update channels set is_default = true where tenant_id = $1 and id = $2', [
      tenant.id,
      id,
    ]);
  };
  const sendPlain = () => send({ name: 'plain', waitForAcceptance: false }, tenant.token);
  const channelsOf = async () =>
    gateway.database.query<{ id: number }>(
      'select distinct channel_id::int as id from messages where tenant_id = $1 order by 1',
      [tenant.id],
    );

  beforeEach(async () => {
    tenant = await gateway.addTenant();
    const other = await gateway.addTenant();
    // After the sync of the connection, which would remove a template that the network does not have.
    payloadOf(await gateway.mutate('syncTemplates', {}, 'totalCount', tenant.token));
    await gateway.database.query(
      `insert into templates (tenant_id, waba_id, network_id, name, language, category, status, parameter_format, components)
       select $1, $2, network_id, name, language, category, status, parameter_format, components from templates
       where tenant_id = $3 and name = 'plain'`,
      [tenant.id, tenant.wabaId, gateway.tenant.id],
    );
    await gateway.database.query(
      `insert into channels (tenant_id, name, phone_number_id, waba_id, display_phone_number, access_token_sealed, app_secret_sealed, verify_token_hash)
       select $1, 'other', 'p' || phone_number_id, 'w' || waba_id, 'x', access_token_sealed, app_secret_sealed, verify_token_hash
       from channels where tenant_id = $2`,
      [tenant.id, other.id],
    );
    const ids = await gateway.database.query<{ id: number }>(
      'select id::int as id from channels where tenant_id = $1 order by is_default desc',
      [tenant.id],
    );
    [home = 0, away = 0] = ids.map(({ id }) => id);
  });

  test('sends it from the number on whose account it was found, even if the default changes meanwhile', async () => {
    // Read together with the recipient, after the template: here the send waits, and beside it workers that process webhooks.
    const lock = await holdLock(gateway.database, 'lock table erased_identities in access exclusive mode');
    const sending = sendPlain();
    try {
      await eventually(async () =>
        expect(await lock.waiting()).toContainEqual(expect.stringContaining('as channel_status_reason')),
      );
      await makeDefault(away);
    } finally {
      await lock.release();
    }
    dataOf(await sending);
    expect(await channelsOf()).toEqual([{ id: home }]);
  });

  test('is refused without a default channel, and where the default has no such template', async () => {
    await makeDefault(away);
    expect(contentFaultsOf(await sendPlain())).toEqual({
      name: [expect.stringContaining('no template with this name')],
    });
    await makeDefault(null);
    expect(codeOf(await sendPlain())).toBe('MESSAGING_NOT_CONFIGURED');
    await makeDefault(home);
    dataOf(await sendPlain());
    expect(await channelsOf()).toEqual([{ id: home }]);
  });

  test('judges every send by the default channel of one instant, while the default is missing at times', async () => {
    const state = { isDone: false };
    const changing = (async () => {
      while (!state.isDone) for (const id of [away, home]) await makeDefault(id);
    })();
    const answers: GraphQLAnswer[] = [];
    try {
      for (let round = 0; round < 15; round += 1)
        answers.push(...(await Promise.all(Array.from({ length: 8 }, sendPlain))));
    } finally {
      state.isDone = true;
      await changing;
    }
    // How many there are of each is a matter of luck.
    expect(['MESSAGING_NOT_CONFIGURED', 'VALIDATION_ERROR', undefined]).toEqual(
      expect.arrayContaining([...new Set(answers.map(codeOf))]),
    );
    for (const { id } of await channelsOf()) expect(id).toBe(home);
  });
});
