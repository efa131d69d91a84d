import { builder } from '../../builder.ts';
import { notFound } from '../../errors.ts';
import { uuidOf } from '../../global-ids.ts';
import { tenantOf } from '../caller.ts';
import type { Loaders } from '../loaders.ts';
import { Message } from '../messages/schema.ts';
import { freeFormFields, sendInputOf } from '../messages/send-input.ts';
import { createUpload } from './create-upload.ts';
import { MAX_FILENAME, type MediaRow, mediaIdOf, type PendingMedia, pathOf } from './file.ts';
import { ALLOWED, MAX_BYTES, megabytes } from './formats.ts';
import { detailsOf, fileOf, type MessageFile } from './message-file.ts';
import { MAX_CAPTION, MAX_LINK, sendMedia } from './send-media.ts';
import { getMedia } from './store.ts';

const limits = (kind: keyof typeof ALLOWED): string => `${ALLOWED[kind]}, at most ${megabytes(MAX_BYTES[kind])}.`;

export const MediaKind = builder.enumType('MediaKind', {
  description: 'How a file is sent. What a file is shows in its content; its name decides nothing.',
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
  description: 'A file that was uploaded for sending. The network keeps it for 30 days, we keep no bytes of it.',
  id: { resolve: media => media.id },
  brandLoadedObjects: true,
  loadMany: async (ids, context) => {
    if (!context.principal?.scopes.has('messages:read')) return ids.map(() => undefined);
    const uuids = ids.map(id => uuidOf('Media', String(id)));
    const rows = await getMedia(context.db.read, tenantOf(context), uuids);
    return uuids.map(id => rows.find(row => row.id === id));
  },
  fields: t => ({
    databaseId: t.exposeString('id', { description: 'The UUID that REST knows it by.' }),
    isUploaded: t.boolean({
      description: 'Whether its file is there.',
      resolve: media => media.state === 'stored',
    }),
    kind: t.field({
      type: MediaKind,
      nullable: true,
      description: 'What it is sent as; before the file is there, what was said of it.',
      resolve: media => media.kind,
    }),
    mimeType: t.exposeString('mime_type', {
      nullable: true,
      description: 'By the content; before the file is there, what was said of it.',
    }),
    filename: t.exposeString('filename', { nullable: true, description: 'Its name.' }),
    size: t.field({
      type: 'BigInt',
      nullable: true,
      description: 'In bytes; null before the file is there.',
      resolve: media => media.size,
    }),
    sha256: t.exposeString('sha256', {
      nullable: true,
      description: 'Digest of its bytes in hex; null before the file is there.',
    }),
    url: t.string({
      nullable: true,
      description:
        'Where it can be fetched with a token of the scope messages:read: a path on this server. Null before the file is there.',
      resolve: media => (media.state === 'stored' ? pathOf(media.id) : null),
    }),
    createdAt: t.expose('created_at', { type: 'DateTime', description: 'When its place was made.' }),
    expiresAt: t.expose('expires_at', {
      type: 'DateTime',
      description: 'Until when the file may come; once it is there, until when the network keeps it.',
    }),
  }),
});

const MessageMedia = builder.objectRef<MessageFile>('MessageMedia').implement({
  description:
    'The file of a message. What only the network knows of it is null here, and stands in the headers of its url.',
  fields: t => ({
    url: t.exposeString('url', {
      description:
        'Where it can be fetched: a path on this server, `/media/{id of the message}`, with a token of the scope messages:read; or the link that was sent.',
    }),
    mediaId: t.string({
      nullable: true,
      description: 'The databaseId of the upload that it was sent from.',
      resolve: async (file, _args, { loaders }) => (await described(file, loaders)).mediaId,
    }),
    mimeType: t.string({
      nullable: true,
      description: 'Its media type.',
      resolve: async (file, _args, { loaders }) => (await described(file, loaders)).mimeType,
    }),
    filename: t.string({
      nullable: true,
      description: 'Its name.',
      resolve: async (file, _args, { loaders }) => (await described(file, loaders)).filename,
    }),
    size: t.field({
      type: 'BigInt',
      nullable: true,
      description: 'In bytes.',
      resolve: async (file, _args, { loaders }) => (await described(file, loaders)).size,
    }),
    sha256: t.string({
      nullable: true,
      description: 'Digest of its bytes in hex.',
      resolve: async (file, _args, { loaders }) => (await described(file, loaders)).sha256,
    }),
  }),
});

