import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { dataOf, faultsOf, payloadOf } from '../../support/answers.ts';
import { startGateway, type TestGateway, type TestTenant } from '../../support/gateway.ts';
import { newPhone, seedOf } from '../../support/seed.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.stop());

interface Summary {
  readonly total: number;
  readonly isRolledBack: boolean;
}

interface Outcome {
  readonly success: boolean;
  readonly total: number;
  readonly created: { readonly phone: string; readonly databaseId: string }[];
  readonly skipped: { readonly index: number; readonly reason: string }[];
  readonly errors: { readonly index: number; readonly errors: Record<string, string[]> }[];
}

const BATCH = `summary { total succeeded skipped failed isRolledBack } results {
  index outcome contact { phone databaseId } userErrors { code message path } } deletedIds`;
interface Result {
  readonly index: number;
  readonly outcome: string;
  readonly contact: { readonly phone: string; readonly databaseId: string } | null;
  readonly userErrors: readonly { readonly code: string; readonly message: string; readonly path: readonly string[] }[];
}
const send = (contacts: object[], options: object = {}, token?: string) =>
  gateway.mutate('createContacts', { contacts, ...options }, BATCH, token);
const batch = async (contacts: object[], options: object = {}, token?: string): Promise<Outcome> =>
  outcomeOf(payloadOf(await send(contacts, options, token)));

/** The results by outcome; errors by the fields of their row. */
function outcomeOf({ summary, results }: { summary: Summary; results: readonly Result[] }): Outcome {
  const of = (...outcomes: string[]) => results.filter(({ outcome }) => outcomes.includes(outcome));
  const fieldsOf = ({ userErrors, index }: Result) =>
    userErrors.map(({ path: [list, row, field = list], message }) => {
      expect([list, row]).toEqual(['contacts', String(index)]);
      return [field, [message]];
    });
  expect(summary).toMatchObject({
    succeeded: of('CREATED').length,
    skipped: of('SKIPPED').length,
    failed: of('FAILED', 'ROLLED_BACK').length,
  });
  return {
    success: !summary.isRolledBack,
    total: summary.total,
    created: of('CREATED').flatMap(({ contact }) => contact ?? []),
    skipped: of('SKIPPED').map(({ index, userErrors }) => ({ index, reason: userErrors[0]?.message ?? '' })),
    errors: of('FAILED', 'ROLLED_BACK').map(row => ({ index: row.index, errors: Object.fromEntries(fieldsOf(row)) })),
  };
}

const phones = (count: number): string[] => Array.from({ length: count }, newPhone);

/** Every row of a batch is accounted for exactly once. */
function accounts({ total, created, skipped, errors }: Outcome): void {
  const told = [...skipped, ...errors].map(({ index }) => index);
  expect(new Set(told).size).toBe(told.length);
  expect(created.length + told.length).toBe(total);
}

async function state(tenant: TestTenant = gateway.tenant): Promise<{ counted: number; there: number; events: number }> {
  const [row] = await gateway.database.query<{ counted: number; there: number; events: number }>(
    `select contacts::int as counted, (select count(*)::int from contacts where tenant_id = $1) as there,
            (select count(*)::int from events where tenant_id = $1 and type = 'contact.created') as events from tenant_usage where tenant_id = $1`,
    [tenant.id],
  );
  return row ?? { counted: -1, there: -1, events: -1 };
}

test('valid rows of a batch are created in order, invalid ones are reported by index and field', async () => {
  const before = await state();
  const [a, b, c] = phones(3);
  const outcome = await batch([
    { phone: a, firstName: 'A' },
    { phone: 'bad' },
    { phone: b, email: 'x' },
    {},
    { phone: null },
    { phone: c, sourceId: '999999' },
    { phone: b },
  ]);
  expect(outcome.success).toBe(true);
  expect(outcome.created.map(({ phone }) => phone)).toEqual([a, b]);
  expect(outcome.errors.map(({ index, errors }) => [index, Object.keys(errors)])).toEqual([
    [1, ['phone']],
    [2, ['email']],
    [3, ['phone']],
    [4, ['phone']],
    [5, ['sourceId']],
  ]);
  accounts(outcome);
  expect(await state()).toEqual({ counted: before.counted + 2, there: before.there + 2, events: before.events + 2 });
});

