import { notFound } from '../../../../core/errors.ts';
import { uuidOf } from '../../../../core/global-ids.ts';
import { tenantOf } from '../../../../core/principal.ts';
import { builder } from '../../../../schema/builder.ts';
import type { Context } from '../../../../schema/context.ts';
import { uploadLoader } from '../../loaders.ts';
import { Message } from '../../schema.ts';
import { MERGED_IN_SEND } from '../../send/merge-fields.ts';
import { freeFormFields, sendInputOf } from '../../send/send-input.ts';
import { createUpload } from './create-upload.ts';
import {
  detailsOf,
  fileOf,
  MAX_FILENAME,
  type MediaRow,
  type MessageFile,
  mediaIdOf,
  type PendingMedia,
  pathOf,
} from './file.ts';
import { ALLOWED, MAX_BYTES, megabytes } from './formats.ts';
import { MAX_CAPTION, MAX_LINK, sendMedia } from './send-media.ts';
import { getMedia } from './store.ts';

const limits = (kind: keyof typeof ALLOWED): string => `${ALLOWED[kind]}, at most ${megabytes(MAX_BYTES[kind])}.`;

export const MediaKind = builder.enumType('MediaKind', {
  description: 'Kind of media that a file is sent as. The content of the file decides, not its name.',
  values: {
    IMAGE: { value: 'image', description: limits('image') },
    VIDEO: { value: 'video', description: limits('video') },
    AUDIO: { value: 'audio', description: limits('audio') },
    DOCUMENT: { value: 'document', description: limits('document') },
  } as const,
});

export const Media = builder.objectRef<MediaRow>('Media');

builder.node(Media, {
  name: 'Media',
  description:
    'A file uploaded for sending. The network stores it for 30 days; this gateway does not keep the content.',
  id: { resolve: media => media.id },
  brandLoadedObjects: true,
  loadMany: async (ids, context) => {
    if (!context.principal?.scopes.has('messages:read')) return ids.map(() => undefined);
    const uuids = ids.map(id => uuidOf('Media', String(id)));
    const rows = await getMedia(context.db.read, tenantOf(context), uuids);
    return uuids.map(id => rows.find(row => row.id === id));
  },
  fields: t => ({
    databaseId: t.exposeString('id', { description: 'UUID of the upload, as used by the REST API.' }),
    isUploaded: t.boolean({
      description: 'Whether the content has been uploaded.',
      resolve: media => media.state === 'stored',
    }),
    kind: t.field({
      type: MediaKind,
      nullable: true,
      description: 'Kind of media; before the upload, as declared.',
      resolve: media => media.kind,
    }),
    mimeType: t.exposeString('mime_type', {
      nullable: true,
      description: 'Media type detected from the content; before the upload, as declared.',
    }),
    filename: t.exposeString('filename', { nullable: true, description: 'File name; null if not given.' }),
    size: t.field({
      type: 'BigInt',
      nullable: true,
      description: 'Size in bytes; null before the upload.',
      resolve: media => media.size,
    }),
    sha256: t.exposeString('sha256', {
      nullable: true,
      description: 'SHA-256 digest of the content in hexadecimal; null before the upload.',
    }),
    url: t.string({
      nullable: true,
      description:
        'Path on this server that returns the content; requires a token with the scope messages:read. Null before the upload.',
      resolve: media => (media.state === 'stored' ? pathOf(media.id) : null),
    }),
    createdAt: t.expose('created_at', { type: 'DateTime', description: 'Time at which the upload was created.' }),
    expiresAt: t.expose('expires_at', {
      type: 'DateTime',
      description: 'Time until which the content must be uploaded; after that, time until which the network stores it.',
    }),
  }),
});

const MessageMedia = builder.objectRef<MessageFile>('MessageMedia').implement({
  description:
    'The file of a message. Values known only to the network are null; fetching `url` returns them as response headers.',
  fields: t => ({
    url: t.exposeString('url', {
      description:
        'Where the content can be downloaded: the path `/media/{message id}` on this server (requires a token with the scope messages:read), or the link that was sent.',
    }),
    mediaId: t.string({
      nullable: true,
      description: 'The databaseId of the upload that was sent; null if a link was sent or the message is inbound.',
      resolve: async (file, _args, context) => (await described(file, context)).mediaId,
    }),
    mimeType: t.string({
      nullable: true,
      description: 'Media type, for example `image/jpeg`.',
      resolve: async (file, _args, context) => (await described(file, context)).mimeType,
    }),
    filename: t.string({
      nullable: true,
      description: 'File name; null if unknown.',
      resolve: async (file, _args, context) => (await described(file, context)).filename,
    }),
    size: t.field({
      type: 'BigInt',
      nullable: true,
      description: 'Size in bytes; null if unknown.',
      resolve: async (file, _args, context) => (await described(file, context)).size,
    }),
    sha256: t.string({
      nullable: true,
      description: 'SHA-256 digest of the content in hexadecimal; null if unknown.',
      resolve: async (file, _args, context) => (await described(file, context)).sha256,
    }),
  }),
});

