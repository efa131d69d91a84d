import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { codeOf, dataOf, faultsOf, payloadOf } from '../../../support/answers.ts';
import {
  type GraphQLAnswer,
  mutationOf,
  startGateway,
  type TestGateway,
  type TestTenant,
} from '../../../support/gateway.ts';
import { newPhone } from '../../../support/seed.ts';

let gateway: TestGateway;
let other: TestTenant;
let group: string;
let contact: string;
beforeAll(async () => {
  // Without a worker: what becomes of messages would change what is counted here.
  gateway = await startGateway({ role: 'gateway' });
  other = await gateway.addTenant();
  contact = payloadOf(await create({ phone: newPhone() })).contact.databaseId;
  group = dataOf(
    await gateway.graphql('mutation { createContactGroup(input: { name: "Keys" }) { contactGroup { databaseId } } }'),
  ).createContactGroup.contactGroup.databaseId;
});
afterAll(() => gateway.stop());

const create = (input: object, token?: string) =>
  gateway.mutate('createContact', input, 'contact { databaseId phone firstName }', token);
const rows = async (): Promise<number[]> => {
  const [row] = await gateway.database.query<{ n: number[] }>(
    `select array[(select count(*) from contacts), (select count(*) from events), (select count(*) from messages), (select count(*) from groups),
                  (select count(*) from sources), (select count(*) from statuses), (select count(*) from access_tokens), (select count(*) from idempotency_keys)]::int[] as n`,
  );
  return row?.n ?? [];
};

/** Every mutation with a key, as a document, and what changes it into another request. */
const KEYED: Record<
  string,
  { document: string; input: () => Record<string, unknown>; other: Record<string, unknown> }
> = {
  createContact: {
    document: mutationOf('createContact', 'contact { databaseId }'),
    input: () => ({ phone: newPhone() }),
    other: { firstName: 'X' },
  },
  updateContact: {
    document: mutationOf('updateContact', 'contact { databaseId city }'),
    input: () => ({ id: contact, city: 'Rome' }),
    other: { city: 'Oslo' },
  },
  createContacts: {
    document: mutationOf('createContacts', 'results { contact { databaseId phone } }'),
    input: () => ({ contacts: [{ phone: newPhone() }] }),
    other: { skipDuplicates: true },
  },
  createContactGroup: {
    document: mutationOf('createContactGroup', 'contactGroup { databaseId }'),
    input: () => ({ name: newPhone() }),
    other: { name: 'X' },
  },
  createContactSource: {
    document: mutationOf('createContactSource', 'contactSource { databaseId }'),
    input: () => ({ name: newPhone() }),
    other: { name: 'X' },
  },
  createContactStatus: {
    document: mutationOf('createContactStatus', 'contactStatus { databaseId }'),
    input: () => ({ name: newPhone() }),
    other: { color: '#000000' },
  },
  updateContactGroup: {
    document: mutationOf('updateContactGroup', 'contactGroup { databaseId }'),
    input: () => ({ id: group, name: newPhone() }),
    other: { name: 'Y' },
  },
  sendMessage: {
    document: mutationOf('sendMessage', 'message { databaseId }'),
    input: () => ({ to: { phone: newPhone() }, content: { text: { body: 'once' } } }),
    other: { content: { text: { body: 'twice' } } },
  },
  createAccessToken: {
    document: mutationOf('createAccessToken', 'accessToken { databaseId }'),
    input: () => ({ name: 't', scopes: ['CONTACTS_READ'] }),
    other: { scopes: ['GROUPS_READ'] },
  },
};

describe.each(Object.entries(KEYED))('%s', (name, { document, input, other: difference }) => {
  test('does its work once under a key, and answers the same again', async () => {
    const variables = {
      input: { ...input(), idempotencyKey: `key of ${name}` },
    };
    const first = await gateway.graphql(document, variables);
    expect(first.extensions).toBeUndefined();
    const after = await rows();
    const second = await gateway.graphql(document, variables);
    expect(dataOf(second)).toEqual(dataOf(first));
    expect(second.extensions).toEqual({ idempotencyReplayed: true });
    expect(
      codeOf(await gateway.graphql(document, { ...variables, input: { ...variables.input, ...difference } })),
    ).toBe('IDEMPOTENCY_MISMATCH');
    expect(await rows()).toEqual(after);
  });

  test('does its work once, however many requests with one key come at the same time', async () => {
    const variables = {
      input: { ...input(), idempotencyKey: `race of ${name}` },
    };
    const answers = await Promise.all(Array.from({ length: 20 }, () => gateway.graphql(document, variables)));
    const shapes = new Set(answers.map(answer => JSON.stringify(dataOf(answer))));
    expect(shapes.size).toBe(1);
    expect(answers.filter(({ extensions }) => extensions?.['idempotencyReplayed'])).toHaveLength(19);
  });
});