/** Only who asks for more than the address pays for a look at the uploads. */
const described = async (file: MessageFile, loaders: Loaders) =>
  detailsOf(file, file.networkId === null ? undefined : await loaders.upload.load(file.networkId));

builder.objectField(Message, 'media', t =>
  t.field({
    type: MessageMedia,
    nullable: true,
    description: 'Its file, where it has one: of an image, a video, audio, a document or a sticker.',
    resolve: message => fileOf(message),
  }),
);

builder.queryField('media', t =>
  t.field({
    type: Media,
    nullable: true,
    description: 'One upload, by global id or databaseId.',
    authScopes: { scope: 'messages:read' },
    args: { id: t.arg.id({ required: true, description: 'Its global id or databaseId.' }) },
    resolve: async (_root, { id }, context) => {
      const [media] = await getMedia(context.db.read, tenantOf(context), [uuidOf('Media', id)]);
      if (!media) throw notFound('Media');
      return media;
    },
  }),
);

const CreateMediaUploadInput = builder.inputType('CreateMediaUploadInput', {
  description: 'What is known of a file beforehand. All of it is optional; the content decides.',
  fields: t => ({
    kind: t.field({ type: MediaKind, description: 'Refuse a file that cannot be sent as this.' }),
    filename: t.string({
      description: `Its name, at most ${MAX_FILENAME} characters. TXT and CSV are told by its ending, old and large Office files too; an ending that the content contradicts is refused.`,
    }),
    mimeType: t.string({
      description: 'Its type, where the name has no ending; the header of the upload when nothing is said.',
    }),
    channelId: t.id({ description: 'The channel that it will be sent from; the default one when nothing is said.' }),
  }),
});

const MediaUpload = builder.objectRef<PendingMedia>('MediaUpload').implement({
  description: 'A place for a file.',
  fields: t => ({
    media: t.field({
      type: Media,
      description: 'What sendMediaMessage takes once the file is there.',
      resolve: media => media,
    }),
    uploadUrl: t.string({
      description:
        'Where the bytes go: `PUT` them to this path on this server, with your bearer token (scope messages:send). The answer comes when the network has taken the file.',
      resolve: media => pathOf(media.id),
    }),
    maxBytes: t.field({
      type: 'BigInt',
      description: 'The most that it may be: of its kind, or of a document where no kind was said.',
      resolve: media => MAX_BYTES[media.kind ?? 'document'],
    }),
    expiresAt: t.expose('expires_at', { type: 'DateTime', description: 'Until when the file may come.' }),
  }),
});

const SendMediaMessageInput = builder.inputType('SendMediaMessageInput', {
  description: 'An image, a video, audio or a document to one person.',
  fields: t => ({
    ...freeFormFields(t),
    kind: t.field({ type: MediaKind, required: true, description: 'What it is sent as.' }),
    link: t.string({
      description: `Where the network fetches the file: http or https, at most ${MAX_LINK} characters. What goes wrong there fails the message later, with code 131053. Either this or mediaId.`,
    }),
    mediaId: t.id({ description: 'A file that was uploaded (createMediaUpload). Either this or link.' }),
    caption: t.string({
      description: `At most ${MAX_CAPTION} characters after merging; not for audio. Merge fields such as \`@{contact_first_name}\` are filled from the contact.`,
    }),
    filename: t.string({
      description: `What a document is called, at most ${MAX_FILENAME} characters; the name of the upload when nothing is said.`,
    }),
    channelId: t.id({
      description: "The channel to send from; when nothing is said, the upload's, or the default one for a link.",
    }),
  }),
});

builder.mutationFields(t => ({
  createMediaUpload: t.field({
    type: MediaUpload,
    description: 'Makes a place for a file, which is then uploaded with `PUT`, and sent with sendMediaMessage.',
    authScopes: { scope: 'messages:send' },
    args: { input: t.arg({ type: CreateMediaUploadInput, required: true, description: 'What is known of the file.' }) },
    resolve: (_root, { input }, context) => createUpload(context, sendInputOf(input)),
  }),
  sendMediaMessage: t.field({
    type: Message,
    description:
      'Sends a file. Once answered the message is stored and will be sent, whatever happens to this process.',
    authScopes: { scope: 'messages:send' },
    args: { input: t.arg({ type: SendMediaMessageInput, required: true, description: 'What to send, and to whom.' }) },
    resolve: (_root, { input }, context) =>
      sendMedia(context, {
        ...sendInputOf(input),
        mediaId: input.mediaId == null ? input.mediaId : mediaIdOf(input.mediaId),
      }),
  }),
}));
