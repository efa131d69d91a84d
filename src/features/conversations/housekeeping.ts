import type { Db } from '../../database/database.ts';
import { append, appendForTenants } from '../../events/append.ts';
import type { Resources } from '../../schema/context.ts';
import { unassignSome, wakeDue } from './change.sql.ts';
import { updatedEvent } from './fold.ts';
import { deleteGone } from './presence/presence.sql.ts';

/** Conversations changed by one transaction. */
const BATCH = 500;

/** Opens snoozed conversations whose time has come, by the database's clock. */
export async function wakeSnoozed({ db, signals }: Pick<Resources, 'db' | 'signals'>): Promise<void> {
  for (;;) {
    const count = await db.transaction(async trx => {
      const woken = await wakeDue(trx, BATCH);
      await appendForTenants(
        trx,
        woken.flatMap(({ tenant_id: tenantId, snoozed_before, ...after }) =>
          updatedEvent({ ...after, status: 'snoozed', snoozed_until: snoozed_before }, after).map(event => ({
            tenantId,
            event,
          })),
        ),
      );
      return woken.length;
    });
    if (count > 0) signals.send('events');
    if (count < BATCH) return;
  }
}

/** Unassigns a staff member from the next `limit` conversations, in the caller's transaction. @returns their number */
export async function unassignConversations(
  trx: Db,
  tenantId: number,
  staffId: number,
  limit: number,
): Promise<number> {
  const rows = await unassignSome(trx, tenantId, staffId, limit);
  await append(
    trx,
    tenantId,
    rows.flatMap(after => updatedEvent({ ...after, assignee_id: staffId }, after)),
  );
  return rows.length;
}

/** Deletes what sessions that are gone have shown. */
export const cleanPresence = ({ db }: Pick<Resources, 'db'>): Promise<void> => deleteGone(db.write);
