import { builder, IDEMPOTENCY_KEY } from '../../../schema/builder.ts';
import { databaseId } from '../../../schema/database-id.ts';
import { connectionOf, pageArgs } from '../../../schema/lists.ts';
import { nodesByNumber } from '../../../schema/nodes.ts';
import { entityPayload, mutation } from '../../../schema/payload.ts';
import { Author } from '../../tenancy/audit/schema.ts';
import { consentEntryLoader, consentsLoader, contactLoader } from '../loaders.ts';
import { contactId } from '../mutation-schema.ts';
import { Contact } from '../schema.ts';
import type { EffectiveConsent } from './consent.ts';
import { ConsentCategoryEnum, ConsentSourceEnum, ConsentStateEnum } from './enums.ts';
import { entryPage } from './list.ts';
import { recordContactConsent } from './record-one.ts';
import { type ConsentRow, getEntries } from './store.ts';

export const ConsentEntry = builder.objectRef<ConsentRow>('ConsentEntry');
builder.node(ConsentEntry, {
  name: 'ConsentEntry',
  description: 'A record that a person gave or withdrew consent. Entries are never changed.',
  id: { resolve: entry => entry.id },
  brandLoadedObjects: true,
  loadManyWithoutCache: nodesByNumber('contacts:read', getEntries),
  fields: t => ({
    databaseId: databaseId(t),
    contact: t.field({
      type: Contact,
      nullable: true,
      description: 'The person who gave or withdrew it.',
      resolve: (entry, _args, context) => contactLoader(context).load(entry.contact_id),
    }),
    category: t.expose('category', {
      type: ConsentCategoryEnum,
      description: 'Messages that it is about.',
    }),
    state: t.expose('state', {
      type: ConsentStateEnum,
      description: 'Whether the person agreed.',
    }),
    source: t.expose('source', {
      type: ConsentSourceEnum,
      description: 'How the person stated it.',
    }),
    evidence: t.exposeString('evidence', {
      nullable: true,
      description: "Network id of the person's message, or another proof.",
    }),
    author: t.expose('author', {
      type: Author,
      nullable: true,
      description: 'Who recorded it; null for the person.',
    }),
    occurredAt: t.expose('occurred_at', { type: 'DateTime', description: 'When the person stated it.' }),
  }),
});

const Consent = builder.objectRef<EffectiveConsent>('Consent').implement({
  description: 'What holds for a category of messages, by the entry that decides.',
  fields: t => ({
    category: t.expose('category', {
      type: ConsentCategoryEnum,
      description: 'Category of messages.',
    }),
    state: t.field({
      type: ConsentStateEnum,
      description: 'Whether the person agreed.',
      resolve: ({ entry }) => entry.state,
    }),
    updatedAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When the person stated it.',
      resolve: ({ entry }) => entry.occurred_at,
    }),
    source: t.field({
      type: ConsentSourceEnum,
      nullable: true,
      description: 'How the person stated it.',
      resolve: async ({ entry }, _args, context) => (await consentEntryLoader(context).load(entry.id))?.source,
    }),
    entry: t.field({
      type: ConsentEntry,
      nullable: true,
      description: 'The entry that decides: of the category, or of all categories.',
      resolve: ({ entry }, _args, context) => consentEntryLoader(context).load(entry.id),
    }),
  }),
});

builder.objectFields(Contact, t => ({
  consents: t.field({
    type: [Consent],
    description: 'What the person agreed to, by category. Categories about which nothing was recorded are left out.',
    resolve: (contact, _args, context) => consentsLoader(context).load(contact.id),
  }),
  consentEntries: t.field({
    type: connectionOf('ConsentEntry', ConsentEntry),
    nullable: true,
    description: 'What the person agreed to and withdrew over time, latest first.',
    args: pageArgs({ search: false, offset: false }),
    resolve: (contact, args, context) => entryPage(context, contact.id, args),
  }),
}));

mutation('recordConsent', {
  description:
    'Records that a person gave or withdrew consent. An opt-out of all categories is lifted only by an opt-in to all.',
  scope: 'contacts:write',
  input: builder.inputType('RecordConsentInput', {
    description: 'What a person agreed to, or withdrew.',
    fields: t => ({
      contactId: t.id({ required: true, description: 'Global id or databaseId of the contact.' }),
      category: t.field({ type: ConsentCategoryEnum, required: true, description: 'Category of messages.' }),
      state: t.field({ type: ConsentStateEnum, required: true, description: 'Whether the person agreed.' }),
      source: t.field({
        type: ConsentSourceEnum,
        required: true,
        defaultValue: 'api',
        description: 'How the person stated it.',
      }),
      evidence: t.string({ description: 'Proof, such as the address of a form; at most 1,000 characters.' }),
      occurredAt: t.field({ type: 'DateTime', description: 'When the person stated it; now if omitted.' }),
      idempotencyKey: t.string({ description: IDEMPOTENCY_KEY }),
    }),
  }),
  payload: entityPayload('consentEntry', ConsentEntry, 'The entry that was recorded.'),
  resolve: async (input, context) => ({
    consentEntry: await recordContactConsent(context, {
      ...input,
      contactId: contactId(context, input.contactId, 'contactId'),
    }),
  }),
});
