import { builder } from '../../builder.ts';
import { MAX_NAMES } from '../labels/group-names.ts';
import { DateTimeFilter, enumFilter, IDFilter, orderOf, StringFilter } from '../lists/schema.ts';

/** The inputs that name a contact's fields. */

type InputFields = PothosSchemaTypes.InputFieldBuilder<typeof builder.$inferSchemaTypes, 'InputObject'>;

export const ContactTypeEnum = builder.enumType('ContactType', {
  description: 'What a contact is to the business.',
  values: {
    LEAD: { value: 'lead', description: 'May become a customer.' },
    CUSTOMER: { value: 'customer', description: 'Has bought.' },
    GUEST: { value: 'guest', description: 'Neither of these.' },
  } as const,
});

export const KEY = 'Makes a repeated request the same one for 24 hours (at most 255 characters).';
export const PHONE = 'In international format; stored as E.164, unique in the tenant.';

/** What every input about a contact may say; null takes a value away. */
const details = (t: InputFields) => ({
  firstName: t.string({ description: 'At most 255 characters.' }),
  lastName: t.string({ description: 'At most 255 characters.' }),
  type: t.field({
    type: ContactTypeEnum,
    description: 'What it is to the business. A new contact is a LEAD when nothing is said.',
  }),
  email: t.string({ description: 'At most 191 characters, unique in the tenant.' }),
  company: t.string({ description: 'At most 255 characters.' }),
  description: t.string({ description: 'At most 65,535 characters.' }),
  address: t.string({ description: 'At most 500 characters.' }),
  city: t.string({ description: 'At most 255 characters.' }),
  state: t.string({ description: 'At most 255 characters.' }),
  zip: t.string({ description: 'At most 20 characters.' }),
  countryId: t.int({ description: 'ISO 3166-1 numeric, for example 276.' }),
  sourceId: t.id({ description: "Where it came from. A new contact has the tenant's default when nothing is said." }),
  statusId: t.id({ description: "How far it has come. A new contact has the tenant's default when nothing is said." }),
  assigneeId: t.id({ description: 'A staff member.' }),
});

const groups = (t: InputFields) => ({ groupIds: t.idList({ description: 'Exactly the groups it is in.' }) });
const groupNames = (t: InputFields) => ({
  groupNames: t.stringList({
    description: `Groups it is in besides, by name whatever the case; those that are missing are made. At most ${MAX_NAMES} names.`,
  }),
});
const key = (t: InputFields) => ({ idempotencyKey: t.string({ description: KEY }) });

export const ContactDetailsInput = builder.inputType('ContactDetailsInput', {
  description: 'What is known of a person beside the phone number.',
  fields: t => ({ ...details(t), ...groups(t) }),
});

export const CreateContactInput = builder.inputType('CreateContactInput', {
  description: 'A new contact.',
  fields: t => ({
    phone: t.string({ required: true, description: PHONE }),
    ...details(t),
    ...groups(t),
    ...groupNames(t),
    isOptedOut: t.boolean({ description: 'Whether the person asked not to be messaged.' }),
    ...key(t),
  }),
});

export const ReplaceContactInput = builder.inputType('ReplaceContactInput', {
  description: 'All that a contact is to be.',
  fields: t => ({
    phone: t.string({ required: true, description: PHONE }),
    ...details(t),
    firstName: t.string({ required: true, description: 'At most 255 characters.' }),
    type: t.field({ type: ContactTypeEnum, required: true, description: 'What it is to the business.' }),
    ...groups(t),
    ...groupNames(t),
    isOptedOut: t.boolean({
      description:
        'Whether the person asked not to be messaged. That is the wish of the person: it stays where nothing is said.',
    }),
    ...key(t),
  }),
});

export const UpdateContactInput = builder.inputType('UpdateContactInput', {
  description: 'What to change of a contact; what is not given stays.',
  fields: t => ({
    phone: t.string({ description: PHONE }),
    ...details(t),
    ...groups(t),
    ...groupNames(t),
    isOptedOut: t.boolean({ description: 'Whether the person asked not to be messaged.' }),
    ...key(t),
  }),
});

export const CreateContactsItem = builder.inputType('CreateContactsItem', {
  description: 'A new contact in a batch.',
  fields: t => ({ phone: t.string({ description: `Required. ${PHONE}` }), ...details(t) }),
});

export const CreateContactsInput = builder.inputType('CreateContactsInput', {
  description: 'New contacts, made in one transaction.',
  fields: t => ({
    contacts: t.field({ type: [CreateContactsItem], required: true, description: '1 to 1,000 contacts.' }),
    continueOnError: t.boolean({
      defaultValue: true,
      description: 'Keep the good rows (true), or undo everything at the first error (false).',
    }),
    skipDuplicates: t.boolean({
      defaultValue: false,
      description: 'Pass over a phone number that is there already instead of reporting it.',
    }),
    ...key(t),
  }),
});

export const ContactFilter = builder.inputType('ContactFilter', {
  description: 'Which contacts a list shows. All conditions have to hold.',
  fields: t => ({
    type: t.field({ type: enumFilter(ContactTypeEnum), description: 'By type.' }),
    statusId: t.field({ type: IDFilter, description: 'By status.' }),
    sourceId: t.field({ type: IDFilter, description: 'By source.' }),
    assigneeId: t.field({ type: IDFilter, description: 'By the staff member it is assigned to.' }),
    groupId: t.field({ type: IDFilter, description: 'By a group it is in.' }),
    phone: t.field({ type: StringFilter, description: 'By phone number (E.164).' }),
    email: t.field({ type: StringFilter, description: 'By e-mail address.' }),
    optedOutAt: t.field({ type: DateTimeFilter, description: 'By when it opted out.' }),
    createdAt: t.field({ type: DateTimeFilter, description: 'By when it was made.' }),
    updatedAt: t.field({ type: DateTimeFilter, description: 'By when it was last changed.' }),
  }),
});

export const ContactOrder = orderOf('Contact', 'contacts', {
  ID: { value: 'id', description: 'The order in which they were made.' },
  FIRST_NAME: { value: 'firstName', description: 'The first name.' },
  LAST_NAME: { value: 'lastName', description: 'The last name.' },
  CREATED_AT: { value: 'createdAt', description: 'When it was made.' },
  UPDATED_AT: { value: 'updatedAt', description: 'When it was last changed.' },
});
