import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { newIdAt } from '../../../../src/core/ids.ts';
import { cancelWaiting } from '../../../../src/features/messages/dispatch/cancel.ts';
import { laneOf, PRIORITIES, type Priority } from '../../../../src/features/messages/dispatch/lane.ts';
import { QueueFront } from '../../../../src/features/messages/dispatch/lane-memory.ts';
import {
  type Claimed,
  claimDue,
  nextDueMs,
  postpone,
  repairTurns,
} from '../../../../src/features/messages/dispatch/outbox.sql.ts';
import { applyStatuses } from '../../../../src/features/messages/statuses/apply-statuses.ts';
import type { LaneTurn } from '../../../../src/lanes/lane.ts';
import { SECOND } from '../../../../src/platform/clock.ts';
import { startGateway, type TestGateway } from '../../../support/gateway.ts';
import { ANY_TIMELINE } from '../../../support/lane.ts';

/** The turns of the outbox under concurrency. No worker runs; the test itself sends. */

let gateway: TestGateway;
let channelId: number;
let lane: LaneTurn;
beforeAll(async () => {
  gateway = await startGateway({ role: 'gateway', env: { PARLEY_DATABASE_POOL: '16' } });
  channelId = await number('select id from channels where tenant_id = $1', gateway.tenant.id);
  lane = { queue: 'outbox', tenantId: gateway.tenant.id, key: laneOf(gateway.tenant.id, channelId), epoch: 1 };
  await gateway.database.query(
    `insert into lanes (tenant_id, queue, key, epoch, taken_at) values ($1, 'outbox', $2, 1, now())`,
    [lane.tenantId, lane.key],
  );
});
afterAll(() => gateway.stop());

// Longer than any test, so that a claimed and lost message makes the test time out.
const IN_DOUBT_MS = 3_600_000;

async function number(text: string, ...values: unknown[]): Promise<number> {
  const [row] = await gateway.database.query<Record<string, unknown>>(text, values);
  return Number(Object.values(row ?? {})[0]);
}

/** A contact with a conversation. */
async function addContact(): Promise<number> {
  const phone = `+49151${String(Math.floor(Math.random() * 1e8)).padStart(8, '0')}`;
  return number(
    `with c as (insert into contacts (tenant_id, phone, phone_key) values ($1, $3, $3) returning tenant_id, id)
     insert into conversations (tenant_id, contact_id, channel_id) select tenant_id, id, $2 from c returning contact_id`,
    gateway.tenant.id,
    channelId,
    phone,
  );
}

/** Accepts a message as a send does: the contact's lock, the message, its place in the outbox. @returns its id */
async function accept(contactId: number, priority: Priority, id = newIdAt(Date.now())): Promise<string> {
  await gateway.database.query(
    `with p as materialized (select id from contacts where tenant_id = $1 and id = $2 for no key update
     ), m as (
       insert into messages (tenant_id, id, conversation_id, contact_id, channel_id, direction, type, body, created_at)
       select $1, $4, v.id, p.id, v.channel_id, 'outbound', 'text', 'Hi', now() from p join conversations v on v.tenant_id = $1 and v.contact_id = p.id
       returning *
     ), s as (insert into message_states (tenant_id, message_id, updated_at) select tenant_id, id, created_at from m
     ), u as (insert into message_updates (tenant_id, message_id, updated_at, status) select tenant_id, id, created_at, 'queued' from m
     ), o as materialized (select enqueue_messages(tenant_id, array[channel_id], array[contact_id], array[id], array[$3::smallint], array[null::bytea]) from m)
     select from m, o`,
    [gateway.tenant.id, contactId, priority, id],
  );
  return id;
}

const sent = (messageId: string) => ({
  messageId,
  status: 'sent' as const,
  at: new Date().toISOString(),
  wamid: `wamid.${randomUUID()}`,
});

const claim = (limit: number, front = new QueueFront()): Promise<Claimed[]> =>
  claimDue(
    gateway.gateway.resources.db.write,
    [{ tenantId: gateway.tenant.id, channelId, limit, front }],
    IN_DOUBT_MS,
    ANY_TIMELINE,
  ).then(([claimed = []]) => claimed);
const settle = (...ids: string[]) =>
  gateway.gateway.resources.db.transaction(trx => applyStatuses(trx, gateway.tenant.id, ids.map(sent), Date.now()));
const ids = (claimed: readonly Claimed[]): string[] => claimed.map(message => message.message_id);

