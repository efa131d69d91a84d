import type { SecretBox } from '../../../platform/crypto.ts';
import { CONTACT_COLUMNS, type PublicContact } from '../contact.ts';
import type { SharedNumber } from './shared-number.ts';

/** The person to erase: everything by which a row or payload may identify them. */
export interface Subject {
  readonly contactId: number;
  /** Contacts that were merged into it. */
  readonly formerIds: readonly number[];
  /** Numbers normalised by `phoneKey`, and business-scoped user ids: the keys by which webhooks are indexed. */
  readonly identities: readonly string[];
  /** Numbers that also belonged to other contacts at some time. Those that the person has lost are not in `identities`. */
  readonly shared: readonly SharedNumber[];
  /** Digits of numbers, user ids, usernames and e-mail addresses, as they occur in texts. */
  readonly texts: readonly string[];
  readonly otpIds: readonly string[];
  /** The contact without personal data. */
  readonly contact: PublicContact;
}

export const contactIdsOf = (subjects: readonly Subject[]): number[] =>
  subjects.flatMap(({ contactId, formerIds }) => [contactId, ...formerIds]);

/** Columns without personal data. A new field counts as personal data unless it is listed here. */
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
export const withoutPersonalData = (contact: PublicContact): PublicContact =>
  Object.fromEntries(
    CONTACT_COLUMNS.map(column => [
      column,
      IMPERSONAL.has(column) ? contact[column] : column === 'firstname' || column === 'lastname' ? '' : null,
    ]),
  ) as unknown as PublicContact;

/**
 * The digest that is stored of an erased identity: HMAC-SHA-256 with a secret key, because the bare hash of a phone number can be
 * reversed by trying all numbers.
 */
export const identityDigest = (secrets: Pick<SecretBox, 'permanentMac'>, tenantId: number, identity: string): Buffer =>
  secrets.permanentMac('erased identity', `${tenantId} ${identity}`);

/** The digest that identifies the person in a receipt: of a number if there is one, otherwise of a user id, otherwise of the contact id. */
export const subjectDigest = (secrets: Pick<SecretBox, 'permanentMac'>, tenantId: number, subject: Subject): Buffer =>
  identityDigest(secrets, tenantId, subject.identities[0] ?? `contact ${subject.contactId}`);
