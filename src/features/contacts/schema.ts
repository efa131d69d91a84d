import { invalid, notFound } from '../../core/errors.ts';
import { inputId, numericId } from '../../core/global-ids.ts';
import { tenantOf } from '../../core/principal.ts';
import { builder } from '../../schema/builder.ts';
import { countryOf } from '../../schema/countries/country.ts';
import { CountryType } from '../../schema/countries/schema.ts';
import { connectionOf, listArgs } from '../../schema/lists.ts';
import { selectionOf } from '../../schema/selection.ts';
import { StaffMember, staffLoader } from '../tenancy/staff/schema.ts';
import { type ContactRow, type FieldName, fullName } from './contact.ts';
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
import { Group, Source, Status } from './labels/schema.ts';
import { contactPage } from './list.ts';
import { groupsOfLoader, sourceLoader, statusLoader } from './loaders.ts';
import { type RemovedContacts, removeContact, removeContacts } from './remove.ts';
import { findContacts } from './store.ts';
import { changeContact, replaceContact } from './update.ts';

export const Contact = builder.objectRef<ContactRow>('Contact');

/** Missing names are stored as empty text, because lists are sorted by them; the API shows null. */
const orNull = (text: string): string | null => (text === '' ? null : text);

builder.node(Contact, {
  name: 'Contact',
  description: 'A person with whom the tenant exchanges messages.',
  id: { resolve: contact => contact.id },
  brandLoadedObjects: true,
  loadMany: async (ids, context) => {
    if (!context.principal?.scopes.has('contacts:read')) return ids.map(() => undefined);
    const rows = await findContacts(context.db.read, tenantOf(context), ids.map(Number).filter(Number.isSafeInteger));
    return ids.map(id => rows.get(Number(id)));
  },
  fields: t =>
    ({
      databaseId: t.field({
        type: 'BigInt',
        description: 'Numeric id, as used by the REST API.',
        resolve: contact => contact.id,
      }),
      firstName: t.string({
        nullable: true,
        description: 'First name; null if unknown.',
        resolve: contact => orNull(contact.firstname),
      }),
      lastName: t.string({
        nullable: true,
        description: 'Last name; null if unknown.',
        resolve: contact => orNull(contact.lastname),
      }),
      fullName: t.string({
        nullable: true,
        description: 'First and last name, separated by a space.',
        resolve: contact => orNull(fullName(contact)),
      }),
      company: t.exposeString('company', { nullable: true, description: 'Company name; null if unknown.' }),
      type: t.field({
        type: ContactTypeEnum,
        description: 'Relationship to the business.',
        resolve: contact => contact.type,
      }),
      email: t.exposeString('email', { nullable: true, description: 'E-mail address; null if unknown.' }),
      phone: t.exposeString('phone', {
        nullable: true,
        description: 'Phone number in E.164 format; null if the network identifies the person only by a user id.',
      }),
      description: t.exposeString('description', { nullable: true, description: 'Notes about the contact.' }),
      address: t.exposeString('address', { nullable: true, description: 'Street and house number; null if unknown.' }),
      city: t.exposeString('city', { nullable: true, description: 'City; null if unknown.' }),
      state: t.exposeString('state', { nullable: true, description: 'State or province; null if unknown.' }),
      zip: t.exposeString('zip', { nullable: true, description: 'Postal code; null if unknown.' }),
      country: t.field({
        type: CountryType,
        nullable: true,
        description: 'Country; null if unknown.',
        resolve: contact => (contact.country_id === null ? null : (countryOf(contact.country_id) ?? null)),
      }),
      isOptedOut: t.boolean({
        description: 'Whether the contact has opted out of messages.',
        resolve: contact => contact.opted_out_at !== null,
      }),
      optedOutAt: t.expose('opted_out_at', {
        type: 'DateTime',
        nullable: true,
        description: 'Time of the opt-out; null if the contact has not opted out.',
      }),
      createdAt: t.expose('created_at', { type: 'DateTime', description: 'Time of creation.' }),
      updatedAt: t.expose('updated_at', { type: 'DateTime', description: 'Time of the last change.' }),
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
        description: 'The databaseId of the staff member; null if the contact is not assigned.',
        resolve: contact => contact.assigned_id,
      }),
      // A list reads related rows with the page; elsewhere loaders batch them.
      source: t.field({
        type: Source,
        nullable: true,
        description: 'Where the contact came from.',
        resolve: (contact, _args, context) =>
          contact.source !== undefined
            ? contact.source
            : contact.source_id === null
              ? null
              : sourceLoader(context).load(contact.source_id),
      }),
      status: t.field({
        type: Status,
        nullable: true,
        description: 'Stage of the contact in the sales process.',
        resolve: (contact, _args, context) =>
          contact.status !== undefined
            ? contact.status
            : contact.status_id === null
              ? null
              : statusLoader(context).load(contact.status_id),
      }),
      assignee: t.field({
        type: StaffMember,
        nullable: true,
        description: 'Staff member to whom the contact is assigned; null if there is none.',
        resolve: (contact, _args, context) =>
          contact.assignee !== undefined
            ? contact.assignee
            : contact.assigned_id === null
              ? null
              : staffLoader(context).load(contact.assigned_id),
      }),
      groups: t.field({
        type: [Group],
        description: 'Groups of the contact, sorted by name.',
        resolve: (contact, _args, context) =>
          contact.groups ? [...contact.groups] : groupsOfLoader(context).load(contact.id),
      }),
    }) satisfies Record<string, unknown> & Record<Exclude<FieldName, 'countryId'>, unknown>,
});

