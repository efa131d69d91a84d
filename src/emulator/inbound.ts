import type { JsonObject } from '../platform/json.ts';
import type { Inbound } from './inbound-input.ts';
import { type EmulatorNumber, portfolioOf } from './options.ts';
import type { Update } from './update.ts';
import { toWaId } from './wa-id.ts';
import { newWamid } from './wamid.ts';
import { windowKey } from './windows.ts';
import type { World } from './world.ts';

/** A white pixel, the default picture. */
const SAMPLE_PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mP8/x8AAwMCAO+ip1sAAAAASUVORK5CYII=';
const MIME_TYPES = {
  image: 'image/png',
  video: 'video/mp4',
  audio: 'audio/ogg; codecs=opus',
  sticker: 'image/webp',
  document: 'application/pdf',
} as const;

/** Sends a message from a person to a business number: opens the window and posts the webhook. @returns the wamid */
export function receive(world: World, number: EmulatorNumber, input: Inbound): string {
  const at = world.clock.now();
  const waId = input.from === undefined ? undefined : personOf(world, input.from);
  const userId =
    input.userId ??
    (waId !== undefined && world.faults.current.userIds ? world.people.userIdOf(waId, portfolioOf(number)) : undefined);
  if (waId !== undefined && userId !== undefined) world.people.introduce(waId, userId, portfolioOf(number));
  const known = waId ?? (userId === undefined ? undefined : world.people.waIdOf(userId));
  const person = known ?? userId ?? '';
  const wamid = newWamid(person, 'incoming');

  const message: JsonObject = {
    ...contextOf(number, input),
    ...(waId !== undefined && { from: waId }),
    ...(userId !== undefined && { from_user_id: userId }),
    ...(input.parentUserId !== undefined && { from_parent_user_id: input.parentUserId }),
    ...(input.groupId !== undefined && { group_id: input.groupId }),
    id: wamid,
    timestamp: String(Math.floor(at / 1_000)),
    type: input.type === 'flow' ? 'interactive' : input.type,
    ...(input.referral && { referral: input.referral }),
    ...contentOf(world, number, input, waId),
  };
  const contact: JsonObject = {
    ...((input.profileName !== undefined || input.username !== undefined) && {
      profile: {
        ...(input.profileName !== undefined && { name: input.profileName }),
        ...(input.username !== undefined && { username: input.username }),
      },
    }),
    ...(waId !== undefined && { wa_id: waId }),
    ...(userId !== undefined && { user_id: userId }),
    ...(input.parentUserId !== undefined && { parent_user_id: input.parentUserId }),
  };
  const update: Update & { kind: 'message' } = {
    kind: 'message',
    seq: world.nextSeq(),
    wabaId: number.wabaId,
    phoneNumberId: number.phoneNumberId,
    message,
    contact: input.type === 'system' ? undefined : contact,
  };
  world.record({ e: 'inbound', u: update, at });
  if (input.type === 'system' && input.newPhone !== undefined && waId !== undefined) {
    const change = { person: personOf(world, input.newPhone), formerly: waId };
    world.record({ e: 'phone', p: change });
    world.phones.apply(change);
  }
  if (input.groupId === undefined) {
    const key = windowKey(number.phoneNumberId, person);
    world.record({ e: 'window', key, until: world.windows.open(key, at) });
  }
  const { phoneNumberId } = number;
  const type = String(message['type']);
  world.received.set(wamid, { from: person, phoneNumberId, type, at, seq: update.seq, message, read: false });
  world.outbox.add(update, 0);
  return wamid;
}

/** The `wa_id` of a number in any notation; for senders a plus makes no difference. */
export function personOf(world: World, phone: string): string {
  const digits = phone.replace(/\D/g, '');
  return world.faults.current.rewriteWaIds ? toWaId(digits) : digits;
}

/** The context of a message. A forward refers to no message. */
function contextOf(number: EmulatorNumber, input: Inbound): { context?: JsonObject } {
  const { replyTo, forwarded, frequentlyForwarded, referredProduct: product } = input;
  const context: JsonObject = {
    ...((replyTo !== undefined || product) && { from: number.displayPhoneNumber.replace(/\D/g, '') }),
    ...(replyTo !== undefined && { id: replyTo }),
    ...(forwarded && { forwarded }),
    ...(frequentlyForwarded && { frequently_forwarded: true }),
    ...(product && {
      referred_product: { catalog_id: product.catalogId, product_retailer_id: product.productRetailerId },
    }),
  };
  return Object.keys(context).length === 0 ? {} : { context };
}

