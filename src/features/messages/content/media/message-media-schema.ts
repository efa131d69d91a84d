import { invalid } from '../../../../core/errors.ts';
import { encodeGlobalId } from '../../../../core/global-ids.ts';
import { tenantOf } from '../../../../core/principal.ts';
import { builder } from '../../../../schema/builder.ts';
import type { Context } from '../../../../schema/context.ts';
import { fileStateLoader, uploadLoader } from '../../loaders.ts';
import { Message } from '../../schema.ts';
import { detailsOf, type FileContent, type FileState, fileOf, isAvailable, pathOf } from './file.ts';
import { ALLOWED, FORMATS, MAX_BYTES, sizeOf } from './formats.ts';
import { type SignedUrl, signUrl } from './signed-url.ts';
import { MAX_WIDTH, WIDTHS, widthFor } from './thumbnails/shrink.ts';

const limits = (kind: keyof typeof ALLOWED): string => `${ALLOWED[kind]}, at most ${sizeOf(MAX_BYTES[kind])}.`;

export const MediaKind = builder.enumType('MediaKind', {
  description: 'Kind of media that a file is sent as. The content of the file decides, not its name.',
  values: {
    IMAGE: { value: 'image', description: limits('image') },
    VIDEO: { value: 'video', description: limits('video') },
    AUDIO: { value: 'audio', description: limits('audio') },
    DOCUMENT: { value: 'document', description: limits('document') },
    STICKER: {
      value: 'sticker',
      description: `${ALLOWED.sticker}, at most ${sizeOf(FORMATS.sticker.maxBytes)}, animated ${sizeOf(MAX_BYTES.sticker)}.`,
    },
  } as const,
});

/** The signed URL of a message's or an upload's file. */
export const signedUrl = (context: Context, id: string): SignedUrl =>
  signUrl(context.secrets, { tenantId: tenantOf(context), id }, context.clock.now(), context.config.publicUrl);

/** Description of the fields with a signed URL. */
export const SIGNED_URL =
  'Signed URL of the content that needs no token, for `<img>` and players. Valid for 15 to 30 minutes, and the same for all queries within a quarter of an hour, so that browsers cache the file; erasing the person ends it. Relative to this server unless PARLEY_PUBLIC_URL is set.';

export const MessageMedia = builder.objectRef<FileContent>('MessageMedia').implement({
  description:
    'The file of a message. Details known only to the network are null; fetching `path` returns them as response headers.',
  fields: t => ({
    kind: t.expose('kind', { type: MediaKind, description: 'Kind of media, from the type of the message.' }),
    path: t.string({
      description:
        'Where the content is downloaded with a token (scope messages:read): the path `/media/{message id}` on this server, or the link that was sent.',
      resolve: file => file.link ?? pathOf(file.message.id),
    }),
    url: t.string({
      nullable: true,
      description: `${SIGNED_URL} For a message that was sent with a link: the link.`,
      resolve: (file, _args, context) => file.link ?? signedUrl(context, file.message.id).url,
    }),
    thumbnailUrl: t.string({
      nullable: true,
      description:
        'Signed URL of a small picture of an image or sticker, made when it is first fetched: WebP, turned upright, without the data of the camera, never larger than the original. Valid as `url` is. Null for other kinds and for links. A file that cannot be made smaller is served as it is.',
      args: {
        width: t.arg.int({
          required: true,
          defaultValue: 320,
          description: `Width in pixels, 1 to ${MAX_WIDTH}; the next larger one of ${WIDTHS.join(', ')} is made.`,
        }),
      },
      resolve: (file, { width }, context) => thumbnailUrl(context, file, width),
    }),
    expiresAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'End of the validity of `url`; null for a link.',
      resolve: (file, _args, context) =>
        file.link === null ? new Date(signedUrl(context, file.message.id).expiresAtMs).toISOString() : null,
    }),
    isAvailable: t.boolean({
      description:
        'Whether `url` is expected to return the content. False once neither this gateway nor the network has the file; always true for a link.',
      resolve: async (file, _args, context) => file.link !== null || isAvailable(await stateOf(file, context)),
    }),
    mediaId: t.id({
      nullable: true,
      description: 'Global id of the upload that was sent; null if a link was sent or the message is inbound.',
      resolve: async (file, _args, context) => {
        const { mediaId } = await described(file, context);
        return mediaId === null ? null : encodeGlobalId('Media', tenantOf(context), mediaId);
      },
    }),
    link: t.exposeString('link', {
      nullable: true,
      description: 'The link that was sent, from which the network downloaded the file; null for other files.',
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

/** @throws VALIDATION_ERROR */
function thumbnailUrl(context: Context, { kind, link, message }: FileContent, width: number): string | null {
  if (width < 1 || width > MAX_WIDTH) throw invalid({ width: [`Must be 1 to ${MAX_WIDTH}.`] }, 'OUT_OF_RANGE');
  if (link !== null || (kind !== 'image' && kind !== 'sticker')) return null;
  const file = { tenantId: tenantOf(context), id: message.id, kind: 'thumbnail', width: widthFor(width) } as const;
  return signUrl(context.secrets, file, context.clock.now(), context.config.publicUrl).url;
}

/** Files are looked up, in one batch, only if more than URLs is selected. */
async function stateOf(file: FileContent, context: Context): Promise<FileState | undefined> {
  if ('uploadId' in file) return file.uploadId === null ? undefined : uploadLoader(context).load(file.uploadId);
  const { networkId, message } = file;
  return networkId === null ? undefined : fileStateLoader(context).load(`${message.id} ${networkId}`);
}

const described = async (file: FileContent, context: Context) => detailsOf(file, await stateOf(file, context));

builder.objectField(Message, 'media', t =>
  t.field({
    type: MessageMedia,
    nullable: true,
    description: 'File of an image, video, audio, document or sticker message; null for other types.',
    resolve: message => fileOf(message),
  }),
);
