import { builder, IDEMPOTENCY_KEY, type InputFields } from '../../schema/builder.ts';
import { CountryFilter } from '../../schema/countries.ts';
import {
  BooleanFilter,
  DateTimeFilter,
  enumFilter,
  filterOf,
  IDFilter,
  orderOf,
  StringFilter,
} from '../../schema/lists.ts';
import { ConsentFilter } from './consent/enums.ts';
import type { FieldName } from './contact.ts';
import { MAX_NAMES } from './labels/group-names.ts';

export const ContactTypeEnum = builder.enumType('ContactType', {
  description: 'Relationship of a contact to the business.',
  values: {
    LEAD: { value: 'lead', description: 'A potential customer. Default for new contacts.' },
    CUSTOMER: { value: 'customer', description: 'A person who has bought something.' },
    GUEST: { value: 'guest', description: 'A person who is neither a lead nor a customer.' },
  } as const,
});

export const PHONE = 'Phone number in international format. Stored as E.164; unique in the tenant.';

/** Fields of every contact input but the phone number; null empties a field. */
const details = (t: InputFields) =>
  ({
    firstName: t.string({ description: 'First name, at most 255 characters.' }),
    lastName: t.string({ description: 'Last name, at most 255 characters.' }),
    type: t.field({
      type: ContactTypeEnum,
      description: 'Relationship to the business. Default for a new contact: LEAD.',
    }),
    email: t.string({ description: 'E-mail address, at most 191 characters; unique in the tenant.' }),
    company: t.string({ description: 'Company name, at most 255 characters.' }),
    description: t.string({ description: 'Notes about the contact, at most 65,535 characters.' }),
    address: t.string({ description: 'Street and house number, at most 500 characters.' }),
    city: t.string({ description: 'City, at most 255 characters.' }),
    state: t.string({ description: 'State or province, at most 255 characters.' }),
    zip: t.string({ description: 'Postal code, at most 20 characters.' }),
    country: t.string({ description: 'ISO 3166-1 code of the country: `DE`, `DEU` or `276`.' }),
    timeZone: t.string({
      description:
        'Name of the IANA time zone database, for example `Europe/Berlin`. Default for local times: the zones of the country of the phone number.',
    }),
    sourceId: t.id({
      description: "Global id or databaseId of the source. Default for a new contact: the tenant's default source.",
    }),
    statusId: t.id({
      description: "Global id or databaseId of the status. Default for a new contact: the tenant's default status.",
    }),
    assigneeId: t.id({ description: 'Global id or databaseId of the staff member to whom the contact is assigned.' }),
  }) satisfies Record<Exclude<FieldName, 'phone'>, unknown>;

const groups = (t: InputFields) => ({
  groupIds: t.idList({ description: "Ids of the contact's groups; they replace all present groups." }),
});
const groupNames = (t: InputFields) => ({
  groupNames: t.stringList({
    description: `Names of groups to add the contact to, ignoring case; missing groups are created. At most ${MAX_NAMES} names.`,
  }),
});
const key = (t: InputFields) => ({ idempotencyKey: t.string({ description: IDEMPOTENCY_KEY }) });
const contactId = (t: InputFields) => t.id({ required: true, description: 'Global id or databaseId of the contact.' });
const unchangedSince = (t: InputFields) => ({
  unchangedSince: t.field({
    type: 'DateTime',
    description: 'The `updatedAt` that the caller has read. A contact that changed since is a CONFLICT.',
  }),
});

export const ContactDetailsInput = builder.inputType('ContactDetailsInput', {
  description: 'Details of a contact, apart from the phone number.',
  fields: t => ({ ...details(t), ...groups(t) }),
});

/** Fields of a contact that can be set at once: in a batch, and as the values that win in a merge. */
const writable = (t: InputFields) => ({
  ...details(t),
  ...groups(t),
  ...groupNames(t),
  isOptedOut: t.boolean({ description: 'Whether the contact has opted out of messages.' }),
});

export const ContactInput = builder.inputType('ContactInput', {
  description: 'Values of a contact.',
  fields: t => ({ phone: t.string({ description: `${PHONE} Required for a new contact.` }), ...writable(t) }),
});

