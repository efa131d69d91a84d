import { append } from '../../events.ts';
import type { Db } from '../../platform/database.ts';
import { lockContactBesideSends, updateContact } from './store.ts';
import { changeEvents } from './update.ts';

/** Takes a contact out of messaging, or back in; asking twice changes nothing. */
export async function optContact(
  trx: Db,
  tenantId: number,
  contactId: number,
  out: boolean,
  nowMs: number,
): Promise<void> {
  const before = await lockContactBesideSends(trx, tenantId, contactId);
  if (!before || (before.opted_out_at !== null) === out) return;
  const after = await updateContact(trx, tenantId, contactId, {
    opted_out_at: out ? new Date(nowMs).toISOString() : null,
  });
  if (after) await append(trx, tenantId, changeEvents(before, after));
}
