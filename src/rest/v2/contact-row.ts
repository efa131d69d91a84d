import type { Body } from '../body.ts';
import { said } from '../body.ts';
import { rowFields, type Shown } from '../query.ts';
import { time } from '../wire-time.ts';
import type { ContactDetailsInput, ContactRowFragment } from './documents.generated.ts';

/** The fields of a contact in the order of the contract, and the objects that `include` adds. */
export const CONTACT_FIELDS = rowFields(
  [
    'id',
    'firstname',
    'lastname',
    'company',
    'type',
    'email',
    'phone',
    'status_id',
    'source_id',
    'description',
    'city',
    'state',
    'zip',
    'address',
    'country_id',
    'assigned_id',
    'group_id',
    'is_opted_out',
    'created_at',
    'updated_at',
    'service_window',
  ],
  ['groups', 'source', 'status'],
);

/** The conditions of the document: what is not shown is not read. */
export const contactConditions = (shown: Shown) => ({
  source: shown.shows('source'),
  status: shown.shows('status'),
  groups: shown.shows('groups'),
  groupId: shown.shows('groups') || shown.shows('group_id'),
  window: shown.shows('service_window'),
});

interface Label {
  readonly id: number;
  readonly name?: string;
  readonly color?: string;
  readonly created_at?: string;
  readonly updated_at?: string;
}

const labelRow = ({ id, name, color, created_at, updated_at }: Label) => ({
  id,
  name,
  color,
  created_at: time(created_at),
  updated_at: time(updated_at),
});

/** A contact on the wire. What was not read is undefined, and so not written. */
export function contactRow(contact: ContactRowFragment, shown: Shown): object {
  const { source, status, groups, service_window: window } = contact;
  return shown.pick({
    id: contact.id,
    firstname: contact.firstname,
    lastname: contact.lastname,
    company: contact.company,
    type: contact.type.toLowerCase(),
    email: contact.email,
    phone: contact.phone,
    status_id: contact.status_id,
    source_id: contact.source_id,
    description: contact.description,
    city: contact.city,
    state: contact.state,
    zip: contact.zip,
    address: contact.address,
    country_id: contact.country?.id ?? null,
    assigned_id: contact.assigned_id,
    group_id: groups?.map(group => group.id),
    is_opted_out: contact.is_opted_out,
    created_at: time(contact.created_at),
    updated_at: time(contact.updated_at),
    service_window: window && { open: window.open, expires_at: time(window.expires_at) },
    groups: shown.shows('groups') ? groups?.map(labelRow) : undefined,
    source: shown.shows('source') ? source && labelRow(source) : undefined,
    status: shown.shows('status') ? status && labelRow(status) : undefined,
  });
}

const TYPES = { lead: 'LEAD', customer: 'CUSTOMER', guest: 'GUEST' } as const;

/**
 * What a body says about a contact beside its phone number and groups.
 * @param country the field's name here: a send calls it `country`; faults stand under it, and either name is read
 */
export const contactDetails = (body: Body, country: 'country_id' | 'country' = 'country_id') =>
  said({
    firstName: body.text('firstname', 'first_name'),
    lastName: body.text('lastname', 'last_name'),
    type: body.choice(TYPES, 'type'),
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