/** Blocked messages without a predecessor that has the turn. */
const forgotten = () =>
  gateway.database.query(
    `select w.message_id from outbox w where w.next_attempt_at is null and not exists (
       select from outbox t where t.tenant_id = w.tenant_id and t.contact_id = w.contact_id and t.channel_id = w.channel_id
         and t.priority = w.priority and t.next_attempt_at is not null)`,
  );

test('a one-time password is sent before all other messages of its lane, also to the same contact', async () => {
  const [one, two] = [await addContact(), await addContact()];
  const campaign = [await accept(one, 3), await accept(one, 3), await accept(two, 3)];
  const single = await accept(two, 2);
  const answer = await accept(two, 1);
  const code = await accept(one, 0);
  expect(ids(await claim(3))).toEqual([code, answer, single]);
  // One of each priority at a time: the second of the campaign waits for the first.
  expect(ids(await claim(10))).toEqual([campaign[0], campaign[2]]);
  expect(await claim(10)).toEqual([]);
  await settle(code, answer, single, campaign[0] ?? '', campaign[2] ?? '');
  expect(ids(await claim(10))).toEqual([campaign[1]]);
  await settle(campaign[1] ?? '');
});

test('messages of one priority to a contact keep the order of acceptance, regardless of process clocks', async () => {
  const person = await addContact();
  const accepted = [];
  for (const skewMs of [300_000, 0, -300_000]) accepted.push(await accept(person, 2, newIdAt(Date.now() + skewMs)));
  const claimed = [];
  for (let turn = 0; turn < 3; turn += 1) {
    const [id = ''] = ids(await claim(10));
    claimed.push(id);
    await settle(id);
  }
  expect(claimed).toEqual(accepted);
});

test('a postponed message keeps its place: later ones wait', async () => {
  const person = await addContact();
  const [first, second] = [await accept(person, 2), await accept(person, 2)];
  const [claimed] = await claim(10);
  expect(claimed?.message_id).toBe(first);
  const again = { messageId: first, afterMs: 40, attempted: true, inDoubt: false };
  const { write } = gateway.gateway.resources.db;
  await postpone(write, [{ lane, ...again, attempts: (claimed?.attempts ?? 0) + 1, afterMs: 0 }]);
  expect(await claim(10), 'a postponement of another attempt is not applied').toEqual([]);
  await postpone(write, [{ lane: { ...lane, epoch: 0 }, ...again, attempts: claimed?.attempts ?? 0, afterMs: 0 }]);
  expect(await claim(10), 'nor one of a process that has lost the lane').toEqual([]);
  await postpone(write, [{ lane, ...again, attempts: claimed?.attempts ?? 0 }]);
  const nextMs = await nextDueMs(write, gateway.tenant.id, channelId, IN_DOUBT_MS, new QueueFront());
  // The column rounds to the millisecond.
  expect(nextMs).toBeLessThanOrEqual(40 + 0.5);
  let [repeated] = await claim(10);
  while (!repeated) [repeated] = await claim(10);
  expect(repeated).toMatchObject({ message_id: first, attempts: 2 });
  await settle(first);
  expect(ids(await claim(10))).toEqual([second]);
  await settle(second);
});

test('cancelling a message unblocks the next one, at the front and in the middle', async () => {
  const person = await addContact();
  const line = [];
  for (let n = 0; n < 4; n += 1) line.push(await accept(person, 2));
  const [a = '', b = '', c = '', d = ''] = line;
  const cancel = (...messageIds: string[]) =>
    gateway.gateway.resources.db.transaction(trx =>
      cancelWaiting(trx, gateway.tenant.id, { messageIds }, 'Not wanted.'),
    );
  expect(await cancel(a, c)).toEqual({ messageIds: [a, c], releasedChannelIds: [channelId] });
  expect(ids(await claim(10))).toEqual([b]);
  // What was handed to the network is not cancelled any more.
  expect((await cancel(b, d)).messageIds).toEqual([d]);
  await settle(b);
  expect(await gateway.database.query('select from outbox where contact_id = $1', [person])).toEqual([]);
});

test('a backlog that a claim did not see is found a second later', async () => {
  let nowMs = 0;
  const front = new QueueFront(() => nowMs);
  const setStatus = (status: string) =>
    gateway.database.query('update channels set status = $2 where id = $1', [channelId, status]);
  const message = await accept(await addContact(), 3);
  await gateway.database.query(
    `update outbox set next_attempt_at = now() - interval '1 minute' where message_id = $1`,
    [message],
  );
  await setStatus('paused');
  expect(await claim(10, front)).toEqual([]);
  await setStatus('active');
  nowMs += SECOND;
  expect(ids(await claim(10, front))).toEqual([message]);
  await settle(message);
});

