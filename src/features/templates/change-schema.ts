import { encodeGlobalId, optionalInputId } from '../../core/global-ids.ts';
import { tenantOf } from '../../core/principal.ts';
import { builder, IDEMPOTENCY_KEY } from '../../schema/builder.ts';
import { DeletePayload, entityPayload, mutation, payloadOf } from '../../schema/payload.ts';
import { createTemplate } from './create.ts';
import { removeTemplate } from './remove.ts';
import { Category, ParameterFormat, Template } from './schema.ts';
import type { SyncCounts } from './sync/sync.ts';
import { syncNow } from './sync/sync-now.ts';

const CreateTemplateInput = builder.inputType('CreateTemplateInput', {
  description: 'A template to submit to the network for review.',
  fields: t => ({
    name: t.string({ required: true, description: 'Name: 1 to 512 characters (a to z, 0 to 9, underscore).' }),
    language: t.string({ required: true, description: 'Language code, for example `en` or `en_US`.' }),
    category: t.field({
      type: Category,
      required: true,
      description: 'Purpose of the template, reviewed by the network.',
    }),
    parameterFormat: t.field({
      type: ParameterFormat,
      required: true,
      defaultValue: 'POSITIONAL',
      description: 'Whether variables are numbered or named.',
    }),
    components: t.field({
      type: ['JSON'],
      required: true,
      description:
        "Components in the network's format, as in `Template.raw`: HEADER (text of at most 60 characters with one variable, or a format: a picture, video or document needs `example: { media_id }`, an upload, or `example: { header_handle }` of the network), BODY (required, at most 1024 characters), FOOTER (at most 60 characters), BUTTONS (at most 10).",
    }),
    channelId: t.id({ description: "Channel of the business account. Default: the account's default channel." }),
    idempotencyKey: t.string({ description: IDEMPOTENCY_KEY }),
  }),
});

mutation('createTemplate', {
  description:
    'Submits a template to the network for review. It is PENDING until an event `template.status_changed` reports the result.',
  scope: 'templates:write',
  input: CreateTemplateInput,
  payload: entityPayload('template', Template, 'The submitted template.'),
  resolve: async (input, context) => ({
    template: await createTemplate(context, {
      ...input,
      channelId: optionalInputId(tenantOf(context), 'Channel', input.channelId ?? undefined, 'channelId'),
    }),
  }),
});

const DeleteTemplateInput = builder.inputType('DeleteTemplateInput', {
  description: 'The template to delete.',
  fields: t => ({
    id: t.id({ required: true, description: 'Global id or databaseId of the template.' }),
    idempotencyKey: t.string({ description: IDEMPOTENCY_KEY }),
  }),
});

mutation('deleteTemplate', {
  description: 'Deletes a template in one language from the network, and here. The name cannot be reused for 30 days.',
  scope: 'templates:write',
  input: DeleteTemplateInput,
  payload: DeletePayload,
  resolve: async ({ id, idempotencyKey }, context) => ({
    deletedId: encodeGlobalId('Template', tenantOf(context), await removeTemplate(context, id, idempotencyKey)),
  }),
});

const SyncTemplatesInput = builder.inputType('SyncTemplatesInput', {
  description: 'The templates to read from the network.',
  fields: t => ({
    channelId: t.id({
      description: 'Reads only the business account of this channel. Default: all business accounts.',
    }),
    idempotencyKey: t.string({ description: IDEMPOTENCY_KEY }),
  }),
});

const SyncTemplatesPayload = payloadOf<SyncCounts>('SyncTemplatesPayload', 'Result of a template sync.', t => ({
  createdCount: t.int({ description: 'Number of new templates.', resolve: ({ created = 0 }) => created }),
  updatedCount: t.int({ description: 'Number of changed templates.', resolve: ({ updated = 0 }) => updated }),
  removedCount: t.int({
    description: 'Number of templates that no longer exist on the network.',
    resolve: ({ removed = 0 }) => removed,
  }),
  unchangedCount: t.int({ description: 'Number of unchanged templates.', resolve: ({ unchanged = 0 }) => unchanged }),
  totalCount: t.int({ description: 'Number of templates on the network.', resolve: ({ total = 0 }) => total }),
}));

mutation('syncTemplates', {
  description:
    'Reads all templates from the network now, and may be repeated. This also happens every hour, when a channel is connected, and when the network reports an unknown template.',
  scope: 'templates:sync',
  input: SyncTemplatesInput,
  payload: SyncTemplatesPayload,
  resolve: ({ channelId, idempotencyKey }, context) =>
    syncNow(
      context,
      optionalInputId(tenantOf(context), 'Channel', channelId ?? undefined, 'channelId'),
      idempotencyKey,
    ),
});