/** Uploads are looked up only if more than the URL is selected. */
const described = async (file: MessageFile, context: Context) =>
  detailsOf(file, file.networkId === null ? undefined : await uploadLoader(context).load(file.networkId));

builder.objectField(Message, 'media', t =>
  t.field({
    type: MessageMedia,
    nullable: true,
    description: 'File of an image, video, audio, document or sticker message; null for other types.',
    resolve: message => fileOf(message),
  }),
);

builder.queryField('media', t =>
  t.field({
    type: Media,
    nullable: true,
    description: 'Returns one upload. Errors: NOT_FOUND.',
    authScopes: { scope: 'messages:read' },
    args: { id: t.arg.id({ required: true, description: 'Global id or databaseId of the upload.' }) },
    resolve: async (_root, { id }, context) => {
      const [media] = await getMedia(context.db.read, tenantOf(context), [uuidOf('Media', id)]);
      if (!media) throw notFound('Media');
      return media;
    },
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
  }),
});

const MediaUpload = builder.objectRef<PendingMedia>('MediaUpload').implement({
  description: 'A created upload and where to send its content.',
  fields: t => ({
    media: t.field({
      type: Media,
      description: 'The upload, to be passed to sendMediaMessage once the content is there.',
      resolve: media => media,
    }),
    uploadUrl: t.string({
      description:
        'Path on this server to which the content is sent with `PUT` and the bearer token (scope messages:send). The response follows once the network has stored the file.',
      resolve: media => pathOf(media.id),
    }),
    maxBytes: t.field({
      type: 'BigInt',
      description: 'Maximum size in bytes for the declared kind, or for a document if none was declared.',
      resolve: media => MAX_BYTES[media.kind ?? 'document'],
    }),
    expiresAt: t.expose('expires_at', {
      type: 'DateTime',
      description: 'Time until which the content must be uploaded.',
    }),
  }),
});

const SendMediaMessageInput = builder.inputType('SendMediaMessageInput', {
  description: 'An image, a video, audio or a document to one recipient. Set exactly one of `link` and `mediaId`.',
  fields: t => ({
    ...freeFormFields(t),
    kind: t.field({ type: MediaKind, required: true, description: 'Kind of media that the file is sent as.' }),
    link: t.string({
      description: `An http or https URL of at most ${MAX_LINK} characters from which the network downloads the file. If the download fails, the message fails with code 131053.`,
    }),
    mediaId: t.id({ description: 'Global id or databaseId of an upload (createMediaUpload).' }),
    caption: t.string({
      description: `Caption, not allowed for audio; at most ${MAX_CAPTION} characters after merging. ${MERGED_IN_SEND}`,
    }),
    filename: t.string({
      description: `File name that the recipient sees, for documents; at most ${MAX_FILENAME} characters. Default: the name of the upload.`,
    }),
    channelId: t.id({
      description:
        "Channel to send from. Default: the channel of the upload, or the tenant's default channel for a link.",
    }),
  }),
});

builder.mutationFields(t => ({
  createMediaUpload: t.field({
    type: MediaUpload,
    description:
      'Creates an upload whose content is then sent with `PUT`, and which sendMediaMessage takes. Errors: VALIDATION_ERROR, FEATURE_NOT_AVAILABLE.',
    authScopes: { scope: 'messages:send' },
    args: { input: t.arg({ type: CreateMediaUploadInput, required: true, description: 'What is known of the file.' }) },
    resolve: (_root, { input }, context) => createUpload(context, sendInputOf(input)),
  }),
  sendMediaMessage: t.field({
    type: Message,
    description:
      'Sends a file. The returned message is stored durably and will be sent. Errors: VALIDATION_ERROR, CONTACT_OPTED_OUT, OUTSIDE_SERVICE_WINDOW, MESSAGING_NOT_CONFIGURED, FEATURE_LIMIT_EXCEEDED, FEATURE_NOT_AVAILABLE.',
    authScopes: { scope: 'messages:send' },
    args: {
      input: t.arg({ type: SendMediaMessageInput, required: true, description: 'The message and its recipient.' }),
    },
    resolve: (_root, { input }, context) =>
      sendMedia(context, {
        ...sendInputOf(input),
        mediaId: input.mediaId == null ? input.mediaId : mediaIdOf(input.mediaId),
      }),
  }),
}));
