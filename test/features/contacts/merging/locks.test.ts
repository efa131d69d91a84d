import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { newIdAt } from '../../../../src/core/ids.ts';
import { mergeContacts } from '../../../../src/features/contacts/merging/merge.ts';
import { applyStatuses } from '../../../../src/features/messages/statuses/apply-statuses.ts';
import { COMMAND_LINE } from '../../../../src/features/tenancy/audit/author.ts';
import { eventually, startGateway, type TestGateway } from '../../../support/gateway.ts';
import { type Outbox, outboxOf } from '../../messages/outbox.ts';

/** Locks of merges and of the outbox. No worker runs; the test itself sends. */

let gateway: TestGateway;
let outbox: Outbox;
beforeAll(async () => {
  gateway = await startGateway({ role: 'gateway', env: { PARLEY_DATABASE_POOL: '16' } });
  outbox = await outboxOf(gateway);
});
afterAll(() => gateway.stop());
const { now } = Date;
/** Two messages of a contact: the first to be sent has the greater id, as where another process made it beforehand. */
const acceptCrossed = async (contactId: number): Promise<[first: string, second: string]> => [
  await outbox.accept(contactId, newIdAt(now() + 600_000)),
  await outbox.accept(contactId, newIdAt(now())),
];
const merge = (survivorId: number, formerId: number) =>
  gateway.gateway.resources.db.transaction(trx =>
    mergeContacts(trx, gateway.tenant.id, {
      survivorId,
      ids: [survivorId, formerId],
      reason: 'manual',
      author: COMMAND_LINE,
      nowMs: now(),
    }),
  );
const sent = (messageId: string) => ({
  messageId,
  status: 'sent' as const,
  at: new Date().toISOString(),
  wamid: `wamid.${randomUUID()}`,
});
const waiting = () =>
  gateway.database.query<{ contact_id: string; has_turn: boolean }>(
    'select contact_id, next_attempt_at is not null as has_turn from outbox where tenant_id = $1 order by position',
    [gateway.tenant.id],
  );

test('a message can be settled while its contact is merged, in either lock order', async () => {
  const [survivor, former] = [await outbox.addContact(), await outbox.addContact()];
  const [first] = await acceptCrossed(former);
  const { db } = gateway.gateway.resources;
  let merging: Promise<unknown> | undefined;
  await db.transaction(async trx => {
    await sql`select from outbox where tenant_id = ${gateway.tenant.id} and message_id = ${first} for update`.execute(
      trx,
    );
    const before = gateway.statements.length;
    merging = merge(survivor, former);
    // The merge has met the lock: it waits for it, or tries again.
    await eventually(async () => {
      const [met] = await gateway.database.query<{ n: number }>(
        `select count(*)::int as n from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
      );
      const tries = gateway.statements
        .slice(before)
        .filter(text => text.includes('rollback to savepoint outbox_locks'));
      expect((met?.n ?? 0) + tries.length).toBeGreaterThan(0);
    });
    await applyStatuses(trx, gateway.tenant.id, [sent(first)], now());
  });
  await merging;
  expect(await waiting()).toEqual([{ contact_id: String(survivor), has_turn: true }]);
  await gateway.database.query('delete from messages where tenant_id = $1', [gateway.tenant.id]);
});

test('concurrent merges, sends and settlements of the same people do not deadlock, and no queued message is stuck', async () => {
  const { db } = gateway.gateway.resources;
  const errors: unknown[] = [];
  const collect = (error: unknown) => void errors.push(error);
  const survivors: number[] = [];
  for (let round = 0; round < 6; round += 1) {
    const people = [
      await outbox.addContact(),
      await outbox.addContact(),
      await outbox.addContact(),
      await outbox.addContact(),
    ] as const;
    const first = (await Promise.all(people.map(acceptCrossed))).map(([one]) => one);
    survivors.push(people[0], people[2]);
    await Promise.all([
      merge(people[0], people[1]).catch(collect),
      merge(people[2], people[3]).catch(collect),
      ...people.map(person => outbox.accept(person, newIdAt(now() - 1_000)).catch(collect)),
      ...[first, first.toReversed()].map(ids =>
        db.transaction(trx => applyStatuses(trx, gateway.tenant.id, ids.map(sent), now())).catch(collect),
      ),
    ]);
  }
  expect(errors).toEqual([]);
  const rows = await waiting();
  expect(new Set(rows.map(row => Number(row.contact_id)))).toEqual(new Set(survivors));
  for (const survivor of survivors)
    expect(rows.filter(row => Number(row.contact_id) === survivor && row.has_turn)).toHaveLength(1);
});