test('a blocked message without a predecessor is found and unblocked', async () => {
  const person = await addContact();
  const [first, second] = [await accept(person, 2), await accept(person, 2)];
  await gateway.database.query('delete from outbox where message_id = $1', [first]);
  expect(await claim(10)).toEqual([]);
  const { write } = gateway.gateway.resources.db;
  expect([await repairTurns(write), await repairTurns(write)]).toEqual([1, 0]);
  expect(ids(await claim(10))).toEqual([second]);
  await settle(second);
});

test('processes that concurrently accept, claim, postpone, settle and cancel lose nothing and keep the order', async () => {
  const { db } = gateway.gateway.resources;
  const people = await Promise.all(Array.from({ length: 5 }, addContact));
  const accepted = new Map<string, string[]>();
  const [done, cancelled, inFlight] = [new Map<string, string[]>(), new Set<string>(), new Set<string>()];
  const faults: unknown[] = [];
  const lineOf = (contactId: number, priority: number): string => `${contactId} ${priority}`;
  const add = (map: Map<string, string[]>, key: string, id: string): void =>
    void map.set(key, [...(map.get(key) ?? []), id]);
  const pick = <T>(list: readonly T[]): T => list[Math.floor(Math.random() * list.length)] as T;
  let accepting = 4;

  const acceptor = async (mine: number): Promise<void> => {
    // Each has contacts of its own, so that it knows the order; but all of them settle and claim for all.
    for (let n = 0; n < 50; n += 1) {
      const [person, priority] = [people[mine] ?? 0, pick(PRIORITIES)];
      add(accepted, lineOf(person, priority), await accept(person, priority));
    }
    accepting -= 1;
  };
  const worker = async (): Promise<void> => {
    const front = new QueueFront();
    for (;;) {
      const claimed = await claim(4, front);
      if (
        claimed.length === 0 &&
        accepting === 0 &&
        (await gateway.database.query('select from outbox limit 1')).length === 0
      )
        return;
      for (const { message_id, contact_id, priority } of claimed) {
        const line = lineOf(contact_id, priority);
        if (inFlight.has(line)) faults.push(`two of ${line} under way`);
        inFlight.add(line);
        add(done, line, message_id);
      }
      const late = claimed.filter(() => Math.random() < 0.3);
      const settled = claimed.filter(message => !late.includes(message));
      for (const { contact_id, priority } of claimed) inFlight.delete(lineOf(contact_id, priority));
      for (const { message_id, contact_id, priority } of late) {
        const line = lineOf(contact_id, priority);
        done.set(
          line,
          (done.get(line) ?? []).filter(id => id !== message_id),
        );
      }
      await db.transaction(async trx => {
        await applyStatuses(
          trx,
          gateway.tenant.id,
          settled.map(message => sent(message.message_id)),
          Date.now(),
        );
        await postpone(
          trx,
          late.map(message => ({
            lane,
            messageId: message.message_id,
            attempts: message.attempts,
            afterMs: Math.random() * 5,
            attempted: true,
            inDoubt: false,
          })),
        );
      });
    }
  };
  const canceller = async (): Promise<void> => {
    while (accepting > 0) {
      const waiting = await gateway.database.query<{ message_id: string }>(
        'select message_id from outbox where dispatched_at is null order by random() limit 2',
      );
      const messageIds = waiting.map(row => row.message_id);
      const result = await db.transaction(trx => cancelWaiting(trx, gateway.tenant.id, { messageIds }, 'Not wanted.'));
      for (const id of result.messageIds) cancelled.add(id);
    }
  };
  const watcher = async (): Promise<void> => {
    while (accepting > 0) faults.push(...(await forgotten()));
  };
  await Promise.all([0, 1, 2, 3].map(acceptor).concat([worker(), worker(), worker(), canceller(), watcher()]));

  expect(faults).toEqual([]);
  for (const [line, messages] of accepted)
    expect(done.get(line) ?? [], line).toEqual(messages.filter(id => !cancelled.has(id)));
  const states = await gateway.database.query(
    `select status, count(*)::int from message_states where message_id = any($1::uuid[]) group by status order by status`,
    [[...accepted.values()].flat()],
  );
  const total = [...accepted.values()].flat().length;
  expect(states).toEqual(
    [
      { status: 'cancelled', count: cancelled.size },
      { status: 'sent', count: total - cancelled.size },
    ].filter(({ count }) => count > 0),
  );
});