describe('a duplicate is a number that exists in the tenant or earlier in the batch, in any spelling', () => {
  const rows = async () => {
    const [there = '', twice = '', fresh = ''] = phones(3);
    await batch([{ phone: there }]);
    return [
      { phone: there },
      { phone: twice },
      { phone: twice.replace('+', '00') },
      { phone: fresh },
      { phone: `${twice.slice(0, 5)} ${twice.slice(5)}` },
    ];
  };

  test('without skipDuplicates it is an error of phone', async () => {
    const outcome = await batch(await rows());
    expect(outcome.errors.map(({ index, errors }) => [index, Object.keys(errors)])).toEqual([
      [0, ['phone']],
      [2, ['phone']],
      [4, ['phone']],
    ]);
    expect(outcome.created).toHaveLength(2);
    accounts(outcome);
  });

  test('with it, it is passed over', async () => {
    const outcome = await batch(await rows(), { skipDuplicates: true });
    expect(outcome).toMatchObject({ success: true, skipped: [{ index: 0 }, { index: 2 }, { index: 4 }], errors: [] });
    accounts(outcome);
  });

  test('with it, it is skipped whatever other faults it has, and undoes nothing', async () => {
    const [there] = phones(1);
    await batch([{ phone: there }]);
    const outcome = await batch([{ phone: there, email: 'not one' }, { phone: phones(1)[0] }], {
      skipDuplicates: true,
      onError: 'ROLL_BACK',
    });
    expect(outcome).toMatchObject({ success: true, skipped: [{ index: 0 }], errors: [], created: [expect.anything()] });
    accounts(outcome);
  });

  test('national variants of a mobile number are duplicates', async () => {
    const spellings = [
      '+5511977770001',
      '+551177770001',
      '+525577770001',
      '+5215577770001',
      '+5491177770001',
      '+541177770001',
    ];
    const outcome = await batch(
      spellings.map(phone => ({ phone })),
      { skipDuplicates: true },
    );
    expect(outcome.skipped.map(({ index }) => index)).toEqual([1, 3, 5]);
  });
});

test('an e-mail address that occurs twice in a batch, ignoring case, is an error of email', async () => {
  const [a, b] = phones(2);
  const outcome = await batch(
    [
      { phone: a, email: 'twice@example.com' },
      { phone: b, email: 'TWICE@example.com' },
    ],
    { skipDuplicates: true },
  );
  expect(outcome.errors).toEqual([{ index: 1, errors: { email: [expect.any(String)] } }]);
});

test('with ROLL_BACK the first error rolls the batch back, and every row is reported', async () => {
  const before = await state();
  const [a = '', b, c] = phones(3);
  await batch([{ phone: a }]);
  const outcome = await batch([{ phone: a }, { phone: b }, { phone: 'bad' }, { phone: c }], {
    onError: 'ROLL_BACK',
    skipDuplicates: true,
    idempotencyKey: 'undone',
  });
  expect(outcome).toMatchObject({ success: false, created: [], skipped: [{ index: 0 }] });
  expect(outcome.errors.map(({ index }) => index)).toEqual([1, 2, 3]);
  accounts(outcome);
  expect(await state()).toEqual({ counted: before.counted + 1, there: before.there + 1, events: before.events + 1 });
  // What was undone did not use up its key.
  expect(await batch([{ phone: b }], { idempotencyKey: 'undone' })).toMatchObject({
    success: true,
    created: [{ phone: b }],
  });
});

test('a batch of 1,000 rows with duplicates is created at once, and a repetition under its key returns the same', async () => {
  const fresh = phones(900);
  const rows = [...fresh, ...fresh.slice(0, 100)].map((phone, n) => ({ phone, firstName: `Row ${n}` }));
  const outcome = await batch(rows, { skipDuplicates: true, idempotencyKey: 'thousand' });
  expect(outcome.created.map(({ phone }) => phone)).toEqual(fresh);
  expect(outcome.skipped.map(({ index }) => index)).toEqual(Array.from({ length: 100 }, (_, n) => 900 + n));
  accounts(outcome);
  const again = await send(rows, { skipDuplicates: true, idempotencyKey: 'thousand' });
  expect(again.extensions).toEqual({ idempotencyReplayed: true });
  expect(outcomeOf(payloadOf(again))).toEqual(outcome);
  const { counted, there } = await state();
  expect(counted).toBe(there);
});

