import type { Author } from '../../../core/author.ts';
import type { NewEvent } from '../../../core/events.ts';
import { newId } from '../../../core/ids.ts';
import type { Db } from '../../../database/database.ts';
import { retryDeadlocks } from '../../../database/retry-deadlocks.ts';
import { append } from '../../../events/append.ts';
import { DAY } from '../../../platform/clock.ts';
import { phoneKey } from '../../../platform/phone.ts';
import type { Resources } from '../../../schema/context.ts';
import { forgetPeople } from '../../integrations/housekeeping.ts';
import { type ErasedMessages, eraseFilenames, eraseMessages } from '../../messages/erase.ts';
import { eraseOtps } from '../../otp/erase.ts';
import { record } from '../../tenancy/audit/record.ts';
import { optedOutCategories } from '../consent/record.ts';
import type { ContactRow } from '../contact.ts';
import { deleteContacts } from '../contacts.sql.ts';
import { eraseExports } from '../exports/housekeeping.ts';
import { findContacts, lockContactQuota } from '../store.ts';
import {
  type ErasedIdentity,
  type IdentifiedContact,
  listHolders,
  lockErasures,
  lockIdentified,
  storeDigests,
} from './erasure.sql.ts';
import { finishErasures } from './finish.ts';
import type { Counts, ErasedKind, ErasureReason, ReceiptRow } from './receipt.ts';
import { type Holder, isFormerNumber, lostAt, sharedNumbersOf, spellingsOf } from './shared-number.ts';
import { findDigests, getReceipts, insertReceipts, storeFormerDigests } from './store.ts';
import { identityDigest, type Subject, subjectDigest, withoutPersonalData } from './subject.ts';

export interface ErasureRequest {
  readonly contactIds: readonly number[];
  readonly reason: ErasureReason;
  readonly author: Author;
  /** Throws, before anything is erased, if the contacts that were found may not be. */
  readonly check?: (found: ReadonlyMap<number, ContactRow>) => void;
}

/** Result of the first step of an erasure. */
export interface Removal {
  readonly contacts: readonly ContactRow[];
  readonly found: ReadonlySet<number>;
  readonly receiptIds: readonly string[];
}

export interface Erasure {
  /** The contacts as they were. */
  readonly contacts: readonly ContactRow[];
  /** The requested ids that were found. Ids of merged contacts resolve to the survivor. */
  readonly found: ReadonlySet<number>;
  /** One per contact; without `completed_at` while the log is still being blanked. */
  readonly receipts: readonly ReceiptRow[];
}

/** Webhooks from before an erasure may arrive for 30 days, while the network retains a message. */
const LATE_WEBHOOKS_MS = 31 * DAY;

type ErasureResources = Pick<Resources, 'db' | 'clock' | 'secrets' | 'log'> & {
  readonly signals: Pick<Resources['signals'], 'send'>;
};

/**
 * Erases people, in two steps.
 *
 * 1. One transaction deletes the contacts with conversations, messages, queued sends and one-time passwords, and writes receipts.
 *    After its commit nothing of them can be read or sent. Work that started before cannot store more, because it locks the
 *    contact or a deleted row.
 * 2. `finishErasures` blanks the log, webhooks and idempotency keys in small transactions. If the process dies, another continues.
 *
 * A message already submitted to the network may still be delivered; its response and statuses are dropped.
 *
 * @param progress called with the number of rows as they are blanked
 * @param transaction runs the first step
 */
export async function eraseContacts(
  resources: ErasureResources,
  tenantId: number,
  request: ErasureRequest,
  progress?: (rows: number) => void,
  transaction: (work: (trx: Db) => Promise<Removal>) => Promise<Removal> = work => resources.db.transaction(work),
): Promise<Erasure> {
  const { db, signals } = resources;
  // Locks follow the order of sends, statuses and inbound messages, but other work may use another.
  const { contacts, found, receiptIds } = await retryDeadlocks(() =>
    transaction(trx => remove(resources, trx, tenantId, request)),
  );
  if (contacts.length === 0) return { contacts, found, receipts: [] };
  signals.send('events');
  await finishErasures(resources, tenantId, receiptIds, progress);
  return { contacts, found, receipts: await getReceipts(db.write, tenantId, receiptIds) };
}

