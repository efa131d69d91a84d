import type { Db } from '../../database/database.ts';
import { DAY } from '../../platform/clock.ts';
import type { Resources } from '../../schema/context.ts';
import { erasePayloads } from './intake/people.sql.ts';
import { type Known, peopleOf } from './intake/people.ts';
import { deleteOldDeliveries } from './orders/deliveries.sql.ts';

const BATCH = 500;

/**
 * Deletes processed payloads past the retention period. The record of processed orders stays: shops report last year's orders
 * again, and customers must not get their template a second time.
 */
export async function cleanDeliveries({ db, clock, config }: Resources): Promise<void> {
  const before = new Date(clock.now() - config.retention.receivedDays * DAY).toISOString();
  while ((await deleteOldDeliveries(db.write, before, BATCH)) === BATCH);
}

/**
 * Erases the payloads that contain erased contacts, in the transaction that erases them. The results and the time of erasure stay;
 * a queued payload is then refused. @returns how many
 */
export const forgetPeople = (trx: Db, tenantId: number, contacts: readonly Known[], nowIso: string): Promise<number> =>
  contacts.length === 0 ? Promise.resolve(0) : erasePayloads(trx, tenantId, peopleOf(contacts), nowIso);
