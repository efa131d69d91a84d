import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { newId, newIdAt } from '../../../../src/core/ids.ts';
import { cancelWaiting } from '../../../../src/features/messages/dispatch/cancel.ts';
import { clearDisconnected } from '../../../../src/features/messages/dispatch/clear-disconnected.ts';
import type { WaitingTarget } from '../../../../src/features/messages/dispatch/outbox.sql.ts';
import { applyStatuses } from '../../../../src/features/messages/statuses/apply-statuses.ts';
import { eventually, startGateway, type TestGateway } from '../../../support/gateway.ts';
import { type Outbox, outboxOf } from '../outbox.ts';

/** Locks of cancellations that overlap. No worker runs: messages wait. */

let gateway: TestGateway;
let outbox: Outbox;
beforeAll(async () => {
  gateway = await startGateway({ role: 'gateway', env: { PARLEY_DATABASE_POOL: '16' } });
  outbox = await outboxOf(gateway);
});
afterAll(() => gateway.stop());

let made = 0;
/** Ids of any order: those of a batch are made by processes, before the places in the outbox. */
const anyId = (): string => {
  made += 1;
  return newIdAt(Date.now() + ((made * 7_919) % 1_000) * 1_000);
};

const cancel = (target: WaitingTarget) =>
  gateway.gateway.resources.db.transaction(trx => cancelWaiting(trx, gateway.tenant.id, target, 'A test cancels it.'));
const waiting = () =>
  gateway.database.query<{ message_id: string; contact_id: string; has_turn: boolean }>(
    'select message_id, contact_id, next_attempt_at is not null as has_turn from outbox where tenant_id = $1 order by position',
    [gateway.tenant.id],
  );

const lockWaits = () =>
  outbox.number(
    `select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
  );

test('two cancellations that each unblock a message of the other end without a deadlock', async () => {
  const [a, b] = [await outbox.addContact(), await outbox.addContact()];
  const [a1, b1] = [await outbox.accept(a, newId()), await outbox.accept(b, newId())];
  const [a2, b2] = [await outbox.accept(a, newId()), await outbox.accept(b, newId())];
  const kept = [await outbox.accept(a, newId()), await outbox.accept(b, newId())];
  const held = [
    await outbox.accept(await outbox.addContact(), newId()),
    await outbox.accept(await outbox.addContact(), newId()),
  ] as const;
  const cancelled = await gateway.gateway.resources.db.transaction(async trx => {
    // Both wait for a message of their own before they look for who comes next.
    await sql`select from outbox where tenant_id = ${gateway.tenant.id} and message_id = any(${held}::uuid[]) for update`.execute(
      trx,
    );
    const both = Promise.allSettled([
      cancel({ messageIds: [a1, b2, held[0]] }),
      cancel({ messageIds: [b1, a2, held[1]] }),
    ]);
    await eventually(async () => expect(await lockWaits()).toBe(2));
    return { both };
  });
  expect((await cancelled.both).map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled']);
  expect((await waiting()).map(row => [row.message_id, row.has_turn])).toEqual(kept.map(id => [id, true]));
  await gateway.database.query('delete from messages where tenant_id = $1', [gateway.tenant.id]);
});

test('two cancellations of consecutive messages end without a deadlock, and later messages are unblocked', async () => {
  const errors: unknown[] = [];
  const kept: string[] = [];
  for (let round = 0; round < 20; round += 1) {
    const contacts = await Promise.all(Array.from({ length: 8 }, outbox.addContact));
    const threads: string[][] = [];
    for (const contactId of contacts) {
      const thread: string[] = [];
      for (let place = 0; place < 4; place += 1) thread.push(await outbox.accept(contactId, anyId()));
      threads.push(thread);
      kept.push(thread[3] ?? '');
    }
    // The first of one person and the second of the next: each cancellation gives turns to what the other one takes away.
    const half = (of: number): string[] => threads.map((thread, index) => thread[(index + of) % 2] ?? '');
    const thirds = threads.map(thread => thread[2] ?? '');
    await Promise.all(
      [half(0), half(1), thirds].map(messageIds => cancel({ messageIds }).catch(error => errors.push(error))),
    );
  }
  expect(errors).toEqual([]);
  expect((await waiting()).map(row => [row.message_id, row.has_turn])).toEqual(kept.map(id => [id, true]));
  await gateway.database.query('delete from messages where tenant_id = $1', [gateway.tenant.id]);
});

test('a status during the clearing of its disconnected channel causes no deadlock', async () => {
  const contactId = await outbox.addContact();
  const [first, second] = [await outbox.accept(contactId, newId()), await outbox.accept(contactId, newId())];
  await gateway.database.query(
    `update outbox set dispatched_at = clock_timestamp() - interval '1 hour' where tenant_id = $1 and message_id = $2`,
    [gateway.tenant.id, first],
  );
  await gateway.database.query(`update channels set status = 'disconnected' where tenant_id = $1`, [gateway.tenant.id]);
  const { resources } = gateway.gateway;
  const { clearing } = await resources.db.transaction(async trx => {
    await sql`select from message_states where tenant_id = ${gateway.tenant.id} and message_id = ${first} for update`.execute(
      trx,
    );
    const clearing = clearDisconnected(
      resources,
      { signal: new AbortController().signal },
      gateway.tenant.id,
      outbox.channelId,
      1_000,
    );
    await eventually(async () => expect(await lockWaits()).toBe(1));
    const sent = { messageId: first, status: 'sent' as const, at: new Date().toISOString(), wamid: 'wamid.first' };
    await applyStatuses(trx, gateway.tenant.id, [sent], Date.now());
    return { clearing };
  });
  await clearing;
  const states = await gateway.database.query<{ status: string }>(
    'select status from message_states where tenant_id = $1 and message_id = any($2::uuid[]) order by message_id',
    [gateway.tenant.id, [first, second]],
  );
  expect(states.map(({ status }) => status)).toEqual(['sent', 'cancelled']);
  expect(await waiting()).toEqual([]);
});