async function remove(
  { clock, secrets }: ErasureResources,
  trx: Db,
  tenantId: number,
  { contactIds, reason, author, check }: ErasureRequest,
): Promise<Removal> {
  const now = clock.now();
  const nowIso = new Date(now).toISOString();
  await lockErasures(trx, tenantId, 'exclusive');
  await lockContactQuota(trx, tenantId);
  const present = await findContacts(trx, tenantId, contactIds);
  const locked = await lockIdentified(trx, tenantId, [...new Set([...present.values()].map(({ id }) => id))]);
  if (check) check(await findContacts(trx, tenantId, contactIds));
  const ids = locked.map(({ id }) => id);
  const found = new Set([...present].filter(([, { id }]) => ids.includes(id)).map(([requestedId]) => requestedId));
  if (locked.length === 0) return { contacts: [], found, receiptIds: [] };
  const holders = await listHolders(trx, tenantId, ids);
  const optOuts = await optedOutCategories(trx, tenantId, ids);
  const exported = await eraseExports(
    trx,
    tenantId,
    locked.flatMap(({ id, former_ids: formerIds }) => [id, ...formerIds]),
  );
  const removed = await eraseMessages(trx, tenantId, ids);
  const otps = await eraseOtps(
    trx,
    tenantId,
    ids,
    locked.flatMap(({ numbers }) => numbers.map(phoneKey)),
  );
  const filenames = await eraseFilenames(trx, tenantId, removed.media, locked.flatMap(textsOf));
  const receipts: Parameters<typeof insertReceipts>[2][number][] = [];
  const digests: ErasedIdentity[] = [];
  /** Of numbers that the people had, but have no more. */
  const formerNumbers: Buffer[] = [];
  const formerDigests: ErasedIdentity[] = [];
  for (const contact of locked) {
    const keys = new Set(contact.numbers.map(phoneKey));
    const contactOtps = otps.filter(otp => otp.contact_id === contact.id || keys.has(otp.phone_key));
    const subject = subjectOf(
      contact,
      holders,
      contactOtps.map(otp => otp.id),
    );
    const optedOut = optOuts.get(contact.id) ?? [];
    // Rows about several people are counted on the first receipt.
    const names = receipts.length === 0 ? filenames : 0;
    const payloads = await forgetPeople(trx, tenantId, shopIdentitiesOf(contact), nowIso);
    receipts.push({
      id: newId(),
      contact_id: contact.id,
      subject_digest: subjectDigest(secrets, tenantId, subject),
      reason,
      author,
      requested_at: nowIso,
      completed_at: null,
      erased: {
        contact: 1,
        ...countsOf(removed, contact.id),
        otp: contactOtps.length,
        order_payload: payloads,
        file_name: names,
        export: exported.filter(people => [contact.id, ...contact.former_ids].some(id => people.includes(id))).length,
      },
      retained: optedOut.length === 0 ? {} : { opt_out: subject.identities.length },
      signature: null,
      pending: secrets.seal(JSON.stringify(subject)),
    });
    for (const identity of subject.identities) {
      const digest = identityDigest(secrets, tenantId, identity);
      digests.push({ digest, erased_at: nowIso, opted_out: optedOut });
      if (isFormerNumber(contact.id, identity, holders)) formerNumbers.push(digest);
    }
    // The number belongs to another contact now: drop late webhooks from before, and do not transfer the opt-out.
    for (const number of subject.shared) {
      const lostAtMs = lostAt(number);
      if (lostAtMs === null) continue;
      const digest = identityDigest(secrets, tenantId, number.identity);
      formerDigests.push({ digest, erased_at: new Date(lostAtMs - 1).toISOString(), opted_out: [] });
    }
  }
  await insertReceipts(trx, tenantId, receipts);
  const expiresAt = new Date(now + LATE_WEBHOOKS_MS).toISOString();
  // Another holder may have been erased before: the consent of somebody who gave the number up does not replace theirs.
  const stored = formerNumbers.length === 0 ? [] : await findDigests(trx, tenantId, formerNumbers);
  await storeDigests(trx, tenantId, onePerIdentity([...digests, ...stored]), expiresAt);
  await storeFormerDigests(trx, tenantId, formerDigests, expiresAt);
  const contacts = await deleteContacts(trx, tenantId, ids);
  await append(trx, tenantId, [
    ...removed.conversations.map(
      (conversation): NewEvent => ({ type: 'conversation.deleted', payload: { conversation } }),
    ),
    ...contacts.map(
      (contact): NewEvent => ({ type: 'contact.deleted', payload: { contact: withoutPersonalData(contact) } }),
    ),
  ]);
  for (const { id, contact_id } of receipts)
    await record(trx, tenantId, {
      author,
      action: 'contact.erased',
      subject: `contact:${contact_id}`,
      details: { receipt: id, reason },
    });
  return { contacts, found, receiptIds: receipts.map(({ id }) => id) };
}

function subjectOf(contact: IdentifiedContact, holders: readonly Holder[], otpIds: readonly string[]): Subject {
  const { numbers, user_ids: userIds } = contact;
  return {
    contactId: contact.id,
    formerIds: contact.former_ids,
    identities: distinct([...numbers.map(phoneKey), ...userIds]),
    shared: sharedNumbersOf(contact.id, holders),
    texts: textsOf(contact),
    otpIds,
    contact: withoutPersonalData(contact),
  };
}

/**
 * Combines the digests of one identity, with the opt-outs of all who had it: two of the contacts may have had one number in turn, and
 * the last digest alone could lose an opt-out.
 */
function onePerIdentity(digests: readonly ErasedIdentity[]): ErasedIdentity[] {
  const byDigest = Map.groupBy(digests, ({ digest }) => digest.toString('hex'));
  return [...byDigest.values()].flatMap(([first, ...others]) =>
    first ? { ...first, opted_out: distinct([first, ...others].flatMap(({ opted_out }) => opted_out)) } : [],
  );
}

/** The person's identifiers as they appear in texts. */
const textsOf = ({ numbers, user_ids: userIds, usernames, emails }: IdentifiedContact): string[] =>
  distinct([...numbers.flatMap(spellingsOf), ...userIds, ...usernames, ...emails]);

/** The identities by which shop payloads may name a contact. */
const shopIdentitiesOf = ({ id, numbers, emails, former_ids: formerIds }: IdentifiedContact) => [
  ...[id, ...formerIds].map(contactId => ({ id: contactId, phone: null, email: null })),
  ...numbers.map(phone => ({ id, phone, email: null })),
  ...emails.map(email => ({ id, phone: null, email })),
];

const distinct = (texts: readonly (string | null)[]): string[] => [
  ...new Set(texts.filter(text => text !== null && text !== '') as string[]),
];

function countsOf(removed: ErasedMessages, contactId: number): Counts<ErasedKind> {
  const of = (ids: readonly number[]): number => ids.filter(id => id === contactId).length;
  return {
    conversation: of(removed.conversations.map(conversation => conversation.contact_id)),
    message: of(removed.messages),
    message_cancelled: of(removed.cancelled),
    message_in_flight: of(removed.inFlight),
    file: removed.files.get(contactId) ?? 0,
  };
}
