import { type FieldCode, FieldErrorList, withFaultsOf } from '../../../../core/errors.ts';
import { isUuid } from '../../../../core/ids.ts';
import { requireFeature } from '../../../../core/plan-features.ts';
import { callerOf, tenantOf } from '../../../../core/principal.ts';
import type { MediaType } from '../../../../network/network.ts';
import type { JsonObject } from '../../../../platform/json.ts';
import { isLonger, isStorable } from '../../../../platform/text.ts';
import type { Context } from '../../../../schema/context.ts';
import type { MessageRow } from '../../message.ts';
import { type Content, checkTexts } from '../../send/content.ts';
import type { SendInput } from '../../send/request.ts';
import { send } from '../../send/send.ts';
import { MAX_FILENAME, MIN_REMAINING_MS, nameOnly, type StoredMedia } from './file.ts';
import { getMedia } from './store.ts';

export interface SendMediaInput extends SendInput, MediaInput {}

export interface MediaInput {
  readonly kind: MediaType;
  /** URL from which the network fetches the file; alternative: `mediaId`. */
  readonly link?: string | null | undefined;
  /** Id of an upload. */
  readonly mediaId?: string | null | undefined;
  readonly caption?: string | null | undefined;
  readonly filename?: string | null | undefined;
}

/** In characters, after merging (cloud-api §4). */
export const MAX_CAPTION = 1_024;
export const MAX_LINK = 2_000;

/**
 * Sends an upload, or a file that the network fetches; if that fetch fails, the message fails later with 131053.
 * @throws like `send`; VALIDATION_ERROR on link, mediaId, caption, filename; FEATURE_NOT_AVAILABLE
 */
export async function sendMedia(context: Context, input: SendMediaInput): Promise<MessageRow> {
  return send(context, 'sendMessage', input, await mediaContent(context, input));
}

/** The content, validated as far as possible before the recipient is known. @throws VALIDATION_ERROR, FEATURE_NOT_AVAILABLE */
export async function mediaContent(
  context: Context,
  input: MediaInput & Pick<SendInput, 'channelId'>,
): Promise<Content> {
  const { tenant } = callerOf(context);
  requireFeature(tenant, 'media');
  const { kind, link, caption } = input;
  const errors = new FieldErrorList();
  checkWords(input, errors);
  const media = input.link == null ? await mediaOf(context, input, errors) : undefined;
  const texts = { caption: { text: caption ?? '', maxLength: MAX_CAPTION, mayBeEmpty: true } };
  if (!errors.isEmpty) throw withFaultsOf(errors.toError(), () => checkTexts(texts));
  const filename = kind === 'document' ? nameOf(input.filename ?? media?.filename) : undefined;
  return {
    type: kind,
    freeForm: true,
    // An upload belongs to a channel, which is the default for its send.
    channelId: media?.channel_id,
    upload: media && { field: 'mediaId', expiresAt: media.expires_at },
    texts,
    compose(text) {
      const merged = text('caption');
      const location: JsonObject = media ? { id: media.network_media_id } : { link };
      const content = { ...location, ...(merged && { caption: merged }), ...(filename && { filename }) };
      return { body: merged || null, content };
    },
  };
}

const nameOf = (filename: string | undefined): string | undefined => filename && nameOnly(filename);

function checkWords({ kind, link, mediaId, caption, filename }: MediaInput, errors: FieldErrorList): void {
  if (link != null && mediaId != null) errors.add('link', 'Give a link or a mediaId, not both.', 'SURPLUS');
  if (link == null && mediaId == null) errors.add('link', 'A link or a mediaId is required.', 'REQUIRED');
  checkLink(link, 'link', errors);
  if ((kind === 'audio' || kind === 'sticker') && caption)
    errors.add('caption', `${kind === 'audio' ? 'Audio' : 'A sticker'} has no caption.`, 'SURPLUS');
  if (filename == null) return;
  if (kind !== 'document') errors.add('filename', 'Only a document has a file name.', 'SURPLUS');
  else if (isLonger(filename, MAX_FILENAME) || !isStorable(filename) || nameOnly(filename) === '')
    errors.add(
      'filename',
      `Must have 1 to ${MAX_FILENAME} characters.`,
      isLonger(filename, MAX_FILENAME) ? 'TOO_LONG' : 'INVALID',
    );
}

/** Checks a URL from which the network fetches a file, if one is given. */
export function checkLink(link: string | null | undefined, field: string, errors: FieldErrorList): void {
  const fault = link == null ? undefined : linkFault(link);
  if (fault !== undefined) errors.add(field, fault, (link ?? '').length > MAX_LINK ? 'TOO_LONG' : 'INVALID');
}

/** The violated rule of a URL from which the network fetches a file. */
export function linkFault(link: string): string | undefined {
  if (link.length > MAX_LINK) return `May have at most ${MAX_LINK} characters.`;
  const url = URL.canParse(link) ? new URL(link) : undefined;
  if (!url || !/^https?:$/.test(url.protocol) || !isStorable(link) || /\s/.test(link))
    return 'Must be an address that starts with https:// or http://.';
  return url.username || url.password ? 'May not contain a user name or password.' : undefined;
}

/** Finds the upload of a send and checks that it can be sent. @param field the input field, for errors */
export async function mediaOf(
  context: Context,
  { kind, mediaId, channelId }: Pick<SendMediaInput, 'kind' | 'mediaId' | 'channelId'>,
  errors: FieldErrorList,
  field = 'mediaId',
): Promise<StoredMedia | undefined> {
  if (mediaId == null) return undefined;
  const [media] = isUuid(mediaId) ? await getMedia(context.db.read, tenantOf(context), [mediaId]) : [];
  const fault = (message: string, code: FieldCode = 'INVALID'): undefined => {
    errors.add(field, message, code);
    return undefined;
  };
  if (!media) return fault('There is no media with this id.', 'REFERENCE_NOT_FOUND');
  if (media.state === 'pending') return fault('Its file has not been uploaded yet.');
  if (media.lives_for_ms < MIN_REMAINING_MS) return fault('It has expired: upload the file again.');
  if (media.kind !== kind) return fault(`Its file is ${media.mime_type}: that is sent as ${media.kind}.`);
  if (channelId != null && channelId !== media.channel_id) return fault('It was uploaded for another channel.');
  return media;
}
