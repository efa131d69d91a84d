import { z } from 'zod';
import { decodeGlobalId } from '../../core/global-ids.ts';
import { rowId, type SchemaOverrides } from '../openapi/schema.ts';
import { alias, choice, country, dropUndefined, id, ids, text } from '../runtime/fields.ts';
import type { ListFields } from '../runtime/query.ts';
import type {
  ContactDetailsInput,
  ContactFilter,
  ContactOrderField,
  ContactRowFragment,
  ContactType,
  GetContactQuery,
} from './documents.generated.ts';
import { labelRow } from './labels.ts';
import { camelKeys, type WireName } from './names.ts';
import { rowKey, type WriteTime } from './values.ts';

/** The fields that can be written, by their names in a body. */
type Written = WireName<keyof ContactDetailsInput>;

/**
 * A contact in REST. Fields that were not read stay undefined, which JSON omits. It does not compile if `ContactRow` in
 * contacts.graphql lacks a field that can be written.
 */
export const contactRowBy = (time: WriteTime) => (contact: ContactRowFragment & Pick<ContactRowFragment, Written>) => ({
  ...contact,
  id: rowKey(contact.id),
  type: contact.type?.toLowerCase(),
  status_id: keyOf(contact.status_id),
  source_id: keyOf(contact.source_id),
  country_id: contact.country_id === null ? null : contact.country_id?.id,
  assigned_id: keyOf(contact.assigned_id),
  group_id: contact.group_id?.map(group => Number(group.id)),
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

/** The key of a related row; null without one, undefined if it was not read. */
const keyOf = (related: { readonly id: string | number } | null | undefined): number | null | undefined =>
  related && Number(related.id);

/** When the contact that GET has read was last changed. */
export const contactReadAt = (data: unknown): string | undefined =>
  (data as GetContactQuery).contact?.updated_at ?? undefined;

/** The id in REST of the contact that a deletion returned. */
export const deletedKey = (globalId: string | null | undefined): number | undefined =>
  globalId == null ? undefined : Number(decodeGlobalId(globalId)?.id);

/** Fields of a contact that differ from the document's selection. */
export const CONTACT_OVERRIDES: SchemaOverrides = {
  with: {
    status_id: rowId('Id of the status.').nullable(),
    source_id: rowId('Id of the source.').nullable(),
    assigned_id: rowId('Id of the staff member to whom the contact is assigned.').nullable(),
    country_id: z
      .int()
      .nullable()
      .meta({ description: 'ISO 3166-1 numeric country code.', examples: [840] }),
    group_id: z.array(rowId('Id of a group.')).describe('The ids of the groups the contact is in.'),
  },
};

export const DELETED_CONTACT = z.object({ id: rowId('Id of the deleted contact.') });

const CONTACT_TYPES = { lead: 'LEAD', customer: 'CUSTOMER', guest: 'GUEST' } as const;

/** Filter and sort fields of contacts. */
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

/** The fields of a contact in a body, except its phone number, country and groups. It does not compile if one is missing. */
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
  time_zone: text({ maxLength: 64 }),
  source_id: id(),
  status_id: id(),
  assigned_id: alias(id(), 'assignee_id'),
} satisfies Record<Exclude<Written, 'country_id' | 'groups'>, z.ZodType>;
export const COUNTRY_ID = { country_id: alias(country(), 'country') };
export const GROUP_IDS = { groups: alias(ids(), 'group_ids', 'group_id') };

type Details = Partial<Omit<z.output<z.ZodObject<typeof CONTACT_DETAILS>>, 'type'>> & {
  readonly type?: ContactType | null | undefined;
};

/** The fields of a contact in GraphQL's names. @param countryId has different names in bodies */
export const contactInput = (
  { firstname, lastname, assigned_id, ...details }: Details,
  countryId: number | null | undefined,
): ContactDetailsInput =>
  dropUndefined({
    firstName: firstname,
    lastName: lastname,
    assigneeId: assigned_id,
    country: countryId == null ? countryId : String(countryId),
    ...camelKeys(details),
  });