test('a batch must have 1 to 1,000 rows', async () => {
  expect(faultsOf(await send([]))).toHaveProperty('contacts');
  expect(faultsOf(await send(phones(1_001).map(phone => ({ phone }))))).toHaveProperty('contacts');
});

test('the limit of the plan is applied row by row', async () => {
  const tenant = await gateway.addTenant({ plan: 'starter', channel: false });
  const token = await gateway.addToken(tenant, {});
  expect(
    (
      await batch(
        phones(998).map(phone => ({ phone })),
        {},
        token,
      )
    ).created,
  ).toHaveLength(998);
  const rows = [{ phone: 'bad' }, ...phones(4).map(phone => ({ phone }))];
  const undone = await batch(rows, { onError: 'ROLL_BACK' }, token);
  expect(undone).toMatchObject({ success: false, created: [] });
  accounts(undone);
  const outcome = await batch(rows, {}, token);
  expect(outcome.created).toHaveLength(2);
  expect(outcome.errors.map(({ index, errors }) => [index, Object.keys(errors)])).toEqual([
    [0, ['phone']],
    [3, ['contacts']],
    [4, ['contacts']],
  ]);
  accounts(outcome);
  expect(await state(tenant)).toEqual({ counted: 1_000, there: 1_000, events: 1_000 });
});

test('the result of a batch loads related rows with one statement per kind, not per row', async () => {
  const { databaseId } = dataOf(
    await gateway.graphql(
      'mutation { createContactSource(input: { name: "Batch" }) { contactSource { databaseId } } }',
    ),
  ).createContactSource.contactSource;
  const input = { contacts: phones(50).map(phone => ({ phone, sourceId: databaseId })) };
  gateway.statements.length = 0;
  const answer = await gateway.mutate(
    'createContacts',
    input,
    'results { contact { source { name } groups { name } } }',
  );
  expect(payloadOf(answer).results).toHaveLength(50);
  expect(
    gateway.statements.filter(
      text => /^\s*select/i.test(text) && /from "?(sources|contact_groups)/.test(text) && !text.includes('key share'),
    ),
  ).toHaveLength(2);
});

test('groups, group names and opt-outs of rows are applied, with an event each', async () => {
  const seed = seedOf(gateway);
  const [group, name] = [await seed.label('Group', 'In batches'), 'Made by a batch'];
  const [a, b, c] = phones(3);
  const rows = [
    { phone: a, groupIds: [group], groupNames: [name, 'IN BATCHES'] },
    { phone: b, groupNames: [name.toUpperCase()], isOptedOut: true },
    { phone: c, groupIds: ['999999'] },
  ];
  const selection = 'results { outcome contact { isOptedOut groups { name } } userErrors { path } }';
  const { results } = payloadOf(await gateway.mutate('createContacts', { contacts: rows }, selection));
  expect(results).toMatchObject([
    { outcome: 'CREATED', contact: { isOptedOut: false, groups: [{ name: 'In batches' }, { name }] } },
    { outcome: 'CREATED', contact: { isOptedOut: true, groups: [{ name }] } },
    { outcome: 'FAILED', userErrors: [{ path: ['contacts', '2', 'groupIds'] }] },
  ]);
});

test('a dry run returns the outcomes that the batch would have, and writes nothing', async () => {
  const before = await state();
  const [a] = phones(1);
  const { summary, results } = payloadOf(await send([{ phone: a }, { phone: 'bad' }], { isDryRun: true }));
  expect([summary.isRolledBack, results.map((row: Result) => [row.outcome, row.contact])]).toEqual([
    false,
    [
      ['CREATED', null],
      ['FAILED', null],
    ],
  ]);
  expect(await state()).toEqual(before);
});

test('results can be restricted to some outcomes', async () => {
  const selection = 'results(outcomes: [FAILED]) { index outcome }';
  const contacts = [{ phone: phones(1)[0] }, { phone: 'bad' }];
  expect(payloadOf(await gateway.mutate('createContacts', { contacts }, selection)).results).toEqual([
    { index: 1, outcome: 'FAILED' },
  ]);
});
