import type { Author } from '../../../core/author.ts';
import type { NewEvent } from '../../../core/events.ts';
import type { Db } from '../../../database/database.ts';
import { append } from '../../../events/append.ts';
import type { ContactRow } from '../contact.ts';
import { changeEvents } from '../events.ts';
import { insertEntries, latestEntries } from './consent.sql.ts';
import {
  CONSENT_CATEGORIES,
  type ConsentCategory,
  type LatestEntries,
  type NewConsentEntry,
  optedOutOf,
} from './consent.ts';
import { lockContacts, setOptedOut } from './store.ts';

/**
 * Records consent, and updates the opt-out of contacts accordingly, with a fixed number of statements for any number of entries.
 * Locks the contacts by id first; entries of deleted contacts are ignored.
 *
 * Events: `consent.changed` for each contact whose opted-out categories changed; `contact.updated` with `contact.opted_out` or
 * `contact.opted_in` if all messages are affected.
 */
export async function recordConsent(trx: Db, tenantId: number, entries: readonly NewConsentEntry[]): Promise<void> {
  if (entries.length === 0) return;
  const contactIds = [...new Set(entries.map(entry => entry.contactId))].sort((a, b) => a - b);
  const locked = await lockContacts(trx, tenantId, contactIds);
  const before = new Map(locked.map(contact => [contact.id, contact]));
  const latest = await latestEntries(trx, tenantId, contactIds);
  const outBefore = new Map([...before.keys()].map(id => [id, optedOutOf(latest.get(id) ?? {})]));
  const inserted = await insertEntries(
    trx,
    tenantId,
    entries.filter(entry => before.has(entry.contactId)),
  );
  if (inserted.length === 0) return;
  const now = await latestEntries(trx, tenantId, contactIds);
  const contacts = new Map(before);
  const changes = locked.flatMap(contact => {
    const optedOutAt = optedOutAtOf(now.get(contact.id) ?? {});
    return (optedOutAt === null) === (contact.opted_out_at === null) ? [] : [{ id: contact.id, optedOutAt }];
  });
  const events: NewEvent[] = [];
  for (const after of changes.length > 0 ? await setOptedOut(trx, tenantId, changes) : []) {
    const contact = before.get(after.id);
    contacts.set(after.id, after);
    if (contact) events.push(...changeEvents(contact, after));
  }
  for (const { contact_id, ...consent } of lastOfEach(inserted)) {
    const contact = contacts.get(contact_id) as ContactRow;
    const optedOut = optedOutOf(now.get(contact_id) ?? {});
    if (isSame(optedOut, outBefore.get(contact_id) ?? [])) continue;
    events.push({ type: 'consent.changed', payload: { contact, consent, opted_out: optedOut } });
  }
  await append(trx, tenantId, events);
}

const optedOutAtOf = ({ all }: LatestEntries): string | null => (all?.state === 'opted_out' ? all.occurred_at : null);

/** The latest entry of each contact, of rows in the order of their ids. */
function lastOfEach<T extends { readonly contact_id: number; readonly occurred_at: string }>(rows: readonly T[]): T[] {
  const ordered = rows.toSorted((a, b) => Date.parse(a.occurred_at) - Date.parse(b.occurred_at));
  return [...new Map(ordered.map(row => [row.contact_id, row])).values()];
}

const isSame = (a: readonly ConsentCategory[], b: readonly ConsentCategory[]): boolean => a.join() === b.join();

/**
 * Records the opt-out or opt-in set by an API caller. The contact is already locked and updated.
 * @returns the `consent.changed` event
 */
export async function recordApiConsent(
  trx: Db,
  tenantId: number,
  contact: ContactRow,
  author: Author,
  nowIso: string,
): Promise<NewEvent[]> {
  const state = contact.opted_out_at === null ? 'opted_in' : 'opted_out';
  const inserted = await insertEntries(trx, tenantId, [
    { contactId: contact.id, category: 'all', state, source: 'api', author, occurredAt: nowIso },
  ]);
  const latest = await latestEntries(trx, tenantId, [contact.id]);
  const opted_out = optedOutOf(latest.get(contact.id) ?? {});
  return inserted.map(({ contact_id: _id, ...consent }) => ({
    type: 'consent.changed',
    payload: { contact, consent, opted_out },
  }));
}

/** As `recordApiConsent`, for new contacts that are created opted out. Appends their `consent.changed` events. */
export async function recordApiOptOuts(
  trx: Db,
  tenantId: number,
  contacts: readonly ContactRow[],
  author: Author,
  nowIso: string,
): Promise<void> {
  if (contacts.length === 0) return;
  const byId = new Map(contacts.map(contact => [contact.id, contact]));
  const inserted = await insertEntries(
    trx,
    tenantId,
    contacts.map(({ id }) => ({
      contactId: id,
      category: 'all',
      state: 'opted_out',
      source: 'api',
      author,
      occurredAt: nowIso,
    })),
  );
  await append(
    trx,
    tenantId,
    inserted.map(({ contact_id, ...consent }) => ({
      type: 'consent.changed',
      payload: { contact: byId.get(contact_id) as ContactRow, consent, opted_out: [...CONSENT_CATEGORIES] },
    })),
  );
}

/** The categories that contacts have opted out of; contacts without an opt-out are left out. */
export async function optedOutCategories(
  db: Db,
  tenantId: number,
  contactIds: readonly number[],
): Promise<Map<number, ConsentCategory[]>> {
  const latest = await latestEntries(db, tenantId, contactIds);
  return new Map(
    [...latest]
      .map(([id, entries]) => [id, optedOutOf(entries)] as const)
      .filter(([, categories]) => categories.length > 0),
  );
}