test('a key belongs to a tenant', async () => {
  const [a, b] = [
    await create({ phone: newPhone(), idempotencyKey: 'shared' }),
    await create({ phone: newPhone(), idempotencyKey: 'shared' }, other.token),
  ];
  expect(dataOf(a).createContact.contact.databaseId).not.toBe(dataOf(b).createContact.contact.databaseId);
});

test('one key is not good for two operations', async () => {
  payloadOf(await gateway.mutate('createContactGroup', { name: 'Same key', idempotencyKey: 'op' }));
  expect(codeOf(await gateway.mutate('createContactSource', { name: 'Same key', idempotencyKey: 'op' }))).toBe(
    'IDEMPOTENCY_MISMATCH',
  );
});

test('the order of fields and omitted fields do not make another request', async () => {
  const phone = newPhone();
  const first = await create({ phone, firstName: 'A', lastName: 'B', idempotencyKey: 'order' });
  expect(
    dataOf(await create({ lastName: 'B', idempotencyKey: 'order', firstName: 'A', phone, email: undefined })),
  ).toEqual(dataOf(first));
  expect(codeOf(await create({ phone, firstName: 'A', lastName: 'B', email: null, idempotencyKey: 'order' }))).toBe(
    'IDEMPOTENCY_MISMATCH',
  );
});

test('a first try that failed does not use up its key', async () => {
  const phone = newPhone();
  dataOf(await create({ phone }));
  expect(faultsOf(await create({ phone, idempotencyKey: 'failed' }))).toHaveProperty('phone');
  expect(faultsOf(await create({ phone: 'x', idempotencyKey: 'failed' }))).toHaveProperty('phone');
  expect(faultsOf(await create({ phone: newPhone(), sourceId: '999999', idempotencyKey: 'failed' }))).toHaveProperty(
    'sourceId',
  );
  expect(
    dataOf(await create({ phone: newPhone(), idempotencyKey: 'failed' })).createContact.contact.databaseId,
  ).toEqual(expect.any(String));
});

test('of concurrent requests whose first fails, another does the work', async () => {
  const phone = newPhone();
  const answers = await Promise.all(
    Array.from({ length: 12 }, (_, n) =>
      create({ phone, email: `k${n}@example.com`, idempotencyKey: n < 6 ? 'left' : 'right' }),
    ),
  );
  const codes = answers.map(codeOf);
  expect(codes.filter(code => code === undefined)).toHaveLength(1);
  for (const code of codes) expect([undefined, 'VALIDATION_ERROR', 'IDEMPOTENCY_MISMATCH']).toContain(code);
});

test('a key ends after 24 hours, and is good for another request then', async () => {
  const age = (hours: number) =>
    gateway.database.query(
      "update idempotency_keys set created_at = now() - make_interval(hours => $1) where key = encode(sha256('aged'), 'hex') and tenant_id = $2",
      [hours, gateway.tenant.id],
    );
  const [one, two] = [newPhone(), newPhone()];
  dataOf(await create({ phone: one, idempotencyKey: 'aged' }));
  await age(23);
  expect(codeOf(await create({ phone: two, idempotencyKey: 'aged' }))).toBe('IDEMPOTENCY_MISMATCH');
  await age(25);
  const answers: GraphQLAnswer[] = await Promise.all(
    Array.from({ length: 10 }, () => create({ phone: two, idempotencyKey: 'aged' })),
  );
  expect(new Set(answers.map(answer => dataOf(answer).createContact.contact.phone))).toEqual(new Set([two]));
  expect(codeOf(await create({ phone: one, idempotencyKey: 'aged' }))).toBe('IDEMPOTENCY_MISMATCH');
});

test('what was made and is gone again is not found under its key, and is not made again', async () => {
  const input = { phone: newPhone(), idempotencyKey: 'gone' };
  const { databaseId } = dataOf(await create(input)).createContact.contact;
  dataOf(
    await gateway.graphql('mutation ($id: ID!) { deleteContact(input: { id: $id }) { deletedId } }', {
      id: databaseId,
    }),
  );
  expect(codeOf(await create(input))).toBe('NOT_FOUND');
});

test('a key has up to 255 characters; an empty key means no key', async () => {
  dataOf(await create({ phone: newPhone(), idempotencyKey: 'k'.repeat(255) }));
  for (const idempotencyKey of ['', null]) {
    dataOf(await create({ phone: newPhone(), idempotencyKey }));
    dataOf(await create({ phone: newPhone(), idempotencyKey }));
  }
});