export const CreateContactInput = builder.inputType('CreateContactInput', {
  description: 'Values of a new contact.',
  fields: t => ({ phone: t.string({ required: true, description: PHONE }), ...writable(t), ...key(t) }),
});

export const ReplaceContactInput = builder.inputType('ReplaceContactInput', {
  description: 'Complete values of a contact. Omitted fields become empty.',
  fields: t => ({
    id: contactId(t),
    phone: t.string({ required: true, description: PHONE }),
    ...writable(t),
    firstName: t.string({ required: true, description: 'First name, at most 255 characters. Required.' }),
    type: t.field({ type: ContactTypeEnum, required: true, description: 'Relationship to the business.' }),
    isOptedOut: t.boolean({
      description: 'Whether the contact has opted out of messages. Unlike other fields it keeps its value if omitted.',
    }),
    ...unchangedSince(t),
    ...key(t),
  }),
});

export const UpdateContactInput = builder.inputType('UpdateContactInput', {
  description: 'Changes to a contact. Omitted fields keep their values, null empties a field.',
  fields: t => ({
    id: contactId(t),
    phone: t.string({ description: PHONE }),
    ...writable(t),
    ...unchangedSince(t),
    ...key(t),
  }),
});

export const DeleteContactInput = builder.inputType('DeleteContactInput', {
  description: 'The contact to delete.',
  fields: t => ({ id: contactId(t), ...unchangedSince(t), ...key(t) }),
});

export const ContactIdentifierInput = builder.inputType('ContactIdentifierInput', {
  description: 'One identifier of a contact.',
  isOneOf: true,
  fields: t => ({
    id: t.id({ description: 'Global id or databaseId.' }),
    phone: t.string({ description: 'Phone number in international format.' }),
    email: t.string({ description: 'E-mail address, ignoring case.' }),
    userId: t.string({ description: 'Business-scoped user id of the network, such as `BR.1234`.' }),
  }),
});

export const ContactFilter = filterOf('Contact', 'contacts', t => ({
  id: t.field({ type: IDFilter, description: 'Id of the contact. The id of a merged contact finds nothing.' }),
  type: t.field({ type: enumFilter(ContactTypeEnum), description: 'Relationship to the business.' }),
  phone: t.field({ type: StringFilter, description: 'Phone number in E.164 format.' }),
  email: t.field({ type: StringFilter, description: 'E-mail address of the contact.' }),
  company: t.field({ type: StringFilter, description: 'Company name.' }),
  country: t.field({ type: CountryFilter, description: 'Country of the contact.' }),
  timeZone: t.field({ type: StringFilter, description: 'Time zone of the contact, as it was given.' }),
  sourceId: t.field({ type: IDFilter, description: "Id of the contact's source." }),
  statusId: t.field({ type: IDFilter, description: "Id of the contact's status." }),
  assigneeId: t.field({ type: IDFilter, description: 'Id of the staff member to whom the contact is assigned.' }),
  groupId: t.field({ type: IDFilter, description: 'Id of a group that the contact is in.' }),
  isOptedOut: t.field({ type: BooleanFilter, description: 'Whether the contact has opted out of messages.' }),
  optedOutAt: t.field({ type: DateTimeFilter, description: 'Time of the opt-out.' }),
  consent: t.field({
    type: ConsentFilter,
    description: 'Consent of the contact to messages of a category; null if none was recorded.',
  }),
  lastMessageAt: t.field({
    type: DateTimeFilter,
    description: 'Time of the last message to or from the contact; null if there is none.',
  }),
  createdAt: t.field({ type: DateTimeFilter, description: 'Time of creation.' }),
  updatedAt: t.field({ type: DateTimeFilter, description: 'Time of the last change.' }),
}));

export const ContactOrder = orderOf('Contact', 'contacts', {
  ID: { value: 'id', description: 'Order of creation.' },
  FIRST_NAME: { value: 'firstName', description: 'First name of the contact.' },
  LAST_NAME: { value: 'lastName', description: 'Last name of the contact.' },
  CREATED_AT: { value: 'createdAt', description: 'Time of creation.' },
  UPDATED_AT: { value: 'updatedAt', description: 'Time of the last change.' },
});
