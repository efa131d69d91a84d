import type { JsonObject } from '../../platform/json.ts';
import type { Inbound } from './inbound-input.ts';
import type { EmulatorNumber } from './options.ts';
import type { Update } from './update.ts';
import { toWaId } from './wa-id.ts';
import { newWamid } from './wamid.ts';
import { windowKey } from './windows.ts';
import type { World } from './world.ts';

/** A white pixel: what a person sends when the caller gives no picture of their own. */
const SAMPLE_PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mP8/x8AAwMCAO+ip1sAAAAASUVORK5CYII=';
const MIME_TYPES = {
  image: 'image/png',
  video: 'video/mp4',
  audio: 'audio/ogg; codecs=opus',
  sticker: 'image/webp',
  document: 'application/pdf',
} as const;

/** A person writes to a business number: the window opens, the webhook tells. Gives the wamid. */
export function receive(world: World, number: EmulatorNumber, input: Inbound): string {
  const at = world.clock.now();
  const waId = input.from === undefined ? undefined : personOf(world, input.from);
  const userId =
    input.userId ?? (waId !== undefined && world.faults.current.userIds ? world.people.userIdOf(waId) : undefined);
  if (waId !== undefined && userId !== undefined) world.people.introduce(waId, userId);
  const known = waId ?? (userId === undefined ? undefined : world.people.waIdOf(userId));
  const person = known ?? userId ?? '';
  const wamid = newWamid(person, 'incoming');

  const message: JsonObject = {
    ...(input.replyTo !== undefined && {
      context: { from: number.displayPhoneNumber.replace(/\D/g, ''), id: input.replyTo },
    }),
    ...(waId !== undefined && { from: waId }),
    ...(userId !== undefined && { from_user_id: userId }),
    id: wamid,
    timestamp: String(Math.floor(at / 1_000)),
    type: input.type,
    ...contentOf(world, number, input, waId),
  };
  const contact: JsonObject = {
    ...(input.profileName !== undefined && { profile: { name: input.profileName } }),
    ...(waId !== undefined && { wa_id: waId }),
    ...(userId !== undefined && { user_id: userId }),
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
  const key = windowKey(number.phoneNumberId, person);
  world.record({ e: 'window', key, until: world.windows.open(key, at) });
  world.received.set(wamid, { from: person, type: input.type, at, read: false });
  world.outbox.add(update, 0);
  return wamid;
}

/** The `wa_id` of a number in any spelling; here the person dials, so a plus makes no difference. */
export function personOf(world: World, phone: string): string {
  const digits = phone.replace(/\D/g, '');
  return world.faults.current.rewriteWaIds ? toWaId(digits) : digits;
}

/** The part of a message that depends on its type. */
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
    case 'system': {
      const wa_id = personOf(world, input.newPhone);
      const body = `User ${input.profileName ?? waId} changed from ${waId} to ${wa_id}`;
      return { system: { body, wa_id, type: 'user_changed_number' } };
    }
    default:
      return input satisfies never;
  }
}

/** Stores the content, so that it can be fetched like any medium; webhooks give `sha256` in base64 and, since 2026, the link too. */
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
