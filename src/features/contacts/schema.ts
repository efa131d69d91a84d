import { builder } from '../../builder.ts';
import { invalid, notFound } from '../../errors.ts';
import { inputId, numericId } from '../../global-ids.ts';
import { selectionOf } from '../../graphql/selection.ts';
import { tenantOf } from '../caller.ts';
import { countryOf } from '../countries/country.ts';
import { CountryType } from '../countries/schema.ts';
import { Group, Source, Status } from '../labels/schema.ts';
import { connectionOf, listArgs } from '../lists/schema.ts';
import { StaffMember } from '../staff/schema.ts';
import { type ContactRow, fullName } from './contact.ts';
import { createContact } from './create.ts';
import { type CreateContactsResult, createContacts } from './create-many.ts';
import {
  ContactFilter,
  ContactOrder,
  ContactTypeEnum,
  CreateContactInput,
  CreateContactsInput,
  ReplaceContactInput,
  UpdateContactInput,
} from './inputs.ts';
import { contactPage } from './list.ts';
import { type RemovedContacts, removeContact, removeContacts } from './remove.ts';
import { replaceContact } from './replace.ts';
import { getContacts } from './store.ts';
import { changeContact } from './update.ts';

export const Contact = builder.objectRef<ContactRow>('Contact');

/** Names are stored as empty text, so that they can be sorted by; nobody else need know. */
const orNull = (text: string): string | null => (text === '' ? null : text);

builder.node(Contact, {
  name: 'Contact',
  description: 'A person whom the business messages.',
  id: { resolve: contact => contact.id },
  brandLoadedObjects: true,
  loadMany: async (ids, context) => {
    if (!context.principal?.scopes.has('contacts:read')) return ids.map(() => undefined);
    const rows = await getContacts(context.db.read, tenantOf(context), ids.map(Number).filter(Number.isSafeInteger));
    return ids.map(id => rows.find(row => row.id === Number(id)));
  },
  fields: t => ({
    databaseId: t.field({
      type: 'BigInt',
      description: 'The number that REST knows it by.',
      resolve: contact => contact.id,
    }),
    firstName: t.string({
      nullable: true,
      description: 'The first name.',
      resolve: contact => orNull(contact.firstname),
    }),
    lastName: t.string({ nullable: true, description: 'The last name.', resolve: contact => orNull(contact.lastname) }),
    fullName: t.string({
      nullable: true,
      description: 'First and last name.',
      resolve: contact => orNull(fullName(contact)),
    }),
    company: t.exposeString('company', { nullable: true, description: 'The company.' }),
    type: t.field({
      type: ContactTypeEnum,
      description: 'What the contact is to the business.',
      resolve: contact => contact.type,
    }),
    email: t.exposeString('email', { nullable: true, description: 'The e-mail address.' }),
    phone: t.exposeString('phone', {
      nullable: true,
      description: 'E.164; null for a person whom the network shows only by a user id.',
    }),
    description: t.exposeString('description', { nullable: true, description: 'Notes.' }),
    address: t.exposeString('address', { nullable: true, description: 'Street and number.' }),
    city: t.exposeString('city', { nullable: true, description: 'The city.' }),
    state: t.exposeString('state', { nullable: true, description: 'The state or province.' }),
    zip: t.exposeString('zip', { nullable: true, description: 'The postal code.' }),
    country: t.field({
      type: CountryType,
      nullable: true,
      description: 'The country.',
      resolve: contact => (contact.country_id === null ? null : (countryOf(contact.country_id) ?? null)),
    }),
    isOptedOut: t.boolean({
      description: 'Whether the person asked not to be messaged.',
      resolve: contact => contact.opted_out_at !== null,
    }),
    optedOutAt: t.expose('opted_out_at', {
      type: 'DateTime',
      nullable: true,
      description: 'When the person asked not to be messaged.',
    }),
    createdAt: t.expose('created_at', { type: 'DateTime', description: 'When it was made.' }),
    updatedAt: t.expose('updated_at', { type: 'DateTime', description: 'When it was last changed.' }),
    sourceId: t.field({
      type: 'BigInt',
      nullable: true,
      description: 'The databaseId of the source.',
      resolve: contact => contact.source_id,
    }),
    statusId: t.field({
      type: 'BigInt',
      nullable: true,
      description: 'The databaseId of the status.',
      resolve: contact => contact.status_id,
    }),
    assigneeId: t.field({
      type: 'BigInt',
      nullable: true,
      description: 'The databaseId of the staff member.',
      resolve: contact => contact.assigned_id,
    }),
    // What a list has read along is there; what it has not is loaded, once for all rows.
    source: t.field({
      type: Source,
      nullable: true,
      description: 'Where the contact came from.',
      resolve: (contact, _args, { loaders }) =>
        contact.source !== undefined
          ? contact.source
          : contact.source_id === null
            ? null
            : loaders.source.load(contact.source_id),
    }),
    status: t.field({
      type: Status,
      nullable: true,
      description: 'How far the contact has come.',
      resolve: (contact, _args, { loaders }) =>
        contact.status !== undefined
          ? contact.status
          : contact.status_id === null
            ? null
            : loaders.status.load(contact.status_id),
    }),
    assignee: t.field({
      type: StaffMember,
      nullable: true,
      description: 'Who looks after the contact.',
      resolve: (contact, _args, { loaders }) =>
        contact.assignee !== undefined
          ? contact.assignee
          : contact.assigned_id === null
            ? null
            : loaders.staff.load(contact.assigned_id),
    }),
    groups: t.field({
      type: [Group],
      description: 'The groups the contact is in, by name.',
      resolve: (contact, _args, { loaders }) =>
        contact.groups ? [...contact.groups] : loaders.groupsOf.load(contact.id),
    }),
  }),
});

