import type { Selectable } from 'kysely';
import { z } from 'zod';
import type { FieldErrorList } from '../../core/errors.ts';
import type { Contacts } from '../../database/tables.generated.ts';
import { countryByCode } from '../../platform/countries.ts';
import { type Phone, parsePhone } from '../../platform/phone.ts';
import { isLonger, isStorable, UNSTORABLE } from '../../platform/text.ts';
import { isTimeZone } from '../../platform/time-zones.ts';
import type { StaffRow } from '../tenancy/staff/staff-member.ts';
import type { LabelRow } from './labels/label.ts';

export type ContactType = 'lead' | 'customer' | 'guest';

/** Columns of the table that no API shows. */
type HiddenColumn = 'tenant_id' | 'phone_key' | 'search_text';

/** A contact as published in events and webhooks: the columns of its table, whose names are those of the REST contract. */
export type PublicContact = Readonly<Omit<Selectable<Contacts>, HiddenColumn | 'type'>> & {
  readonly type: ContactType;
};

/** A row as returned by a query. Lists read only the selected columns, with related rows as nested JSON. */
export interface ContactRow extends PublicContact {
  readonly source?: LabelRow | null;
  readonly status?: LabelRow | null;
  readonly assignee?: StaffRow | null;
  readonly groups?: readonly LabelRow[];
  readonly window_expires_at?: string | null;
}

/** An identifier of a person, and when it was theirs. */
export interface IdentityRow {
  readonly kind: 'phone' | 'wa_id' | 'user_id' | 'username';
  readonly value: string;
  readonly started_at: string;
  readonly ended_at: string | null;
}

interface Field {
  readonly type: 'text' | 'smallint' | 'bigint';
  /** Name in GraphQL inputs. */
  readonly name: string;
  /** In characters, from the REST contract; fields without it have a syntax of their own. */
  readonly maxLength?: number;
}

/**
 * The fields of a contact, in the order of its table. Creation, updates, merges, lists and events use this list; a column
 * that is missing here does not compile.
 */
export const FIELDS = {
  firstname: { type: 'text', name: 'firstName', maxLength: 255 },
  lastname: { type: 'text', name: 'lastName', maxLength: 255 },
  company: { type: 'text', name: 'company', maxLength: 255 },
  type: { type: 'text', name: 'type' },
  email: { type: 'text', name: 'email', maxLength: 191 },
  phone: { type: 'text', name: 'phone' },
  description: { type: 'text', name: 'description', maxLength: 65_535 },
  address: { type: 'text', name: 'address', maxLength: 500 },
  city: { type: 'text', name: 'city', maxLength: 255 },
  state: { type: 'text', name: 'state', maxLength: 255 },
  zip: { type: 'text', name: 'zip', maxLength: 20 },
  country_id: { type: 'smallint', name: 'country' },
  time_zone: { type: 'text', name: 'timeZone' },
  source_id: { type: 'bigint', name: 'sourceId' },
  status_id: { type: 'bigint', name: 'statusId' },
  assigned_id: { type: 'bigint', name: 'assigneeId' },
} as const satisfies Readonly<
  Record<Exclude<keyof PublicContact, 'id' | 'opted_out_at' | 'created_at' | 'updated_at'>, Field>
>;

export type FieldColumn = keyof typeof FIELDS;

/** GraphQL names of the fields. */
export type FieldName = (typeof FIELDS)[FieldColumn]['name'];

export const FIELD_COLUMNS = Object.keys(FIELDS) as readonly FieldColumn[];

/** The columns of a contact in the order of their table. */
export const CONTACT_COLUMNS: readonly (keyof PublicContact)[] = [
  'id',
  ...FIELD_COLUMNS,
  'opted_out_at',
  'created_at',
  'updated_at',
];

/** How GraphQL inputs write the values of a column: ids and country codes as text. */
type InputValue<Column extends FieldColumn> = Column extends 'type' ? ContactType : string;

