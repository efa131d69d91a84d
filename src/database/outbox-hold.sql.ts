import { type RawBuilder, sql } from 'kysely';
import type { Db } from './database.ts';
import { clockTime } from './expressions.ts';

/*
 * Holds the outbox of a restored database until an operator decides what to send. Every update of the row in log_origin sets
 * written_by, by which a copied database is detected: events/origin.ts.
 */

/** Whether messages must not be sent to the network. Checked at the start of each turn of a lane; the table has one row. */
export async function isOutboxHeld(db: Db): Promise<boolean> {
  return (await heldSince(db)) !== undefined;
}

/** Returns the rows of a query, or none while the outbox is held. */
export const unlessHeld = (query: RawBuilder<unknown>): RawBuilder<unknown> =>
  sql`select q.* from (${query}) q where not exists (select from log_origin where outbox_held_at is not null)`;

/** @returns ISO 8601; undefined if the outbox is not held */
export async function heldSince(db: Db): Promise<string | undefined> {
  const row = await db.selectFrom('log_origin').select('outbox_held_at').executeTakeFirst();
  return row?.outbox_held_at ?? undefined;
}

export async function holdOutbox(trx: Db): Promise<void> {
  await trx
    .updateTable('log_origin')
    .set(eb => ({
      written_by: eb.fn<string>('pg_current_xact_id'),
      outbox_held_at: eb.fn.coalesce('outbox_held_at', clockTime),
    }))
    .execute();
}

/** @returns whether it was held */
export async function releaseHold(trx: Db): Promise<boolean> {
  const { numUpdatedRows } = await trx
    .updateTable('log_origin')
    .set(eb => ({ written_by: eb.fn<string>('pg_current_xact_id'), outbox_held_at: null }))
    .where('outbox_held_at', 'is not', null)
    .executeTakeFirstOrThrow();
  return numUpdatedRows > 0n;
}