builder.queryFields(t => ({
  contacts: t.field({
    type: connectionOf('Contact', Contact),
    description:
      "Lists the tenant's contacts, newest first by default. `search` matches names, e-mail address, phone number and company.",
    authScopes: { scope: 'contacts:read' },
    args: {
      ...listArgs(ContactFilter, ContactOrder),
    },
    resolve: (_root, args, context, info) => contactPage(context, args, selectionOf(info)),
  }),
  contact: t.field({
    type: Contact,
    nullable: true,
    description:
      'Returns one contact. The id of a contact that was merged into another returns the other one. Errors: NOT_FOUND.',
    authScopes: { scope: 'contacts:read' },
    args: { id: t.arg.id({ required: true, description: 'Global id or databaseId of the contact.' }) },
    resolve: async (_root, { id }, context) => {
      const databaseId = numericId('Contact', id);
      const contact = (await findContacts(context.db.read, tenantOf(context), [databaseId])).get(databaseId);
      if (!contact) throw notFound('Contact');
      return contact;
    },
  }),
}));

const SkippedRow = builder.objectRef<CreateContactsResult['skipped'][number]>('SkippedRow').implement({
  description: 'A row of a batch that was skipped because it is a duplicate.',
  fields: t => ({
    index: t.exposeInt('index', { description: 'Position of the row in the batch, starting at 0.' }),
    reason: t.exposeString('reason', { description: 'Why the row was skipped.' }),
  }),
});

const RowErrors = builder.objectRef<CreateContactsResult['errors'][number]>('RowErrors').implement({
  description: 'Errors of one row of a batch.',
  fields: t => ({
    index: t.exposeInt('index', { description: 'Position of the row in the batch, starting at 0.' }),
    errors: t.field({
      type: 'JSON',
      description: 'Error messages by field name: `{ field: [message, …] }`.',
      resolve: row => row.errors,
    }),
  }),
});

const CreateContactsResultType = builder.objectRef<CreateContactsResult>('CreateContactsResult').implement({
  description: 'Result of creating several contacts.',
  fields: t => ({
    success: t.exposeBoolean('success', { description: 'False if an error rolled the whole batch back.' }),
    total: t.exposeInt('total', { description: 'Number of rows in the batch.' }),
    created: t.field({ type: [Contact], description: 'The created contacts.', resolve: result => [...result.created] }),
    skipped: t.field({
      type: [SkippedRow],
      description: 'Duplicates that were skipped (`skipDuplicates`).',
      resolve: result => [...result.skipped],
    }),
    errors: t.field({
      type: [RowErrors],
      description: 'Errors of rows that were not created.',
      resolve: result => [...result.errors],
    }),
  }),
});

