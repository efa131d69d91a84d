import type { SecretBox } from '../../../platform/crypto.ts';
import { CONTACT_COLUMNS, type PublicContact } from '../contact.ts';
import type { SharedNumber } from './shared-number.ts';

/** A contact as erasure has to know it: everything by which a row or a payload may name the person. */
export interface Subject {
  readonly contactId: number;
  /** Contacts that were merged into it. */
  readonly formerIds: readonly number[];
  /** Numbers as `phoneKey` folds them, and business-scoped user ids: what the network's webhooks are indexed by. */
  readonly identities: readonly string[];
  /** Numbers of which a part of the time was somebody else's; those that the person has lost are not among the identities. */
  readonly shared: readonly SharedNumber[];
  /** Digits of numbers, user ids, usernames and e-mail addresses as they stand in texts. */
  readonly texts: readonly string[];
  readonly otpIds: readonly string[];
  /** The contact without the person. */
  readonly contact: PublicContact;
}

export const contactIdsOf = (subjects: readonly Subject[]): number[] =>
  subjects.flatMap(({ contactId, formerIds }) => [contactId, ...formerIds]);

/** Columns that are no personal data. A new field counts as personal data unless it is listed here. */
const IMPERSONAL: ReadonlySet<keyof PublicContact> = new Set([
  'id',
  'type',
  'source_id',
  'status_id',
  'assigned_id',
  'opted_out_at',
  'created_at',
  'updated_at',
]);

/** The contact without personal data, for the events of its erasure. */
export const withoutPerson = (contact: PublicContact): PublicContact =>
  Object.fromEntries(
    CONTACT_COLUMNS.map(column => [
      column,
      IMPERSONAL.has(column) ? contact[column] : column === 'firstname' || column === 'lastname' ? '' : null,
    ]),
  ) as unknown as PublicContact;

/**
 * The digest under which an identity is known after its erasure: HMAC-SHA-256 under the secret key, because a number has so few
 * digits that a bare hash gives it away.
 */
export const identityDigest = (secrets: Pick<SecretBox, 'permanentMac'>, tenantId: number, identity: string): Buffer =>
  secrets.permanentMac('erased identity', `${tenantId} ${identity}`);

/** What stands for the person in a receipt: the number before user ids; a contact with neither is known by its id alone. */
export const subjectDigest = (secrets: Pick<SecretBox, 'permanentMac'>, tenantId: number, subject: Subject): Buffer =>
  identityDigest(secrets, tenantId, subject.identities[0] ?? `contact ${subject.contactId}`);
