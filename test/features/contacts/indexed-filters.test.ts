import { afterAll, beforeAll, expect, test } from 'vitest';
import { dataOf } from '../../support/answers.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { seedOf } from '../../support/seed.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.stop());

/** The companies of the contacts that a filter finds. */
const companies = async (filter: object): Promise<string[]> => {
  const { contacts } = dataOf(
    await gateway.graphql(
      'query ($filter: ContactFilter) { contacts(first: 50, filter: $filter) { totalCount nodes { company } } }',
      { filter },
    ),
  );
  expect(contacts.totalCount).toBe(contacts.nodes.length);
  return contacts.nodes.map(({ company }: { company: string }) => company).sort();
};

test('a company is found by a part of its name without regard to case, and by what % and _ stand for', async () => {
  const all = [
    'Acme Ltd',
    'ACME 100% Pure',
    'Škoda Auto',
    'Skoda Parts',
    'back\\slash',
    'İSTANBUL Ticaret',
    'Straße & Söhne',
    'ab',
  ];
  for (const [n, company] of all.entries())
    dataOf(
      await gateway.mutate(
        'createContact',
        { phone: `+4915112340${100 + n}`, firstName: 'Acme', company },
        'contact { id }',
      ),
    );
  for (const [like, expected] of [
    ['acme', ['ACME 100% Pure', 'Acme Ltd']],
    ['%ltd', ['Acme Ltd']],
    ['acm_ lt%', ['Acme Ltd']],
    ['ac%100%pure', ['ACME 100% Pure']],
    ['acme ltd acme', []],
    ['koda', ['Skoda Parts', 'Škoda Auto']],
    ['skoda', ['Skoda Parts']],
    ['škoda', ['Škoda Auto']],
    ['BACK\\slash', ['back\\slash']],
    ['stra', ['Straße & Söhne']],
    ['strasse', []],
    ['%& s_hn%', ['Straße & Söhne']],
    ['ab', ['ab']],
    ['%', [...all].sort()],
  ] as const)
    expect([like, await companies({ company: { like } })]).toEqual([like, expected]);
});

test('contacts are found by the time of their last message, in whichever conversation it is', async () => {
  const { id: tenantId } = gateway.tenant;
  const seed = seedOf(gateway);
  await gateway.database.query(
    `insert into channels (tenant_id, name, phone_number_id, waba_id, display_phone_number, access_token_sealed, app_secret_sealed, verify_token_hash)
     select tenant_id, 'Second', 'second', waba_id, '+1 555 0002', access_token_sealed, app_secret_sealed, verify_token_hash from channels where tenant_id = $1 limit 1`,
    [tenantId],
  );
  const channels = await gateway.database.query<{ id: string }>(
    'select id from channels where tenant_id = $1 order by id',
    [tenantId],
  );
  const at = (minute: number): string => new Date(Date.parse('2026-11-02T10:00:00Z') + minute * 60_000).toISOString();
  // Minutes of the last message in each conversation.
  const last: Record<string, readonly number[]> = { once: [14], twice: [3, 27], late: [30, 9], never: [] };
  for (const [company, minutes] of Object.entries(last)) {
    const { id } = await seed.contact({ company });
    for (const [n, minute] of minutes.entries())
      await gateway.database.query(
        'insert into conversations (tenant_id, contact_id, channel_id, last_activity_at) values ($1, $2, $3, $4)',
        [tenantId, id, channels[n]?.id, at(minute)],
      );
  }
  const named = { company: { in: Object.keys(last) } };
  for (const [lastMessageAt, expected] of [
    [{ gte: at(14) }, ['late', 'once', 'twice']],
    [{ gt: at(14) }, ['late', 'twice']],
    [{ gte: at(27) }, ['late', 'twice']],
    [{ gt: at(29) }, ['late']],
    [{ gte: at(10), gt: at(27) }, ['late']],
    [{ gte: at(10), lt: at(28) }, ['once', 'twice']],
    [{ lt: at(14) }, []],
    [{ lte: at(14) }, ['once']],
    [{ between: [at(14), at(27)] }, ['once', 'twice']],
    [{ isNull: true }, ['never']],
    [{ isNull: false }, ['late', 'once', 'twice']],
    [{ gte: at(0), isNull: false }, ['late', 'once', 'twice']],
  ] as const)
    expect([lastMessageAt, await companies({ ...named, lastMessageAt })]).toEqual([lastMessageAt, expected]);
  expect(await companies({ ...named, not: { lastMessageAt: { gt: at(14) } } })).toEqual(['never', 'once']);
});