builder.queryFields(t => ({
  contacts: t.field({
    type: connectionOf('Contact', Contact),
    description:
      'The contacts of the tenant, newest first where no order is asked for. The search looks into names, e-mail address, phone and company.',
    authScopes: { scope: 'contacts:read' },
    args: {
      ...listArgs(ContactFilter, ContactOrder),
    },
    resolve: (_root, args, context, info) => contactPage(context, args, selectionOf(info)),
  }),
  contact: t.field({
    type: Contact,
    nullable: true,
    description: 'One contact, by global id or databaseId.',
    authScopes: { scope: 'contacts:read' },
    args: { id: t.arg.id({ required: true, description: 'Its global id or databaseId.' }) },
    resolve: async (_root, { id }, context) => {
      const [contact] = await getContacts(context.db.read, tenantOf(context), [numericId('Contact', id)]);
      if (!contact) throw notFound('Contact');
      return contact;
    },
  }),
}));

const SkippedRow = builder.objectRef<CreateContactsResult['skipped'][number]>('SkippedRow').implement({
  description: 'A row of a batch that was passed over.',
  fields: t => ({
    index: t.exposeInt('index', { description: 'Which row, counted from 0.' }),
    reason: t.exposeString('reason', { description: 'Why.' }),
  }),
});

const RowErrors = builder.objectRef<CreateContactsResult['errors'][number]>('RowErrors').implement({
  description: 'What was wrong with a row of a batch.',
  fields: t => ({
    index: t.exposeInt('index', { description: 'Which row, counted from 0.' }),
    errors: t.field({ type: 'JSON', description: 'Messages by field.', resolve: row => row.errors }),
  }),
});

const CreateContactsResultType = builder.objectRef<CreateContactsResult>('CreateContactsResult').implement({
  description: 'What a batch of new contacts came to.',
  fields: t => ({
    success: t.exposeBoolean('success', { description: 'False when an error undid everything.' }),
    total: t.exposeInt('total', { description: 'How many rows the batch had.' }),
    created: t.field({ type: [Contact], description: 'What was made.', resolve: result => [...result.created] }),
    skipped: t.field({
      type: [SkippedRow],
      description: 'Duplicates that were passed over.',
      resolve: result => [...result.skipped],
    }),
    errors: t.field({
      type: [RowErrors],
      description: 'Rows that were not made, and why.',
      resolve: result => [...result.errors],
    }),
  }),
});

const DeleteContactsResult = builder.objectRef<RemovedContacts>('DeleteContactsResult').implement({
  description: 'What the removal of several contacts came to.',
  fields: t => ({
    deletedIds: t.field({
      type: ['BigInt'],
      description: 'Database ids of what was removed.',
      resolve: result => result.deleted.map(contact => contact.id),
    }),
    notFoundIds: t.field({
      type: ['BigInt'],
      description: 'Database ids that do not exist.',
      resolve: result => [...result.notFoundIds],
    }),
  }),
});

builder.mutationFields(t => ({
  createContact: t.field({
    type: Contact,
    description: 'Makes a contact. Only the phone number is required.',
    authScopes: { scope: 'contacts:write' },
    args: { input: t.arg({ type: CreateContactInput, required: true, description: 'What it is to be.' }) },
    resolve: (_root, { input }, context) => createContact(context, input),
  }),
  updateContact: t.field({
    type: Contact,
    description: 'Changes a contact.',
    authScopes: { scope: 'contacts:write' },
    args: {
      id: t.arg.id({ required: true, description: 'Its global id or databaseId.' }),
      input: t.arg({
        type: UpdateContactInput,
        required: true,
        description: 'What to change; what is left out stays.',
      }),
    },
    resolve: (_root, { id, input }, context) => changeContact(context, numericId('Contact', id), input),
  }),
  replaceContact: t.field({
    type: Contact,
    description:
      "Makes a contact what is given, and nothing else: what is left out becomes empty, its source and status the tenant's defaults.",
    authScopes: { scope: 'contacts:write' },
    args: {
      id: t.arg.id({ required: true, description: 'Its global id or databaseId.' }),
      input: t.arg({ type: ReplaceContactInput, required: true, description: 'All that it is to be.' }),
    },
    resolve: (_root, { id, input }, context) => replaceContact(context, numericId('Contact', id), input),
  }),
  deleteContact: t.field({
    type: Contact,
    description:
      'Removes a contact with its conversations and messages; what waits to be sent is not sent. Answers what it was.',
    authScopes: { scope: 'contacts:delete' },
    args: { id: t.arg.id({ required: true, description: 'Its global id or databaseId.' }) },
    resolve: (_root, { id }, context) => removeContact(context, numericId('Contact', id)),
  }),
  createContacts: t.field({
    type: CreateContactsResultType,
    description:
      'Makes up to 1,000 contacts in one transaction. A duplicate is a phone number that the tenant has, or that stands earlier in the batch.',
    authScopes: { scope: 'contacts:write' },
    args: {
      input: t.arg({
        type: CreateContactsInput,
        required: true,
        description: 'The contacts, and what becomes of faults.',
      }),
    },
    resolve: (_root, { input }, context) => createContacts(context, input),
  }),
  deleteContacts: t.field({
    type: DeleteContactsResult,
    description: 'Removes up to 1,000 contacts in one transaction, as deleteContact does.',
    authScopes: { scope: 'contacts:delete' },
    args: { ids: t.arg.idList({ required: true, description: 'Their global ids or databaseIds.' }) },
    resolve: (_root, { ids }, context) => {
      if (ids.length > 1_000) throw invalid({ ids: ['Takes 1 to 1000 ids.'] });
      return removeContacts(
        context,
        ids.map(id => inputId('Contact', String(id), 'ids')),
      );
    },
  }),
}));
