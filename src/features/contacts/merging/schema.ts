import { encodeGlobalId, parseId } from '../../../core/global-ids.ts';
import { tenantOf } from '../../../core/principal.ts';
import { builder, IDEMPOTENCY_KEY } from '../../../schema/builder.ts';
import type { Context } from '../../../schema/context.ts';
import { DataCount } from '../../../schema/data-count.ts';
import { mutation, payloadOf, queryPayload } from '../../../schema/payload.ts';
import { ContactInput } from '../inputs.ts';
import { ContactPayload, contactId } from '../mutation-schema.ts';
import { Contact } from '../schema.ts';
import {
  MAX_MERGED,
  type Merged,
  type MergedField,
  type MergeInput,
  type MergePreview,
  mergeByRequest,
  previewMerge,
  undoByRequest,
} from './request.ts';

const MergeContactsInput = builder.inputType('MergeContactsInput', {
  description: 'Contacts that are the same person.',
  fields: t => ({
    id: t.id({ required: true, description: 'Global id or databaseId of the contact that stays.' }),
    fromIds: t.idList({
      required: true,
      description: `Global ids or databaseIds of 1 to ${MAX_MERGED} contacts that are merged into it.`,
    }),
    set: t.field({ type: ContactInput, description: 'Values that win over those of all the contacts.' }),
    idempotencyKey: t.string({ description: IDEMPOTENCY_KEY }),
  }),
});

const parsed = (context: Context, input: typeof MergeContactsInput.$inferInput): MergeInput => ({
  ...input,
  id: contactId(context, input.id),
  // -1 is the id of no contact.
  fromIds: input.fromIds.map(id => parseId(tenantOf(context), 'Contact', String(id)) ?? -1),
});

mutation('mergeContacts', {
  description:
    'Merges contacts that are the same person. Messages, conversations, groups and consent move to the contact that stays, whose empty fields are filled. The ids of the others resolve to it. Can be undone for 30 days.',
  scope: 'contacts:write',
  input: MergeContactsInput,
  payload: payloadOf<Merged>('MergeContactsPayload', 'Result of a merge of contacts.', t => ({
    contact: t.field({
      type: Contact,
      nullable: true,
      description: 'The contact that stayed.',
      resolve: ({ contact }) => contact ?? null,
    }),
    mergedIds: t.idList({
      description: 'Global ids of the contacts that were merged into it.',
      resolve: ({ mergedIds = [] }, _args, context) =>
        mergedIds.map(id => encodeGlobalId('Contact', tenantOf(context), id)),
    }),
  })),
  resolve: (input, context) => mergeByRequest(context, parsed(context, input)),
});

mutation('undoMerge', {
  description:
    'Restores a contact that was merged in the last 30 days, with its own data. What came since stays with the other contact, except opt-outs, which then apply to both.',
  scope: 'contacts:write',
  input: builder.inputType('UndoMergeInput', {
    description: 'The merge to undo.',
    fields: t => ({
      id: t.id({ required: true, description: 'One of the `formerIds` of a contact, or its databaseId.' }),
      idempotencyKey: t.string({ description: IDEMPOTENCY_KEY }),
    }),
  }),
  payload: ContactPayload,
  resolve: async ({ id, ...options }, context) => ({
    contact: await undoByRequest(context, { ...options, id: contactId(context, id) }),
  }),
});

const MergedFieldType = builder.objectRef<MergedField>('MergedField').implement({
  description: 'A field of the contact that stays.',
  fields: t => ({
    name: t.exposeString('name', { description: 'Name of the field in `ContactInput`.' }),
    value: t.exposeString('value', { nullable: true, description: 'Value after the merge; null if it is empty.' }),
    alternatives: t.stringList({
      description: 'Other values that the contacts have. To keep one, pass it in `set`.',
      resolve: ({ alternatives }) => [...alternatives],
    }),
  }),
});

const ContactMergePreview = payloadOf<MergePreview>('ContactMergePreview', 'What a merge would do.', t => ({
  fields: t.field({
    type: [MergedFieldType],
    description: 'The fields of the contact after the merge.',
    resolve: ({ fields = [] }) => [...fields],
  }),
  moved: t.field({
    type: [DataCount],
    description: 'How many rows would move to it.',
    resolve: ({ moved = [] }) => [...moved],
  }),
}));

queryPayload('previewMerge', {
  description: 'Shows what `mergeContacts` would do, and changes nothing. Costs ten points of the rate limit.',
  scope: 'contacts:write',
  points: 10,
  input: MergeContactsInput,
  payload: ContactMergePreview,
  resolve: (input, context) => previewMerge(context, parsed(context, input)),
});