type FieldInputs = {
  readonly [Column in FieldColumn as (typeof FIELDS)[Column]['name']]?: InputValue<Column> | null | undefined;
};

/** The fields of a contact in GraphQL's names; undefined: unchanged, or the default for a new contact; null: empty. */
export interface ContactInput extends FieldInputs {
  readonly groupIds?: readonly string[] | null | undefined;
  /** Groups by name; missing ones are created. */
  readonly groupNames?: readonly string[] | null | undefined;
  readonly isOptedOut?: boolean | null | undefined;
}

/** References to other rows, which are looked up before they are stored. */
type ReferenceColumn = 'source_id' | 'status_id' | 'assigned_id';

/** Values by column; columns that are left out keep their value. */
export type ContactFields = Partial<Omit<Pick<PublicContact, FieldColumn>, ReferenceColumn | 'phone'>> & {
  readonly phone?: string;
  readonly phone_key?: string;
};

const EMAIL = z.email();

/**
 * Validates and normalises all fields except references, which the caller looks up.
 * @param errors receives the errors, with `prefix` before the field names
 */
export function parseContact(input: ContactInput, errors: FieldErrorList, prefix = ''): ContactFields {
  const fields: Record<string, unknown> = {};
  for (const column of FIELD_COLUMNS) {
    const { name, maxLength }: Field & { readonly name: FieldName } = FIELDS[column];
    const value = maxLength === undefined ? undefined : input[name];
    if (maxLength === undefined || value === undefined) continue;
    const text = typeof value === 'string' ? value.trim() : '';
    if (isLonger(text, maxLength)) errors.add(prefix + name, `May have at most ${maxLength} characters.`, 'TOO_LONG');
    else if (!isStorable(text)) errors.add(prefix + name, UNSTORABLE);
    else if (column === 'email' && text !== '' && !EMAIL.safeParse(text).success)
      errors.add(`${prefix}email`, 'Must be an e-mail address.');
    // Names are never null, because lists are sorted by them.
    else if (column === 'firstname' || column === 'lastname') fields[column] = text;
    else fields[column] = text === '' ? null : text;
  }
  if (input.phone != null) {
    const phone = phoneOf(input.phone);
    if (phone) Object.assign(fields, { phone: phone.e164, phone_key: phone.key });
    else errors.add(`${prefix}phone`, PHONE_ERROR);
  } else if (input.phone === null) errors.add(`${prefix}phone`, 'Is required.', 'REQUIRED');
  if (input.type != null) fields['type'] = input.type;
  if (input.country !== undefined) {
    const country = input.country?.trim() ? countryByCode(input.country) : null;
    if (country === undefined)
      errors.add(`${prefix}country`, 'Must be a country by ISO 3166-1 code, for example DE or 276.');
    fields['country_id'] = country?.id ?? null;
  }
  if (input.timeZone !== undefined) {
    const zone = input.timeZone?.trim() || null;
    if (zone !== null && !isTimeZone(zone))
      errors.add(`${prefix}timeZone`, 'Must be a name of the IANA time zone database, for example Europe/Berlin.');
    fields['time_zone'] = zone;
  }
  return fields;
}

export const PHONE_ERROR = 'Must be a phone number in international format, for example +49 151 23456789.';

export const PHONE_TAKEN = 'Another contact has this phone number.';
export const EMAIL_TAKEN = 'Another contact has this e-mail address.';

export const phoneOf = (input: string): Phone | undefined => parsePhone(input);

/** The name, else the phone number, else the id. */
export const displayName = (contact: Pick<PublicContact, 'id' | 'firstname' | 'lastname' | 'phone'>): string =>
  fullName(contact) || (contact.phone ?? `Contact ${contact.id}`);

/** First and last name; empty if the contact has neither. */
export const fullName = (contact: Pick<PublicContact, 'firstname' | 'lastname'>): string =>
  `${contact.firstname} ${contact.lastname}`.trim();
