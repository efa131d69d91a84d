import type { Author } from '../../../core/author.ts';
import { CodedError, notFound } from '../../../core/errors.ts';
import type { Db } from '../../../database/database.ts';
import { append } from '../../../events/append.ts';
import { DAY } from '../../../platform/clock.ts';
import type { Resources } from '../../../schema/context.ts';
import { readBeforeRegrouping } from '../../conversations/regrouped.ts';
import { followMessages } from '../../otp/follow-messages.ts';
import { record } from '../../tenancy/audit/record.ts';
import type { ContactRow } from '../contact.ts';
import { type FullContact, lockConversationsOf, lockForMerge } from './merge.sql.ts';
import { copyOptOuts, FILLED_COLUMNS, type Filled, findMerge, findTakenValues, writeMerged } from './store.ts';
import { alignRows, deleteMergeSnapshots, keepWaiting, restoreContact, returnRows, setUndone } from './undo.sql.ts';
import {
  endPhone,
  findIdentitiesBefore,
  type IdentitiesBefore,
  numberBefore,
  separateIdentities,
} from './undo-identities.sql.ts';

const UNDO_MS = 30 * DAY;

/**
 * Undoes a merge. Rows that the merge moved go back; rows created since stay with the survivor, except opt-outs, which then apply to
 * both, and messages of a conversation that goes back, unless they wait to be sent to another number. Evidence of the network does not merge the two again; a manual merge does.
 *
 * @param formerId the id of the merged contact
 * @returns the restored contact
 * @throws NOT_FOUND if there is no such merge; TOO_OLD after 30 days
 */
export async function undoMerge(
  trx: Db,
  tenantId: number,
  formerId: number,
  { author, nowMs }: { readonly author: Author; readonly nowMs: number },
): Promise<ContactRow> {
  const found = await findMerge(trx, tenantId, formerId);
  if (!found) throw notFound('Contact');
  const [survivor] = await lockForMerge(trx, tenantId, [found.contact_id]);
  // Read again: the merge may have been undone while waiting for the lock.
  const merge = await findMerge(trx, tenantId, formerId);
  if (!survivor || !merge || merge.contact_id !== survivor.id) throw notFound('Contact');
  const { snapshot } = merge;
  if (!snapshot || nowMs - Date.parse(merge.merged_at) > UNDO_MS)
    throw new CodedError('TOO_OLD', 'This merge is more than 30 days old and can no longer be undone.');
  const undo = { mergeId: merge.id, survivorId: survivor.id, formerId };
  const before = await findIdentitiesBefore(trx, tenantId, merge.id);
  await writeMerged(trx, tenantId, survivor.id, {
    ...clearedValues(survivor.contact, merge.filled),
    ...clearedNumber(survivor.contact, snapshot, before),
  });
  const taken = await findTakenValues(trx, tenantId, snapshot);
  const former = {
    ...snapshot,
    ...(taken.phone && { phone: null, phone_key: null }),
    ...(taken.email && { email: null }),
  };
  await restoreContact(trx, tenantId, former);
  await lockConversationsOf(trx, tenantId, [survivor.id]);
  const conversationEvents = await readBeforeRegrouping(trx, tenantId, [survivor.id]);
  await returnRows(trx, tenantId, undo);
  if (!sharesNumber(survivor.contact, former)) await keepWaiting(trx, tenantId, undo);
  await alignRows(trx, tenantId, undo);
  await followMessages(trx, tenantId, [survivor.id, formerId]);
  if (taken.phone && snapshot.phone !== null) await endPhone(trx, tenantId, formerId, snapshot.phone);
  await separateIdentities(trx, tenantId, undo, former, before);
  await copyOptOuts(trx, tenantId, undo, merge.merged_at);
  await setUndone(trx, tenantId, merge.id, new Date(nowMs).toISOString());
  const number = await numberBefore(trx, tenantId, survivor.id, before);
  const after = await writeMerged(trx, tenantId, survivor.id, number);
  const restored = await writeMerged(trx, tenantId, formerId, {});
  if (!after || !restored) throw notFound('Contact');
  await append(trx, tenantId, [
    { type: 'contact.created', payload: { contact: restored } },
    { type: 'contact.updated', payload: { contact: after, previous: previousOf(survivor.contact, after) } },
    ...(await conversationEvents([survivor.id, formerId])),
  ]);
  await record(trx, tenantId, {
    author,
    action: 'contact.merge_undone',
    subject: `contact:${survivor.id}`,
    details: { former_id: formerId },
  });
  return restored;
}

/** Clears the values that the merge filled in and that are unchanged since. */
function clearedValues(survivor: FullContact, filled: Readonly<Record<string, unknown>>): Filled {
  const empty: Record<string, unknown> = {};
  for (const column of FILLED_COLUMNS) {
    if (filled[column] === undefined || filled[column] !== survivor[column]) continue;
    empty[column] = column === 'firstname' || column === 'lastname' ? '' : column === 'type' ? 'lead' : null;
  }
  return empty as Filled;
}

/** Whether the survivor's number, to which its messages are sent, is that of the restored contact. */
const sharesNumber = (survivor: FullContact, former: FullContact): boolean =>
  survivor.phone_key !== null && survivor.phone_key === former.phone_key;

/** Clears the survivor's number if it is that of the restored contact, which recognition may have assigned after the merge. */
const clearedNumber = (survivor: FullContact, former: FullContact, before: IdentitiesBefore | undefined): Filled =>
  sharesNumber(survivor, former) && before?.phone_key !== former.phone_key ? { phone: null, phone_key: null } : {};

const previousOf = (before: FullContact, after: ContactRow): Partial<ContactRow> =>
  Object.fromEntries(
    Object.entries(after)
      .filter(
        ([column]) =>
          column !== 'updated_at' && before[column as keyof ContactRow] !== after[column as keyof ContactRow],
      )
      .map(([column]) => [column, before[column as keyof ContactRow]]),
  );

const BATCH = 500;

/** Deletes the undo data of merges that are too old. Former ids continue to resolve. */
export async function cleanMerges({ db, clock }: Resources): Promise<void> {
  const before = new Date(clock.now() - UNDO_MS).toISOString();
  while ((await deleteMergeSnapshots(db.write, before, BATCH)) === BATCH);
}