const DeleteContactsResult = builder.objectRef<RemovedContacts>('DeleteContactsResult').implement({
  description: 'Result of deleting several contacts.',
  fields: t => ({
    deletedIds: t.field({
      type: ['BigInt'],
      description: 'The databaseIds of deleted contacts.',
      resolve: result => result.deleted.map(contact => contact.id),
    }),
    notFoundIds: t.field({
      type: ['BigInt'],
      description: 'The databaseIds that do not exist.',
      resolve: result => [...result.notFoundIds],
    }),
  }),
});

builder.mutationFields(t => ({
  createContact: t.field({
    type: Contact,
    description:
      'Creates a contact; only the phone number is required. Errors: VALIDATION_ERROR, FEATURE_LIMIT_EXCEEDED.',
    authScopes: { scope: 'contacts:write' },
    args: { input: t.arg({ type: CreateContactInput, required: true, description: 'Values of the contact.' }) },
    resolve: (_root, { input }, context) => createContact(context, input),
  }),
  updateContact: t.field({
    type: Contact,
    description: 'Changes a contact. Errors: NOT_FOUND, VALIDATION_ERROR.',
    authScopes: { scope: 'contacts:write' },
    args: {
      id: t.arg.id({ required: true, description: 'Global id or databaseId of the contact.' }),
      input: t.arg({
        type: UpdateContactInput,
        required: true,
        description: 'Fields to change; omitted fields keep their values.',
      }),
    },
    resolve: (_root, { id, input }, context) => changeContact(context, numericId('Contact', id), input),
  }),
  replaceContact: t.field({
    type: Contact,
    description:
      "Replaces all values of a contact. Omitted fields become empty, except source and status, which become the tenant's defaults. Errors: NOT_FOUND, VALIDATION_ERROR.",
    authScopes: { scope: 'contacts:write' },
    args: {
      id: t.arg.id({ required: true, description: 'Global id or databaseId of the contact.' }),
      input: t.arg({ type: ReplaceContactInput, required: true, description: 'Complete values of the contact.' }),
    },
    resolve: (_root, { id, input }, context) => replaceContact(context, numericId('Contact', id), input),
  }),
  deleteContact: t.field({
    type: Contact,
    description:
      'Deletes a contact with its conversations and messages, and returns its last state. Queued messages are not sent. Errors: NOT_FOUND.',
    authScopes: { scope: 'contacts:delete' },
    args: { id: t.arg.id({ required: true, description: 'Global id or databaseId of the contact.' }) },
    resolve: (_root, { id }, context) => removeContact(context, numericId('Contact', id)),
  }),
  createContacts: t.field({
    type: CreateContactsResultType,
    description:
      'Creates up to 1,000 contacts in one transaction. A row is a duplicate if its phone number exists in the tenant or earlier in the batch.',
    authScopes: { scope: 'contacts:write' },
    args: {
      input: t.arg({
        type: CreateContactsInput,
        required: true,
        description: 'The contacts, and how to treat errors and duplicates.',
      }),
    },
    resolve: (_root, { input }, context) => createContacts(context, input),
  }),
  deleteContacts: t.field({
    type: DeleteContactsResult,
    description: 'Deletes up to 1,000 contacts with their conversations and messages in one transaction.',
    authScopes: { scope: 'contacts:delete' },
    args: { ids: t.arg.idList({ required: true, description: 'Global ids or databaseIds of 1 to 1,000 contacts.' }) },
    resolve: (_root, { ids }, context) => {
      if (ids.length > 1_000) throw invalid({ ids: ['Takes 1 to 1000 ids.'] });
      return removeContacts(
        context,
        ids.map(id => inputId('Contact', String(id), 'ids')),
      );
    },
  }),
}));
