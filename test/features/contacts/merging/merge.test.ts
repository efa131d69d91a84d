import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { encodeGlobalId } from '../../../../src/core/global-ids.ts';
import { recordConsent } from '../../../../src/features/contacts/consent/record.ts';
import { mergeContacts } from '../../../../src/features/contacts/merging/merge.ts';
import {
  CONVERSATION_TABLES,
  KEPT_CONVERSATION_TABLES,
  KEPT_TABLES,
  MOVED_TABLES,
  OTHER_TABLES,
} from '../../../../src/features/contacts/merging/moved-tables.ts';
import { cleanMerges, undoMerge } from '../../../../src/features/contacts/merging/undo.ts';
import { COMMAND_LINE } from '../../../../src/features/tenancy/audit/author.ts';
import { dataOf, payloadOf } from '../../../support/answers.ts';
import { eventually, startGateway, type TestGateway, type TestTenant } from '../../../support/gateway.ts';
import { seedOf } from '../../../support/seed.ts';
import { sendAs } from '../../../support/sending.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.stop());

const ask = async (tenant: TestTenant, document: string, variables = {}) =>
  dataOf(await gateway.graphql(document, variables, tenant.token));
const create = (tenant: TestTenant, fields = {}) => seedOf(gateway, tenant).contact(fields);
const send = (tenant: TestTenant, to: string, text = 'Hi') =>
  sendAs(gateway, 'text', { to, text }, 'databaseId contactId conversationId', tenant.token);
const write = (tenant: TestTenant, from: string, text = 'Hello') =>
  gateway.emulator.inbound({ from, text, phoneNumberId: tenant.phoneNumberId });
const rows = <Row extends object>(sql: string, ...values: unknown[]) =>
  gateway.database.query<Row & Record<string, unknown>>(sql, values);
const merge = (tenant: TestTenant, survivorId: number, formerId: number) =>
  gateway.gateway.resources.db.transaction(trx =>
    mergeContacts(trx, tenant.id, {
      survivorId,
      ids: [survivorId, formerId],
      reason: 'manual',
      author: COMMAND_LINE,
      nowMs: Date.now(),
    }),
  );
const undo = (tenant: TestTenant, formerId: number, nowMs = Date.now()) =>
  gateway.gateway.resources.db.transaction(trx => undoMerge(trx, tenant.id, formerId, { author: COMMAND_LINE, nowMs }));

/** What of every table belongs to a contact, by table. */
async function belongings(tenant: TestTenant, contactId: number): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const table of await tablesWith('contact_id')) {
    const [row] = await rows<{ count: string }>(
      `select count(*) from ${table} where tenant_id = $1 and contact_id = $2`,
      tenant.id,
      contactId,
    );
    counts[table] = Number(row?.count);
  }
  return counts;
}

/** Tables that are no partition of another one. */
const tablesWith = async (column: string): Promise<string[]> =>
  (
    await rows<{ name: string }>(
      `select c.relname as name from pg_attribute a join pg_class c on c.oid = a.attrelid
       where a.attname = $1 and c.relkind in ('r', 'p') and not c.relispartition and c.relnamespace = 'public'::regnamespace order by 1`,
      column,
    )
  ).map(({ name }) => name);

/** Texts of messages that a conversation's id finds, over GraphQL and REST, in order. */
async function textsOf(tenant: TestTenant, conversationId: number): Promise<string[]> {
  const texts: string[] = [];
  for (const filter of [{ eq: conversationId }, { in: [conversationId, 999_999] }]) {
    const { messages } = await ask(
      tenant,
      'query ($filter: IDFilter!) { messages(filter: { conversationId: $filter }) { totalCount nodes { text } } }',
      { filter: 'eq' in filter ? { eq: String(filter.eq) } : { in: filter.in.map(String) } },
    );
    expect(messages.totalCount).toBe(messages.nodes.length);
    texts.splice(0, texts.length, ...messages.nodes.map(({ text }: { text: string }) => text).sort());
  }
  const answer = await gateway.rest('GET', `/messages?filter[interaction_id]=${conversationId}`, undefined, {
    authorization: `Bearer ${tenant.token}`,
  });
  const { data } = (await answer.json()) as { data: { message: string }[] };
  expect(data.map(({ message }) => message).sort()).toEqual(texts);
  return texts;
}

