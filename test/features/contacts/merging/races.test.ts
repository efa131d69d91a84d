import { afterAll, beforeAll, expect, test } from 'vitest';
import { CodedError } from '../../../../src/core/errors.ts';
import { mergeContacts } from '../../../../src/features/contacts/merging/merge.ts';
import { undoMerge } from '../../../../src/features/contacts/merging/undo.ts';
import { COMMAND_LINE } from '../../../../src/features/tenancy/audit/author.ts';
import { codeOf, dataOf } from '../../../support/answers.ts';
import { eventually, startGateway, type TestGateway } from '../../../support/gateway.ts';
import { seedOf } from '../../../support/seed.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway({ env: { PARLEY_DATABASE_POOL: '10' } });
  // People show a user id only where a test says so.
  gateway.emulator.setFaults({ userIds: false });
});
afterAll(() => gateway.stop());

const PEOPLE = 6;
const phoneOf = (index: number): string => `+49151998800${index}`;

/** Merges that lose a race against a deletion or another merge are rejected. */
const refusedOnly = (error: unknown): undefined => {
  if (error instanceof CodedError) return undefined;
  throw error;
};

test('concurrent merges, undos, sends and inbound messages neither deadlock nor leave orphaned rows', async () => {
  const { tenant } = gateway;
  const { db } = gateway.gateway.resources;
  const ids: number[] = [];
  for (let index = 0; index < PEOPLE; index += 1)
    ids.push((await seedOf(gateway).contact({ phone: phoneOf(index) })).id);
  const outcomes = new Set<string>();
  const pick = <T>(list: readonly T[]): T => list[Math.floor(Math.random() * list.length)] as T;
  const merge = (survivorId: number, formerId: number) =>
    db
      .transaction(trx =>
        mergeContacts(trx, tenant.id, {
          survivorId,
          ids: [survivorId, formerId],
          reason: 'manual',
          author: COMMAND_LINE,
          nowMs: Date.now(),
        }),
      )
      .catch(refusedOnly);
  const undo = (formerId: number) =>
    db
      .transaction(trx => undoMerge(trx, tenant.id, formerId, { author: COMMAND_LINE, nowMs: Date.now() }))
      .catch(refusedOnly);
  const send = async (to: string) => {
    const answer = await gateway.graphql(
      'mutation ($to: String!) { sendMessage(input: { to: { phone: $to }, content: { text: { body: "Hi" } } }) { message { databaseId } userErrors { code message path } } }',
      { to },
    );
    outcomes.add(answer.errors ? String(codeOf(answer)) : 'SENT');
  };
  const work = Array.from({ length: 60 }, (_, turn) => async () => {
    const [a, b] = [pick(ids), pick(ids)];
    const index = turn % PEOPLE;
    if (a !== b && turn % 3 === 0) await merge(a, b);
    if (turn % 5 === 0) await undo(pick(ids));
    gateway.emulator.inbound({
      from: phoneOf(index),
      userId: `DE.${turn % 9}`,
      text: turn % 7 === 0 ? 'Stop' : 'Hello',
    });
    await Promise.all([send(phoneOf(index)), send(phoneOf((index + 1) % PEOPLE))]);
  });
  // Eight at a time, on as many connections.
  await Promise.all(
    Array.from({ length: 8 }, async () => {
      for (let next = work.shift(); next; next = work.shift()) await next();
    }),
  );
  await gateway.emulator.settled();
  await eventually(async () => expect(await gateway.database.query('select 1 from waiting_webhooks')).toEqual([]));
  const refusals = ['SENT', 'CONTACT_OPTED_OUT', 'SERVICE_UNAVAILABLE'];
  expect([...outcomes].filter(outcome => !refusals.includes(outcome))).toEqual([]);
  const [stats] = await gateway.database.query<{ deadlocks: string }>(
    'select deadlocks from pg_stat_database where datname = current_database()',
  );
  expect(Number(stats?.deadlocks)).toBe(0);
  const orphans = `
    select (select count(*) from messages m where not exists (select from contacts c where c.tenant_id = m.tenant_id and c.id = m.contact_id)) +
      (select count(*) from messages m join conversations v on v.tenant_id = m.tenant_id and v.id = m.conversation_id where v.contact_id <> m.contact_id) +
      (select count(*) from outbox o join messages m on m.tenant_id = o.tenant_id and m.id = o.message_id where m.contact_id <> o.contact_id) as left_behind,
      (select contacts from tenant_usage where tenant_id = $1) - (select count(*) from contacts where tenant_id = $1) as miscounted,
      array(select error from inbound_webhooks where error is not null) as failed`;
  expect(await gateway.database.query(orphans, [tenant.id])).toEqual([
    { left_behind: '0', miscounted: '0', failed: [] },
  ]);
  const found = dataOf(await gateway.graphql('{ contacts { totalCount } }'));
  expect(found.contacts.totalCount).toBeGreaterThan(0);
});

test('two concurrent webhooks with the same user id and number create one contact', async () => {
  const people = Array.from({ length: 20 }, (_, index) => index);
  for (const index of people) {
    gateway.emulator.inbound({ userId: `FR.${index}`, text: 'one' });
    gateway.emulator.inbound({ from: `+3361234500${10 + index}`, text: 'two' });
    gateway.emulator.inbound({ from: `+3361234500${10 + index}`, userId: `FR.${index}`, text: 'three' });
  }
  await gateway.emulator.settled();
  await eventually(async () =>
    expect(
      await gateway.database.query(
        `select count(*)::int as people, count(distinct contact_id)::int as contacts from contact_identities where kind = 'user_id' and value like 'FR.%'`,
      ),
    ).toEqual([{ people: 20, contacts: 20 }]),
  );
  await eventually(async () =>
    expect(
      await gateway.database.query(`select count(*)::int as count from contacts where phone like '+3361234500%'`),
    ).toEqual([{ count: 20 }]),
  );
});
