import { z } from 'zod';
import type { FieldErrorList } from '../../errors.ts';
import { type Phone, parsePhone } from '../../platform/phone.ts';
import { isLonger, isStorable } from '../../platform/text.ts';
import { countryOf } from '../countries/country.ts';
import type { LabelRow } from '../labels/label.ts';
import type { StaffRow } from '../staff/staff-member.ts';

export type ContactType = 'lead' | 'customer' | 'guest';

/** A contact as events and webhooks carry it: the names of the REST contract. */
export interface PublicContact {
  readonly id: number;
  readonly firstname: string;
  readonly lastname: string;
  readonly company: string | null;
  readonly type: ContactType;
  readonly email: string | null;
  readonly phone: string | null;
  readonly description: string | null;
  readonly address: string | null;
  readonly city: string | null;
  readonly state: string | null;
  readonly zip: string | null;
  readonly country_id: number | null;
  readonly source_id: number | null;
  readonly status_id: number | null;
  readonly assigned_id: number | null;
  readonly opted_out_at: string | null;
  readonly created_at: string;
  readonly updated_at: string;
}

/** A row as a query gives it. A list reads only the columns that were selected, and what belongs to them nested in JSON. */
export interface ContactRow extends PublicContact {
  readonly source?: LabelRow | null;
  readonly status?: LabelRow | null;
  readonly assignee?: StaffRow | null;
  readonly groups?: readonly LabelRow[];
  readonly window_expires_at?: string | null;
}

/** The columns of a contact in the order of their table. */
export const CONTACT_COLUMNS = [
  'id',
  'firstname',
  'lastname',
  'company',
  'type',
  'email',
  'phone',
  'description',
  'address',
  'city',
  'state',
  'zip',
  'country_id',
  'source_id',
  'status_id',
  'assigned_id',
  'opted_out_at',
  'created_at',
  'updated_at',
] as const satisfies readonly (keyof PublicContact)[];

/** What a caller may say about a contact, in GraphQL's names; undefined: not said, null: none. */
export interface ContactInput {
  readonly firstName?: string | null | undefined;
  readonly lastName?: string | null | undefined;
  readonly phone?: string | null | undefined;
  readonly type?: ContactType | null | undefined;
  readonly email?: string | null | undefined;
  readonly company?: string | null | undefined;
  readonly description?: string | null | undefined;
  readonly address?: string | null | undefined;
  readonly city?: string | null | undefined;
  readonly state?: string | null | undefined;
  readonly zip?: string | null | undefined;
  readonly countryId?: number | null | undefined;
  readonly sourceId?: string | null | undefined;
  readonly statusId?: string | null | undefined;
  readonly assigneeId?: string | null | undefined;
  readonly groupIds?: readonly string[] | null | undefined;
  /** Groups by name, made where they are missing. */
  readonly groupNames?: readonly string[] | null | undefined;
}

/** Values by column. What is not there stays as it is. */
export interface ContactFields {
  readonly firstname?: string;
  readonly lastname?: string;
  readonly phone?: string;
  readonly phone_key?: string;
  readonly type?: ContactType;
  readonly email?: string | null;
  readonly company?: string | null;
  readonly description?: string | null;
  readonly address?: string | null;
  readonly city?: string | null;
  readonly state?: string | null;
  readonly zip?: string | null;
  readonly country_id?: number | null;
}

/** Lengths in characters, from the REST contract. */
const MAX_LENGTHS = {
  firstName: 255,
  lastName: 255,
  company: 255,
  email: 191,
  description: 65_535,
  address: 500,
  city: 255,
  state: 255,
  zip: 20,
} as const;

const EMAIL = z.email();

/**
 * Checks and normalises the plain fields; the ids of other rows are looked up by the caller.
 * Faults go to `errors`, with `prefix` before each field's name.
 */
export function parseContact(input: ContactInput, errors: FieldErrorList, prefix = ''): ContactFields {
  const fields: Record<string, unknown> = {};
  for (const [name, maximum] of Object.entries(MAX_LENGTHS)) {
    const value = input[name as keyof typeof MAX_LENGTHS];
    if (value === undefined) continue;
    const text = value?.trim() ?? '';
    if (isLonger(text, maximum)) errors.add(prefix + name, `May have at most ${maximum} characters.`);
    else if (!isStorable(text))
      errors.add(prefix + name, 'May hold neither the character U+0000 nor half a surrogate pair.');
    else if (name === 'email' && text !== '' && !EMAIL.safeParse(text).success)
      errors.add(`${prefix}email`, 'Must be an e-mail address.');
    // Names are sorted by, so they are never null; everything else that is empty is not there.
    else if (name === 'firstName' || name === 'lastName') fields[name.toLowerCase()] = text;
    else fields[name] = text === '' ? null : text;
  }
  if (input.phone != null) {
    const phone = phoneOf(input.phone);
    if (phone) Object.assign(fields, { phone: phone.e164, phone_key: phone.key });
    else errors.add(`${prefix}phone`, PHONE_FAULT);
  } else if (input.phone === null) errors.add(`${prefix}phone`, 'Is required.');
  if (input.type != null) fields['type'] = input.type;
  if (input.countryId !== undefined) {
    if (input.countryId !== null && !countryOf(input.countryId))
      errors.add(`${prefix}countryId`, 'Must be a country by ISO 3166-1 numeric code, for example 276.');
    fields['country_id'] = input.countryId;
  }
  return fields;
}

export const PHONE_FAULT = 'Must be a phone number in international format, for example +49 151 23456789.';

export const phoneOf = (input: string): Phone | undefined => parsePhone(input);

/** First and last name, as people say it; empty when there is neither. */
export const fullName = (contact: Pick<PublicContact, 'firstname' | 'lastname'>): string =>
  `${contact.firstname} ${contact.lastname}`.trim();
