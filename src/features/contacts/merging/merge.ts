import type { Author } from '../../../core/author.ts';
import { invalid, notFound } from '../../../core/errors.ts';
import type { NewEvent } from '../../../core/events.ts';
import type { Db } from '../../../database/database.ts';
import { append } from '../../../events/append.ts';
import { readBeforeRegrouping } from '../../conversations/regrouped.ts';
import { record } from '../../tenancy/audit/record.ts';
import { countConversations, monthOf } from '../../tenancy/usage/usage.ts';
import { latestEntries } from '../consent/consent.sql.ts';
import { optedOutOf } from '../consent/consent.ts';
import { listEntries } from '../consent/store.ts';
import type { ContactRow } from '../contact.ts';
import {
  deleteMerged,
  type FullContact,
  foldConversations,
  type LockedContact,
  lockConversationsOf,
  lockForMerge,
  lockOutbox,
  moveRows,
} from './merge.sql.ts';
import { FILLED_COLUMNS, type Filled, insertMerge, writeMerged } from './store.ts';
import { type ContactNumber, recordIdentities } from './undo-identities.sql.ts';

/** Entries of the former contact to read, latest first; older ones no longer count. */
const MAX_ENTRIES = 1_000;

export interface MergeRequest {
  /** The contact that stays; undefined: decided by `survivorOf`. */
  readonly survivorId?: number | undefined;
  readonly ids: readonly number[];
  /** Whether evidence of the network or an operator caused the merge. */
  readonly reason: 'network' | 'manual';
  readonly author: Author;
  readonly nowMs: number;
  /** The survivor's number before the change that merges, which clears it first; undefined: the present one. */
  readonly numberBefore?: ContactNumber | undefined;
  /** Takes the number of conversations that were counted twice, where the transaction counts at its end; undefined: the merge does. */
  readonly onCountedTwice?: ((count: number) => void) | undefined;
}

/** The contact that stays: the one with more fields filled, then the older one. */
const survivorOf = (contacts: readonly LockedContact[]): LockedContact | undefined =>
  contacts.toSorted((a, b) => b.weight - a.weight || a.id - b.id)[0];

/**
 * Merges contacts that are one person. The survivor gets all rows of the others: messages, conversations (two on one channel become
 * one), groups, consent, identities, one-time passwords, bot replies, queued messages. Its empty fields are filled from theirs.
 * Their ids resolve to the survivor, and the merge can be undone for 30 days.
 *
 * Lock order: tenant_usage, contacts by id, conversations by id, the outbox (`lockOutbox`), other rows of the contacts, the counters of the month.
 * @returns the survivor
 * @throws NOT_FOUND; VALIDATION_ERROR for fewer than two contacts
 */
export async function mergeContacts(trx: Db, tenantId: number, request: MergeRequest): Promise<ContactRow> {
  const ids = [...new Set(request.ids)];
  const locked = await lockForMerge(trx, tenantId, ids);
  if (locked.length < ids.length) throw notFound('Contact');
  if (locked.length < 2) throw invalid({ ids: ['Give at least two contacts to merge.'] });
  const survivor = locked.find(({ id }) => id === request.survivorId) ?? survivorOf(locked);
  if (!survivor) throw notFound('Contact');
  await lockConversationsOf(trx, tenantId, ids);
  await lockOutbox(trx, tenantId, ids);
  let { contact } = survivor;
  for (const former of locked) {
    if (former.id !== survivor.id) contact = await mergeInto(trx, tenantId, contact, former.contact, request);
  }
  return contact;
}

async function mergeInto(
  trx: Db,
  tenantId: number,
  survivor: FullContact,
  former: FullContact,
  { reason, author, nowMs, numberBefore = survivor, onCountedTwice }: MergeRequest,
): Promise<FullContact> {
  const filled = missingValuesOf(survivor, former);
  const month = monthOf(nowMs);
  const mergeId = await insertMerge(trx, tenantId, {
    contact_id: survivor.id,
    former_id: former.id,
    reason,
    author,
    snapshot: former,
    filled,
    merged_at: new Date(nowMs).toISOString(),
  });
  const ids = { mergeId, survivorId: survivor.id, formerId: former.id };
  await recordIdentities(trx, tenantId, ids, numberBefore);
  const conversationEvents = await readBeforeRegrouping(trx, tenantId, [survivor.id, former.id]);
  const folds = await foldConversations(trx, tenantId, { ...ids, month });
  const consentOf = await readConsentBefore(trx, tenantId, survivor.id, former.id);
  await moveRows(trx, tenantId, ids);
  await deleteMerged(trx, tenantId, former.id);
  const after = await writeMerged(trx, tenantId, survivor.id, filled);
  if (!after) throw notFound('Contact');
  await append(trx, tenantId, [
    ...mergeEvents(survivor, former, after),
    ...(await consentOf(after)),
    ...(await conversationEvents([survivor.id], folds)),
  ]);
  await record(trx, tenantId, {
    author,
    action: 'contact.merged',
    subject: `contact:${survivor.id}`,
    details: { former_id: former.id, reason },
  });
  const countedTwice = folds.filter(fold => fold.is_counted_twice).length;
  if (onCountedTwice) onCountedTwice(countedTwice);
  else await countConversations(trx, tenantId, month, -countedTwice);
  return { ...survivor, ...(filled as Partial<FullContact>), ...after };
}

function mergeEvents(before: FullContact, former: FullContact, contact: ContactRow): NewEvent[] {
  const events: NewEvent[] = [{ type: 'contact.merged', payload: { contact, former_id: former.id } }];
  if ((before.opted_out_at === null) !== (contact.opted_out_at === null))
    events.push({
      type: contact.opted_out_at === null ? 'contact.opted_in' : 'contact.opted_out',
      payload: { contact },
    });
  return events;
}

/**
 * Reads the consent of both contacts before a merge moves it.
 * @returns a function of the merged contact: `consent.changed` if the merge changed what the survivor has opted out of, with the
 *   latest of the entries that came with the former contact and count now
 */
async function readConsentBefore(
  trx: Db,
  tenantId: number,
  survivorId: number,
  formerId: number,
): Promise<(contact: ContactRow) => Promise<NewEvent[]>> {
  const moved = await listEntries(trx, tenantId, formerId, MAX_ENTRIES);
  if (moved.length === 0) return async () => [];
  const before = optedOutOf((await latestEntries(trx, tenantId, [survivorId])).get(survivorId) ?? {});
  return async contact => {
    const latest = (await latestEntries(trx, tenantId, [survivorId])).get(survivorId) ?? {};
    const optedOut = optedOutOf(latest);
    const counting = new Set(Object.values(latest).map(({ id }) => id));
    const consent = moved.find(({ id }) => counting.has(id));
    if (!consent || optedOut.join() === before.join()) return [];
    return [{ type: 'consent.changed', payload: { contact, consent, opted_out: optedOut } }];
  };
}

/** Values of the former contact for the survivor's empty columns. Both names are taken together, and a number with its key. */
function missingValuesOf(survivor: FullContact, former: FullContact): Filled {
  const filled: Record<string, unknown> = {};
  const isNameless = survivor.firstname === '' && survivor.lastname === '';
  for (const column of FILLED_COLUMNS) {
    const value = former[column];
    if (value === null || value === '') continue;
    if (column === 'firstname' || column === 'lastname') {
      if (isNameless) filled[column] = value;
    } else if (column === 'type') {
      if (survivor.type === 'lead' && value !== 'lead') filled[column] = value;
    } else if (survivor[column] === null) filled[column] = value;
  }
  return filled as Filled;
}
