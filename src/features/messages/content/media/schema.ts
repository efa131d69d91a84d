import { optionalInputId, requireUuid } from '../../../../core/global-ids.ts';
import { tenantOf } from '../../../../core/principal.ts';
import { builder, IDEMPOTENCY_KEY } from '../../../../schema/builder.ts';
import { findByUuid } from '../../../../schema/nodes.ts';
import { mutation, payloadOf } from '../../../../schema/payload.ts';
import { createUpload } from './create-upload.ts';
import { MAX_FILENAME, type MediaRow, pathOf } from './file.ts';
import { MAX_BYTES } from './formats.ts';
import { MediaKind, SIGNED_URL, signedUrl } from './message-media-schema.ts';
import { getMedia } from './store.ts';

export const Media = builder.objectRef<MediaRow>('Media');

builder.node(Media, {
  name: 'Media',
  description:
    'A file uploaded for sending. The network stores it for 30 days, in which it can be sent; this gateway keeps the content as long as a message shows it.',
  id: { resolve: media => media.id },
  brandLoadedObjects: true,
  loadManyWithoutCache: async (ids, context) => {
    if (!context.principal?.scopes.has('messages:read')) return ids.map(() => undefined);
    const uuids = ids.map(id => requireUuid(tenantOf(context), 'Media', String(id)));
    const rows = await getMedia(context.db.read, tenantOf(context), uuids);
    return uuids.map(id => rows.find(row => row.id === id));
  },
  fields: t => ({
    databaseId: t.exposeString('id', { description: 'UUID of the upload, as used by the REST API.' }),
    isUploaded: t.boolean({
      description: 'Whether the content has been uploaded.',
      resolve: media => media.state === 'stored',
    }),
    kind: t.expose('kind', {
      type: MediaKind,
      nullable: true,
      description: 'Kind of media; before the upload, as declared.',
    }),
    mimeType: t.exposeString('mime_type', {
      nullable: true,
      description: 'Media type detected from the content; before the upload, as declared.',
    }),
    filename: t.exposeString('filename', { nullable: true, description: 'File name; null if not given.' }),
    size: t.expose('size', {
      type: 'BigInt',
      nullable: true,
      description: 'Size in bytes; null before the upload.',
    }),
    sha256: t.exposeString('sha256', {
      nullable: true,
      description: 'SHA-256 digest of the content in hexadecimal; null before the upload.',
    }),
    path: t.string({
      nullable: true,
      description:
        'Path on this server that returns the content; requires a token with the scope messages:read. Null before the upload.',
      resolve: media => (media.state === 'stored' ? pathOf(media.id) : null),
    }),
    url: t.string({
      nullable: true,
      description: `${SIGNED_URL} Null before the upload.`,
      resolve: (media, _args, context) => (media.state === 'stored' ? signedUrl(context, media.id).url : null),
    }),
    createdAt: t.expose('created_at', { type: 'DateTime', description: 'Time at which the upload was created.' }),
    expiresAt: t.expose('expires_at', {
      type: 'DateTime',
      description: 'Time until which the content must be uploaded; after that, time until which the network stores it.',
    }),
  }),
});

builder.queryField('media', t =>
  t.field({
    type: Media,
    nullable: true,
    description: 'Returns one upload; null if there is none.',
    authScopes: { scope: 'messages:read' },
    args: { id: t.arg.id({ required: true, description: 'Global id or databaseId of the upload.' }) },
    resolve: (_root, { id }, context) => findByUuid(context, 'Media', id, getMedia),
  }),
);

const CreateMediaUploadInput = builder.inputType('CreateMediaUploadInput', {
  description: 'What is known of a file before its upload. All fields are optional, since the content decides.',
  fields: t => ({
    kind: t.field({ type: MediaKind, description: 'Reject the upload if its content cannot be sent as this kind.' }),
    filename: t.string({
      description: `File name, at most ${MAX_FILENAME} characters. The extension identifies TXT, CSV and some Office files; an extension that contradicts the content is rejected.`,
    }),
    mimeType: t.string({
      description: 'Media type for a file name without extension. Default: the Content-Type of the upload.',
    }),
    channelId: t.id({ description: "Channel that will send the file. Default: the tenant's default channel." }),
    idempotencyKey: t.string({ description: IDEMPOTENCY_KEY }),
  }),
});

const MediaUploadPayload = payloadOf<{ media: MediaRow }>(
  'MediaUploadPayload',
  'A created upload and where to send its content.',
  t => ({
    media: t.field({
      type: Media,
      nullable: true,
      description: 'The upload, to be passed to sendMessage once the content is there.',
      resolve: ({ media }) => media ?? null,
    }),
    uploadUrl: t.string({
      nullable: true,
      description:
        'Path on this server to which the content is sent with `PUT` and the bearer token (scope messages:send). The response follows once the network has stored the file.',
      resolve: ({ media }) => (media ? pathOf(media.id) : null),
    }),
    maxBytes: t.field({
      type: 'BigInt',
      nullable: true,
      description: 'Maximum size in bytes for the declared kind, or for a document if none was declared.',
      resolve: ({ media }) => (media ? MAX_BYTES[media.kind ?? 'document'] : null),
    }),
    expiresAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'Time until which the content must be uploaded.',
      resolve: ({ media }) => media?.expires_at ?? null,
    }),
  }),
);

mutation('createMediaUpload', {
  description: 'Creates an upload whose content is then sent with `PUT`, and which sendMessage takes.',
  scope: 'messages:send',
  input: CreateMediaUploadInput,
  payload: MediaUploadPayload,
  resolve: async (input, context) => ({
    media: await createUpload(context, {
      ...input,
      channelId: optionalInputId(tenantOf(context), 'Channel', input.channelId, 'channelId'),
    }),
  }),
});