test('every table with a contact_id or conversation_id is listed for merges', async () => {
  const known = [...MOVED_TABLES.map(({ table }) => table), ...OTHER_TABLES, ...KEPT_TABLES];
  expect(await tablesWith('contact_id')).toEqual(known.sort());
  expect(await tablesWith('conversation_id')).toEqual([...CONVERSATION_TABLES, ...KEPT_CONVERSATION_TABLES].sort());
});

describe('a merge', () => {
  test('moves all rows, and its undo restores them', async () => {
    const tenant = await gateway.addTenant();
    const group = (await ask(tenant, 'mutation { createContactGroup(input: { name: "VIP" }) { contactGroup { id } } }'))
      .createContactGroup.contactGroup.id;
    const a = await create(tenant, { firstName: 'Ana', company: 'Silva' });
    const b = await create(tenant, { email: 'ana@example.com', groupIds: [group], isOptedOut: true });
    await rows('update contacts set opted_out_at = null where tenant_id = $1 and id = $2', tenant.id, b.id);
    for (const { phone } of [a, b]) {
      await send(tenant, phone);
      write(tenant, phone);
    }
    await eventually(async () =>
      expect(
        await rows(`select 1 from messages where tenant_id = $1 and direction = 'inbound'`, tenant.id),
      ).toHaveLength(2),
    );
    await gateway.emulator.settled();
    await eventually(async () =>
      expect(await rows('select 1 from outbox where tenant_id = $1', tenant.id)).toEqual([]),
    );
    const before = { a: await belongings(tenant, a.id), b: await belongings(tenant, b.id) };
    const [windows] = await rows<{ latest: Date }>(
      'select max(window_expires_at) as latest from conversations where tenant_id = $1',
      tenant.id,
    );

    const merged = await merge(tenant, a.id, b.id);
    expect(merged).toMatchObject({
      id: a.id,
      firstname: 'Ana',
      company: 'Silva',
      email: 'ana@example.com',
      phone: a.phone,
    });
    expect(merged.opted_out_at).not.toBeNull();
    const left = await belongings(tenant, b.id);
    expect(Object.entries(left).filter(([, count]) => count > 0)).toEqual([]);
    const after = await belongings(tenant, a.id);
    for (const table of ['messages', 'otps', 'bot_replies', 'consent_entries', 'contact_groups'] as const)
      expect([table, after[table]]).toEqual([table, (before.a[table] ?? 0) + (before.b[table] ?? 0)]);
    // Two conversations on one channel are one: its window is the later one.
    expect(
      await rows('select contact_id::int, window_expires_at from conversations where tenant_id = $1', tenant.id),
    ).toEqual([{ contact_id: a.id, window_expires_at: windows?.latest }]);
    expect(await rows('select contacts::int from tenant_usage where tenant_id = $1', tenant.id)).toEqual([
      { contacts: 1 },
    ]);
    const [usage] = await rows<{ count: number }>(
      'select sum(conversations)::int as count from monthly_usage where tenant_id = $1',
      tenant.id,
    );
    expect(usage?.count).toBe(1);
    const told = await rows<{ type: string; payload: { former_id?: number } }>(
      `select type, payload from events where tenant_id = $1 and type in ('contact.merged', 'contact.opted_out') and payload->'contact'->>'id' = $2
       order by xid, seq`,
      tenant.id,
      String(a.id),
    );
    expect(told.map(({ type, payload }) => [type, payload.former_id])).toEqual([
      ['contact.merged', b.id],
      ['contact.opted_out', undefined],
    ]);
    expect(
      await rows(`select action, subject from audit_log where tenant_id = $1 and action like 'contact%'`, tenant.id),
    ).toEqual([{ action: 'contact.merged', subject: `contact:${a.id}` }]);

    const restored = await undo(tenant, b.id);
    expect(restored).toMatchObject({ id: b.id, email: 'ana@example.com', phone: b.phone });
    for (const table of ['messages', 'conversations', 'contact_groups', 'consent_entries', 'outbox'] as const) {
      expect([table, (await belongings(tenant, a.id))[table]]).toEqual([table, before.a[table]]);
      expect([table, (await belongings(tenant, b.id))[table]]).toEqual([table, before.b[table]]);
    }
    const [survivor] = await rows(
      'select email, opted_out_at from contacts where tenant_id = $1 and id = $2',
      tenant.id,
      a.id,
    );
    expect(survivor).toEqual({ email: null, opted_out_at: null });
    expect(await rows('select contacts::int from tenant_usage where tenant_id = $1', tenant.id)).toEqual([
      { contacts: 2 },
    ]);
  });

  test.each(['all', 'marketing'] as const)(
    'that opts the survivor out of %s writes consent.changed with the responsible entry',
    async category => {
      const tenant = await gateway.addTenant();
      const [a, b] = [await create(tenant, { firstName: 'Ana' }), await create(tenant)];
      await gateway.gateway.resources.db.transaction(trx =>
        recordConsent(trx, tenant.id, [
          { contactId: b.id, category, state: 'opted_out', source: 'page', occurredAt: new Date().toISOString() },
        ]),
      );
      await merge(tenant, a.id, b.id);
      const told = await rows<{ type: string; payload: object }>(
        `select type, payload from events where tenant_id = $1 and payload->'contact'->>'id' = $2 and type <> 'contact.created' order by xid, seq`,
        tenant.id,
        String(a.id),
      );
      expect(told.map(({ type }) => type)).toEqual([
        'contact.merged',
        ...(category === 'all' ? ['contact.opted_out'] : []),
        'consent.changed',
      ]);
      expect(told.at(-1)?.payload).toMatchObject({
        consent: { category, state: 'opted_out', source: 'page' },
        opted_out: category === 'all' ? ['all', 'marketing', 'utility'] : ['marketing'],
      });
    },
  );

  test('messages from the number of a merged contact, which the network had not shown yet, are the survivor’s until the merge is undone', async () => {
    const tenant = await gateway.addTenant();
    const [survivor, former] = [await create(tenant), await create(tenant)];
    const senders = () => rows('select contact_id from messages where tenant_id = $1 order by created_at', tenant.id);
    await merge(tenant, survivor.id, former.id);
    write(tenant, former.phone);
    await eventually(async () => expect(await senders()).toEqual([{ contact_id: String(survivor.id) }]));
    await undo(tenant, former.id);
    write(tenant, former.phone);
    await eventually(async () => expect(await senders()).toHaveLength(2));
    expect(await senders()).toContainEqual({ contact_id: String(former.id) });
  });

  test('the id of a merged contact resolves to the survivor on every API', async () => {
    const tenant = await gateway.addTenant();
    const [a, b] = [await create(tenant, { firstName: 'Ana' }), await create(tenant)];
    await merge(tenant, a.id, b.id);
    const global = encodeGlobalId('Contact', tenant.id, String(b.id));
    const found = await ask(
      tenant,
      'query ($id: ID!) { contact(id: $id) { id databaseId } node(id: $id) { id ... on Contact { databaseId } } }',
      { id: global },
    );
    const own = { id: encodeGlobalId('Contact', tenant.id, String(a.id)), databaseId: String(a.id) };
    expect([found.contact, found.node]).toEqual([own, own]);
    for (const base of [{ version: 'v2' }, { version: 'v1', tenant: tenant.slug }] as const) {
      const answer = await gateway.rest(
        'GET',
        `/contacts/${b.id}`,
        undefined,
        { authorization: `Bearer ${tenant.token}` },
        base,
      );
      expect([answer.status, (await answer.json()).data.id]).toEqual([200, a.id]);
    }
    const changed = await ask(
      tenant,
      'mutation ($id: ID!) { updateContact(input: { id: $id, company: "New" }) { contact { databaseId company } } }',
      {
        id: global,
      },
    );
    expect(changed.updateContact.contact).toEqual({ databaseId: String(a.id), company: 'New' });
    const sent = dataOf(await send(tenant, global)).sendMessage.message;
    expect(sent.contactId).toBe(String(a.id));
  });

  test('filters and group changes with the id of a merged contact apply to the survivor', async () => {
    const tenant = await gateway.addTenant();
    const [a, b, other] = [await create(tenant), await create(tenant), await create(tenant)];
    for (const { phone } of [a, b, other]) await send(tenant, phone);
    await merge(tenant, a.id, b.id);
    const listed = async (filter: object) =>
      (
        await ask(
          tenant,
          'query ($filter: MessageFilter!) { messages(filter: $filter) { totalCount nodes { contactId } } }',
          {
            filter: { contactId: filter },
          },
        )
      ).messages;
    expect(await listed({ eq: String(b.id) })).toMatchObject({ totalCount: 2 });
    expect(await listed({ in: [String(b.id), String(other.id)] })).toMatchObject({ totalCount: 3 });
    expect(await listed({ ne: String(b.id) })).toEqual({ totalCount: 1, nodes: [{ contactId: String(other.id) }] });
    expect(await listed({ notIn: [String(b.id)] })).toEqual({
      totalCount: 1,
      nodes: [{ contactId: String(other.id) }],
    });
    const { contactGroup: group } = (
      await ask(tenant, 'mutation { createContactGroup(input: { name: "G" }) { contactGroup { databaseId } } }')
    ).createContactGroup;
    const change = async (name: 'addContactsToGroup' | 'removeContactsFromGroup') =>
      (
        await gateway.mutate(
          name,
          { groupId: String(group.databaseId), contactIds: [String(b.id), String(a.id)] },
          'changedCount',
          tenant.token,
        )
      ).data[name];
    expect(await change('addContactsToGroup')).toMatchObject({ changedCount: 1 });
    expect(await change('removeContactsFromGroup')).toMatchObject({ changedCount: 1 });
    const answer = await fetch(`${gateway.url}/api/v2/messages?filter[contact_id]=${b.id}`, {
      headers: { authorization: `Bearer ${tenant.token}` },
    });
    expect(((await answer.json()) as { data: unknown[] }).data).toHaveLength(2);
  });

  test('after successive merges all former ids resolve to the last survivor, and any of the merges can be undone', async () => {
    const tenant = await gateway.addTenant();
    const [a, b, c] = [await create(tenant), await create(tenant), await create(tenant)];
    for (const { phone } of [a, b, c]) await send(tenant, phone);
    await merge(tenant, b.id, a.id);
    await merge(tenant, c.id, b.id);
    for (const { id } of [a, b]) {
      const answer = await ask(tenant, 'query ($id: ID!) { contact(id: $id) { databaseId } }', { id: String(id) });
      expect(answer.contact.databaseId).toBe(String(c.id));
    }
    await undo(tenant, a.id);
    const count = async (id: number) => (await belongings(tenant, id))['messages'];
    expect([await count(a.id), await count(c.id)]).toEqual([1, 2]);
    await undo(tenant, b.id);
    expect([await count(a.id), await count(b.id), await count(c.id)]).toEqual([1, 1, 1]);
    expect(dataOf(await gateway.graphql('query { contact(id: "1") { id } }', {}, tenant.token)).contact).toBeNull();
  });

  test('the id of a folded conversation resolves to the kept one, also after successive merges', async () => {
    const tenant = await gateway.addTenant();
    const people = [await create(tenant), await create(tenant), await create(tenant)] as const;
    const [a, b, c] = people;
    const chats: number[] = [];
    for (const [index, { phone }] of people.entries())
      chats.push(dataOf(await send(tenant, phone, `to ${index}`)).sendMessage.message.conversationId);
    const [ofA = 0, ofB = 0, ofC = 0] = chats;
    await merge(tenant, b.id, a.id);
    expect(await textsOf(tenant, ofA)).toEqual(['to 0', 'to 1']);
    await merge(tenant, c.id, b.id);
    for (const chat of [ofA, ofB, ofC]) expect(await textsOf(tenant, chat)).toEqual(['to 0', 'to 1', 'to 2']);
    await undo(tenant, b.id);
    for (const chat of [ofA, ofB]) expect(await textsOf(tenant, chat)).toEqual(['to 0', 'to 1']);
    expect(await textsOf(tenant, ofC)).toEqual(['to 2']);
    await gateway.database.query(
      `update contact_merges set merged_at = now() - interval '31 days' where tenant_id = $1`,
      [tenant.id],
    );
    await cleanMerges(gateway.gateway.resources);
    expect(await textsOf(tenant, ofA)).toEqual(['to 0', 'to 1']);
    const other = await gateway.addTenant();
    expect(await textsOf(other, ofA)).toEqual([]);
  });

  test('restored messages whose conversation was folded by a later merge get a conversation of the restored contact', async () => {
    const tenant = await gateway.addTenant();
    const [a, b, c] = [await create(tenant), await create(tenant), await create(tenant)];
    const chat = dataOf(await send(tenant, a.phone, 'to a')).sendMessage.message.conversationId;
    expect((await send(tenant, c.phone)).errors).toBeUndefined();
    await merge(tenant, b.id, a.id);
    await merge(tenant, c.id, b.id);
    await undo(tenant, a.id);
    const found = await rows<{ contact: number; owner: number }>(
      `select m.contact_id::int as contact, v.contact_id::int as owner
       from messages m join conversations v on v.tenant_id = m.tenant_id and v.id = m.conversation_id
       where m.tenant_id = $1 order by m.contact_id`,
      tenant.id,
    );
    expect(found).toEqual([
      { contact: a.id, owner: a.id },
      { contact: c.id, owner: c.id },
    ]);
    expect(await textsOf(tenant, chat)).toEqual(['to a']);
  });

  test('is counted once by a batch deletion with both of its ids', async () => {
    const tenant = await gateway.addTenant();
    const [a, b] = [await create(tenant), await create(tenant)];
    await merge(tenant, a.id, b.id);
    const removed = await gateway.rest(
      'DELETE',
      '/contacts/batch',
      { ids: [a.id, b.id, 999_999] },
      { authorization: `Bearer ${tenant.token}` },
    );
    expect((await removed.json()).summary).toEqual({ total: 2, deleted: 1, failed: 1 });
  });

  test('a number that another contact got since the merge is not the restored contact’s any more, also once it is free', async () => {
    const tenant = await gateway.addTenant();
    const [a, b] = [await create(tenant), await create(tenant)];
    await merge(tenant, b.id, a.id);
    const [other] = await rows<{ id: number }>(
      `insert into contacts (tenant_id, phone, phone_key) values ($1, $2, ltrim($2, '+')) returning id::int`,
      tenant.id,
      a.phone,
    );
    expect((await undo(tenant, a.id)).phone).toBeNull();
    await rows(`update contacts set phone = null, phone_key = null where id = $1`, other?.id);
    const { message: sent } = payloadOf(await send(tenant, a.phone));
    expect([a.id, b.id, other?.id].map(String)).not.toContain(sent.contactId);
  });

  test('cannot be undone after 30 days', async () => {
    const tenant = await gateway.addTenant();
    const [a, b] = [await create(tenant), await create(tenant)];
    await merge(tenant, a.id, b.id);
    await expect(undo(tenant, b.id, Date.now() + 31 * 86_400_000)).rejects.toMatchObject({ code: 'TOO_OLD' });
    await expect(undo(tenant, 999_999)).rejects.toThrow('not');
  });
});