/** The type-specific part of a message. */
function contentOf(world: World, number: EmulatorNumber, input: Inbound, waId: string | undefined): JsonObject {
  switch (input.type) {
    case 'text':
      return { text: { body: input.text } };
    case 'image':
    case 'video':
    case 'audio':
    case 'document':
    case 'sticker':
      return { [input.type]: mediaContent(world, number, input) };
    case 'location': {
      const { latitude, longitude, name, address } = input;
      return {
        location: {
          ...(address !== undefined && { address }),
          latitude,
          longitude,
          ...(name !== undefined && { name }),
        },
      };
    }
    case 'contacts':
      return {
        contacts: input.contacts.map(({ name, phone }) => ({
          name: { first_name: name.split(' ')[0], formatted_name: name },
          ...(phone !== undefined && { phones: [{ phone, wa_id: phone.replace(/\D/g, ''), type: 'MOBILE' }] }),
        })),
      };
    case 'reaction':
      return { reaction: { message_id: input.messageId, ...(input.emoji !== '' && { emoji: input.emoji }) } };
    case 'button':
      return { button: { payload: input.payload ?? input.text, text: input.text } };
    case 'interactive':
      return {
        interactive: input.buttonReply
          ? { type: 'button_reply', button_reply: input.buttonReply }
          : { type: 'list_reply', list_reply: input.listReply },
      };
    case 'revoke':
      return { revoke: { original_message_id: input.messageId } };
    case 'edit':
      return {
        edit: { original_message_id: input.messageId, message: { type: 'text', text: { body: input.text } } },
      };
    case 'flow': {
      const nfm_reply = { name: 'flow', body: 'Sent', response_json: JSON.stringify(input.answers) };
      return { interactive: { type: 'nfm_reply', nfm_reply } };
    }
    case 'unsupported': {
      const title = 'Message type unknown';
      const code = input.errorCode ?? 131051;
      return {
        errors: [{ code, title, message: title, error_data: { details: 'Message type is currently not supported.' } }],
      };
    }
    case 'order':
      return {
        order: {
          catalog_id: input.catalogId ?? '194836987003835',
          text: input.text ?? '',
          product_items: input.items.map(item => ({
            product_retailer_id: item.productRetailerId,
            quantity: item.quantity,
            item_price: item.itemPrice,
            currency: item.currency,
          })),
        },
      };
    case 'system':
      return systemContent(world, input, waId);
    default:
      return input satisfies never;
  }
}

/** A new number, with the user id that comes with it, or a new user id alone (Meta, webhooks of system messages). */
function systemContent(world: World, input: Extract<Inbound, { type: 'system' }>, waId = ''): JsonObject {
  const name = input.profileName ?? waId;
  const user = input.newUserId === undefined ? {} : { user_id: input.newUserId };
  if (input.newPhone === undefined) {
    const body = `User ${name} changed from ${input.userId ?? waId} to ${input.newUserId ?? ''}`;
    return { system: { body, ...user, type: 'user_changed_user_id' } };
  }
  const wa_id = personOf(world, input.newPhone);
  return {
    system: { body: `User ${name} changed from ${waId} to ${wa_id}`, wa_id, ...user, type: 'user_changed_number' },
  };
}

/** Stores the content for download; webhooks contain `sha256` in base64 and, since 2026, the link. */
function mediaContent(
  world: World,
  number: EmulatorNumber,
  input: Extract<Inbound, { dataBase64?: string | undefined }>,
): JsonObject {
  const bytes = Buffer.from(input.dataBase64 ?? SAMPLE_PNG, 'base64');
  const media = world.media.put(number.phoneNumberId, input.mimeType ?? MIME_TYPES[input.type], bytes);
  return {
    ...('caption' in input && input.caption !== undefined && { caption: input.caption }),
    ...('filename' in input && input.filename !== undefined && { filename: input.filename }),
    ...(input.type === 'audio' && { voice: input.voice ?? true }),
    ...(input.type === 'sticker' && { animated: input.animated ?? false }),
    mime_type: media.mimeType,
    sha256: media.sha256,
    id: media.id,
    url: world.media.link(world.origin, media, world.faults.current.mediaUrlSeconds),
  };
}
