import type { Db } from '../../database/database.ts';
import { withSavepoint } from '../../database/savepoint.ts';
import { violationOf } from '../../database/violations.ts';
import type { MessageRow } from '../messages/message.ts';
import { handOn, lockCodes } from './codes.sql.ts';
import { endCodes, restoreReplaced } from './store.ts';

/**
 * Fails the codes of messages that failed or were cancelled, and makes the codes that they replaced live again: at once, or when all
 * codes that came after have failed, in whatever order that becomes known. Call it with the states of the messages locked: no code of
 * these messages can then become live afterwards.
 *
 * Lock order: after message_states and the outbox.
 * @param messages of any type and status; those without a code are ignored
 */
export async function failCodes(trx: Db, tenantId: number, messages: readonly MessageRow[]): Promise<void> {
  const ended = messages.filter(
    ({ type, status }) => type === 'template' && (status === 'failed' || status === 'cancelled'),
  );
  if (ended.length === 0) return;
  const locked = await lockCodes(
    trx,
    tenantId,
    ended.map(row => ({ id: row.id, contactId: row.contact_id })),
  );
  const mine = locked.filter(code => !code.is_predecessor).map(({ id }) => id);
  if (mine.length === 0) return;
  for (const id of mine) await handOn(trx, tenantId, id);
  // Not those that were verified while this waited for the locks.
  for (const id of await endCodes(trx, tenantId, mine)) {
    try {
      await withSavepoint(trx, () => restoreReplaced(trx, tenantId, id));
    } catch (error) {
      // A later code became live meanwhile and stays.
      if (violationOf(error)?.constraint !== 'otps_live_key') throw error;
    }
  }
}
