import { z } from 'zod';
import { type Changes, rowId } from '../openapi/schema.ts';
import { alias, choice, country, dropUndefined, id, ids, text } from '../runtime/fields.ts';
import type { ListFields } from '../runtime/query.ts';
import type {
  ContactDetailsInput,
  ContactFilter,
  ContactOrderField,
  ContactRowFragment,
  ContactType,
} from './documents.generated.ts';
import type { WriteTime } from './values.ts';

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

/** A contact on the wire, in the order of the contract. Fields that were not read are undefined, and so not written. */
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
  service_window: contact.service_window && {
    open: contact.service_window.open,
    expires_at: time(contact.service_window.expires_at),
  },
  groups: contact.groups?.map(group => labelRow(group, time)),
  source: contact.source && labelRow(contact.source, time),
  status: contact.status && labelRow(contact.status, time),
});

/** Fields of a contact that differ from the document's selection. */
export const CONTACT_CHANGES: Changes = {
  with: {
    country_id: z
      .int()
      .nullable()
      .meta({ description: 'ISO 3166-1 numeric country code.', examples: [840] }),
    group_id: z.array(rowId('Id of a group.')).describe('The ids of the groups the contact is in.'),
  },
};

export const CONTACT_TYPES = { lead: 'LEAD', customer: 'CUSTOMER', guest: 'GUEST' } as const;

/** What contacts are filtered and sorted by. */
export const CONTACT_LIST: ListFields<ContactFilter, ContactOrderField> = {
  filters: {
    type: ['type', CONTACT_TYPES],
    status_id: ['statusId', 'id'],
    source_id: ['sourceId', 'id'],
    assigned_id: ['assigneeId', 'id'],
    group_id: ['groupId', 'id'],
    created_at: ['createdAt', 'time'],
    updated_at: ['updatedAt', 'time'],
  },
  sorts: {
    id: 'ID',
    firstname: 'FIRST_NAME',
    lastname: 'LAST_NAME',
    created_at: 'CREATED_AT',
    updated_at: 'UPDATED_AT',
  },
};

/** The fields of a contact in a body, without its phone number, country and groups. */
export const CONTACT_DETAILS = {
  firstname: alias(text({ maxLength: 255 }), 'first_name'),
  lastname: alias(text({ maxLength: 255 }), 'last_name'),
  type: choice(CONTACT_TYPES),
  email: text({ maxLength: 191 }),
  company: text({ maxLength: 255 }),
  description: text({ maxLength: 65_535 }),
  address: text({ maxLength: 500 }),
  city: text({ maxLength: 255 }),
  state: text({ maxLength: 255 }),
  zip: alias(text({ maxLength: 20 }), 'zip_code', 'postal_code'),
  source_id: id(),
  status_id: id(),
  assigned_id: alias(id(), 'assignee_id'),
};
export const COUNTRY_ID = { country_id: alias(country(), 'country') };
export const GROUP_IDS = { groups: alias(ids(), 'group_ids', 'group_id') };

type Details = Partial<Omit<z.output<z.ZodObject<typeof CONTACT_DETAILS>>, 'type'>> & {
  readonly type?: ContactType | null | undefined;
};

/** The fields of a contact in GraphQL's names. @param countryId has different names in bodies */
export const contactInput = (details: Details, countryId: number | null | undefined) =>
  dropUndefined({
    firstName: details.firstname,
    lastName: details.lastname,
    type: details.type,
    email: details.email,
    company: details.company,
    description: details.description,
    address: details.address,
    city: details.city,
    state: details.state,
    zip: details.zip,
    countryId,
    sourceId: details.source_id,
    statusId: details.status_id,
    assigneeId: details.assigned_id,
  }) satisfies ContactDetailsInput;
