import type { GraphQLResolveInfo } from 'graphql';
import { encodeGlobalId } from '../../core/global-ids.ts';
import { tenantOf } from '../../core/principal.ts';
import { countryOf } from '../../platform/countries.ts';
import { Actor } from '../../schema/actor.ts';
import { builder } from '../../schema/builder.ts';
import { CountryType } from '../../schema/countries.ts';
import { databaseId } from '../../schema/database-id.ts';
import { connectionOf, listArgs } from '../../schema/lists.ts';
import { selectionOf, selectsOnlyKey } from '../../schema/selection.ts';
import { StaffMember, staffLoader } from '../tenancy/staff/schema.ts';
import { type ContactRow, displayName, type FieldName, fullName, type IdentityRow } from './contact.ts';
import { findContact } from './find.ts';
import { ContactFilter, ContactIdentifierInput, ContactOrder, ContactTypeEnum } from './inputs.ts';
import { Group, Source, Status } from './labels/schema.ts';
import { contactPage } from './list.ts';
import { formerIdsLoader, groupsOfLoader, identitiesLoader, sourceLoader, statusLoader } from './loaders.ts';
import { findContacts } from './store.ts';

export const Contact = builder.objectRef<ContactRow>('Contact');

type Row = { readonly id: number };

/** A related row, which is not read if only its ids are selected. */
const related = <T extends Row>(
  id: number | null,
  info: GraphQLResolveInfo,
  read: (id: number) => Promise<T | undefined>,
): T | null | Promise<T | undefined> => (id === null ? null : selectsOnlyKey(info) ? ({ id } as T) : read(id));

const IdentityKind = builder.enumType('IdentityKind', {
  description: 'How the network or the account identifies a person.',
  values: {
    PHONE: { value: 'phone', description: 'Phone number in E.164 format.' },
    WA_ID: { value: 'wa_id', description: 'Id of the network, in digits: mostly the phone number.' },
    USER_ID: { value: 'user_id', description: 'Business-scoped user id of the network.' },
    USERNAME: { value: 'username', description: 'Username that the person chose.' },
  } as const,
});

const ContactIdentity = builder.objectRef<IdentityRow>('ContactIdentity').implement({
  description: 'An identifier of a person, and when it was theirs.',
  fields: t => ({
    kind: t.expose('kind', { type: IdentityKind, description: 'Kind of the identifier.' }),
    value: t.exposeString('value', { description: 'The identifier.' }),
    isCurrent: t.boolean({
      description: 'Whether it still identifies the person.',
      resolve: ({ ended_at }) => ended_at === null,
    }),
    startedAt: t.expose('started_at', { type: 'DateTime', description: 'Since when it is known.' }),
    endedAt: t.expose('ended_at', {
      type: 'DateTime',
      nullable: true,
      description: 'Until when it identified the person; null if it still does.',
    }),
  }),
});

/** Missing names are stored as empty text, because lists are sorted by them; the API shows null. */
const orNull = (text: string): string | null => (text === '' ? null : text);

builder.node(Contact, {
  name: 'Contact',
  description: 'A person with whom the tenant exchanges messages.',
  interfaces: [Actor],
  id: { resolve: contact => contact.id },
  brandLoadedObjects: true,
  loadManyWithoutCache: async (ids, context) => {
    if (!context.principal?.scopes.has('contacts:read')) return ids.map(() => undefined);
    const rows = await findContacts(context.db.read, tenantOf(context), ids.map(Number).filter(Number.isSafeInteger));
    return ids.map(id => rows.get(Number(id)));
  },
  fields: t =>
    ({
      databaseId: databaseId(t),
      displayName: t.string({ description: 'First and last name, else the phone number.', resolve: displayName }),
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
      type: t.expose('type', {
        type: ContactTypeEnum,
        description: 'Relationship to the business.',
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
      timeZone: t.exposeString('time_zone', {
        nullable: true,
        description:
          'Time zone, by the IANA database; null: that of the country of the phone number counts for local times.',
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
      // A list reads related rows with the page; elsewhere loaders batch them.
      source: t.field({
        type: Source,
        nullable: true,
        description: 'Where the contact came from.',
        resolve: (contact, _args, context, info) =>
          contact.source ?? related(contact.source_id, info, id => sourceLoader(context).load(id)),
      }),
      status: t.field({
        type: Status,
        nullable: true,
        description: 'Stage of the contact in the sales process.',
        resolve: (contact, _args, context, info) =>
          contact.status ?? related(contact.status_id, info, id => statusLoader(context).load(id)),
      }),
      assignee: t.field({
        type: StaffMember,
        nullable: true,
        description: 'Staff member to whom the contact is assigned; null if there is none.',
        resolve: (contact, _args, context, info) =>
          contact.assignee ?? related(contact.assigned_id, info, id => staffLoader(context).load(id)),
      }),
      groups: t.field({
        type: [Group],
        description: 'Groups of the contact, sorted by name.',
        resolve: (contact, _args, context) =>
          contact.groups ? [...contact.groups] : groupsOfLoader(context).load(contact.id),
      }),
      identities: t.field({
        type: [ContactIdentity],
        description: 'Numbers, user ids and usernames of the person, present ones first.',
        resolve: (contact, _args, context) => identitiesLoader(context).load(contact.id),
      }),
      formerIds: t.idList({
        description: 'Global ids of the contacts that were merged into this one. They resolve to it.',
        resolve: async (contact, _args, context) => {
          const ids = await formerIdsLoader(context).load(contact.id);
          return ids.map(id => encodeGlobalId('Contact', tenantOf(context), id));
        },
      }),
    }) satisfies Record<string, unknown> &
      Record<Exclude<FieldName, 'sourceId' | 'statusId' | 'assigneeId'> | 'source' | 'status' | 'assignee', unknown>,
});

const ContactConnection = connectionOf('Contact', Contact);

builder.queryFields(t => ({
  contacts: t.field({
    type: ContactConnection,
    description:
      "Lists the tenant's contacts, newest first by default. `search` matches names, e-mail address, phone number and company.",
    authScopes: { scope: 'contacts:read' },
    args: { ...listArgs(ContactFilter, ContactOrder) },
    resolve: (_root, args, context, info) => contactPage(context, args, selectionOf(info)),
  }),
  contact: t.field({
    type: Contact,
    nullable: true,
    description:
      'Returns one contact; null if there is none. The id of a contact that was merged into another returns the other one.',
    authScopes: { scope: 'contacts:read' },
    args: { id: t.arg.id({ required: true, description: 'Global id or databaseId of the contact.' }) },
    resolve: (_root, { id }, context) => findContact(context, { id }),
  }),
  contactByIdentifier: t.field({
    type: Contact,
    nullable: true,
    description: 'Returns the contact with an identifier; null if there is none.',
    authScopes: { scope: 'contacts:read' },
    args: {
      identifier: t.arg({
        type: ContactIdentifierInput,
        required: true,
        description: 'One identifier of the contact.',
      }),
    },
    resolve: (_root, { identifier }, context) => findContact(context, identifier),
  }),
}));

builder.objectField(Group, 'contacts', t =>
  t.field({
    type: ContactConnection,
    nullable: true,
    description: 'Contacts in the group, newest first by default.',
    authScopes: { scope: 'contacts:read' },
    args: { ...listArgs(ContactFilter, ContactOrder, { offset: false }) },
    resolve: (group, args, context, info) => contactPage(context, args, selectionOf(info), { groupId: group.id }),
  }),
);
