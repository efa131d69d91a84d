import type { Body } from '../body.ts';
import { said } from '../body.ts';
import type { ContactDetailsInput, ContactRowFragment, ContactType } from '../documents.generated.ts';
import { type Changes, id, integer, list, nullable } from '../openapi/shape.ts';
import { time, type WriteTime } from '../wire-time.ts';

interface Label {
  readonly id: number;
  readonly name: string;
  readonly color?: string;
  readonly created_at: string;
  readonly updated_at: string;
}

const labelRow = ({ id, name, color, created_at, updated_at }: Label, time: WriteTime) => ({
  id,
  name,
  color,
  created_at: time(created_at),
  updated_at: time(updated_at),
});

const windowRow = ({ open, expires_at }: NonNullable<ContactRowFragment['service_window']>, time: WriteTime) => ({
  open,
  expires_at: time(expires_at),
});

/** A contact on the wire, in the order of the contract. What was not read is undefined, and so not written. */
export const contactRowBy = (time: WriteTime) => (contact: ContactRowFragment) => ({
  id: contact.id,
  firstname: contact.firstname,
  lastname: contact.lastname,
  company: contact.company,
  type: contact.type?.toLowerCase(),
  email: contact.email,
  phone: contact.phone,
  status_id: contact.status_id,
  source_id: contact.source_id,
  description: contact.description,
  city: contact.city,
  state: contact.state,
  zip: contact.zip,
  address: contact.address,
  country_id: contact.country_id === null ? null : contact.country_id?.id,
  assigned_id: contact.assigned_id,
  group_id: contact.group_id?.map(group => group.id),
  is_opted_out: contact.is_opted_out,
  created_at: time(contact.created_at),
  updated_at: time(contact.updated_at),
  service_window: contact.service_window && windowRow(contact.service_window, time),
  groups: contact.groups?.map(group => labelRow(group, time)),
  source: contact.source && labelRow(contact.source, time),
  status: contact.status && labelRow(contact.status, time),
});

export const contactRow = contactRowBy(time);

/** How a contact on the wire differs from what is selected. */
export const CONTACT: Changes = {
  with: {
    country_id: nullable(integer('The country by ISO 3166-1 numeric.', { example: 840 })),
    group_id: list(id('A group.'), 'The ids of the groups the contact is in.'),
  },
};

export const TYPES = { lead: 'LEAD', customer: 'CUSTOMER', guest: 'GUEST' } as const;

/**
 * What a body says about a contact beside its phone number and groups.
 * @param country the field's name here: a send calls it `country`; faults stand under it, and either name is read
 */
export const contactDetails = (
  body: Body,
  country: 'country_id' | 'country' = 'country_id',
  types: Readonly<Record<string, ContactType>> = TYPES,
) =>
  said({
    firstName: body.text('firstname', 'first_name'),
    lastName: body.text('lastname', 'last_name'),
    type: body.choice(types, 'type'),
    email: body.text('email'),
    company: body.text('company'),
    description: body.text('description'),
    address: body.text('address'),
    city: body.text('city'),
    state: body.text('state'),
    zip: body.text('zip', 'zip_code', 'postal_code'),
    countryId: body.country(country, 'country_id', 'country'),
    sourceId: body.id('source_id'),
    statusId: body.id('status_id'),
    assigneeId: body.id('assigned_id', 'assignee_id'),
  }) satisfies ContactDetailsInput;

export const contactGroups = (body: Body) => said({ groupIds: body.ids('groups', 'group_ids', 'group_id') });
