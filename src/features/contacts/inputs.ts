import { builder, IDEMPOTENCY_KEY } from '../../schema/builder.ts';
import { DateTimeFilter, enumFilter, IDFilter, orderOf, StringFilter } from '../../schema/lists.ts';
import type { FieldName } from './contact.ts';
import { MAX_NAMES } from './labels/group-names.ts';

type InputFields = PothosSchemaTypes.InputFieldBuilder<typeof builder.$inferSchemaTypes, 'InputObject'>;

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
    countryId: t.int({ description: 'ISO 3166-1 numeric country code, for example 276.' }),
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

export const ContactDetailsInput = builder.inputType('ContactDetailsInput', {
  description: 'Details of a contact, apart from the phone number.',
  fields: t => ({ ...details(t), ...groups(t) }),
});

export const CreateContactInput = builder.inputType('CreateContactInput', {
  description: 'Values of a new contact.',
  fields: t => ({
    phone: t.string({ required: true, description: PHONE }),
    ...details(t),
    ...groups(t),
    ...groupNames(t),
    isOptedOut: t.boolean({ description: 'Whether the contact has opted out of messages.' }),
    ...key(t),
  }),
});

export const ReplaceContactInput = builder.inputType('ReplaceContactInput', {
  description: 'Complete values of a contact. Omitted fields become empty.',
  fields: t => ({
    phone: t.string({ required: true, description: PHONE }),
    ...details(t),
    firstName: t.string({ required: true, description: 'First name, at most 255 characters. Required.' }),
    type: t.field({ type: ContactTypeEnum, required: true, description: 'Relationship to the business.' }),
    ...groups(t),
    ...groupNames(t),
    isOptedOut: t.boolean({
      description: 'Whether the contact has opted out of messages. Unlike other fields it keeps its value if omitted.',
    }),
    ...key(t),
  }),
});

export const UpdateContactInput = builder.inputType('UpdateContactInput', {
  description: 'Changes to a contact. Omitted fields keep their values.',
  fields: t => ({
    phone: t.string({ description: PHONE }),
    ...details(t),
    ...groups(t),
    ...groupNames(t),
    isOptedOut: t.boolean({ description: 'Whether the contact has opted out of messages.' }),
    ...key(t),
  }),
});

export const CreateContactsItem = builder.inputType('CreateContactsItem', {
  description: 'Values of a new contact in a batch.',
  fields: t => ({ phone: t.string({ description: `${PHONE} Required.` }), ...details(t) }),
});

export const CreateContactsInput = builder.inputType('CreateContactsInput', {
  description: 'New contacts, created in one transaction.',
  fields: t => ({
    contacts: t.field({ type: [CreateContactsItem], required: true, description: '1 to 1,000 contacts.' }),
    continueOnError: t.boolean({
      defaultValue: true,
      description:
        'If true, valid rows are created although others have errors. If false, the first error rolls the whole batch back.',
    }),
    skipDuplicates: t.boolean({
      defaultValue: false,
      description: 'If true, a phone number that already exists is listed in `skipped` instead of `errors`.',
    }),
    ...key(t),
  }),
});

export const ContactFilter = builder.inputType('ContactFilter', {
  description: 'Conditions for contacts; all of them must hold.',
  fields: t => ({
    type: t.field({ type: enumFilter(ContactTypeEnum), description: 'Relationship to the business.' }),
    statusId: t.field({ type: IDFilter, description: "Id of the contact's status." }),
    sourceId: t.field({ type: IDFilter, description: "Id of the contact's source." }),
    assigneeId: t.field({ type: IDFilter, description: 'Id of the staff member to whom the contact is assigned.' }),
    groupId: t.field({ type: IDFilter, description: 'Id of a group that the contact is in.' }),
    phone: t.field({ type: StringFilter, description: 'Phone number in E.164 format.' }),
    email: t.field({ type: StringFilter, description: 'E-mail address of the contact.' }),
    optedOutAt: t.field({ type: DateTimeFilter, description: 'Time of the opt-out.' }),
    createdAt: t.field({ type: DateTimeFilter, description: 'Time of creation.' }),
    updatedAt: t.field({ type: DateTimeFilter, description: 'Time of the last change.' }),
  }),
});

export const ContactOrder = orderOf('Contact', 'contacts', {
  ID: { value: 'id', description: 'Order of creation.' },
  FIRST_NAME: { value: 'firstName', description: 'First name of the contact.' },
  LAST_NAME: { value: 'lastName', description: 'Last name of the contact.' },
  CREATED_AT: { value: 'createdAt', description: 'Time of creation.' },
  UPDATED_AT: { value: 'updatedAt', description: 'Time of the last change.' },
});
