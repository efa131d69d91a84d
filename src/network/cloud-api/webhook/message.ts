import { asId, asList, asName, asObject, asText, type JsonObject, parseStorable } from '../../../platform/json.ts';
import type { MessageParts, NetworkUpdate, Referral } from '../../updates.ts';
import { webhookError } from '../errors.ts';
import { personOf, readUserId, readWaId } from '../identity.ts';
import type { ContactLookup } from './contacts.ts';
import { type Reading, timeOf } from './reading.ts';

/** The envelope fields of a message; the rest is its content. */
const ENVELOPE: ReadonlySet<string> = new Set([
  'id',
  'from',
  'from_user_id',
  'from_parent_user_id',
  'to',
  'to_user_id',
  'to_parent_user_id',
  'group_id',
  'timestamp',
  'type',
  'context',
  'referral',
  'errors',
  'history_context',
]);

/** Reads the common fields of a message. @returns undefined without an id, by which repetitions are recognised */
export function readMessageParts(
  message: JsonObject,
  contacts: ContactLookup,
  reading: Reading,
): MessageParts | undefined {
  const wamid = asText(message['id']);
  if (wamid === undefined) return undefined;
  const type = asText(message['type']) ?? 'unknown';
  const named = readWaId(message['from']);
  const fromUserId = readUserId(message['from_user_id']) ?? readUserId(message['from']);
  const contact = contacts(named, fromUserId);
  const profile = asObject(contact?.['profile']);
  const content = contentOf(message, type);
  const context = asObject(message['context']);
  const reactsTo = type === 'reaction' ? asText(asObject(content)?.['message_id']) : undefined;
  const groupId = asId(message['group_id']);
  const parentUserId = readUserId(message['from_parent_user_id']) ?? readUserId(contact?.['parent_user_id']);
  const username = asName(profile?.['username']);
  const identityHash = asText(contact?.['identity_key_hash']);
  const referral = readReferral(message['referral']);
  const product = asObject(context?.['referred_product']);
  return {
    wamid,
    from: named ?? readWaId(contact?.['wa_id']),
    userId: fromUserId ?? readUserId(contact?.['user_id']),
    profileName: asText(profile?.['name']),
    ...timeOf(message['timestamp'], reading),
    type,
    text: readableText(type, content),
    replyTo: reactsTo ?? asText(context?.['id']),
    content,
    error: webhookError(message['errors']),
    ...(parentUserId !== undefined && { parentUserId }),
    ...(username !== undefined && { username }),
    ...(identityHash !== undefined && { identityHash }),
    ...(groupId !== undefined && { groupId }),
    ...(referral && { referral }),
    ...(product && {
      referredProduct: {
        catalogId: asId(product['catalog_id']),
        productId: asId(product['product_retailer_id']),
      },
    }),
    // Frequently forwarded messages carry both marks on some versions.
    ...(context?.['frequently_forwarded'] === true
      ? { forwarding: 'frequently_forwarded' as const }
      : context?.['forwarded'] === true && { forwarding: 'forwarded' as const }),
  };
}

/** Reads an edit or a revocation of another message. @returns undefined for other messages */
export function readCorrection(
  message: JsonObject,
  direction: 'inbound' | 'outbound',
  reading: Reading,
): Extract<NetworkUpdate, { kind: 'edit' | 'revoke' }> | undefined {
  const kind = message['type'];
  if (kind !== 'edit' && kind !== 'revoke') return undefined;
  const wamid = asText(message['id']);
  const fields = asObject(message[kind]);
  const originalWamid = asText(fields?.['original_message_id']);
  if (wamid === undefined || originalWamid === undefined) return undefined;
  const edited = asObject(fields?.['message']);
  const type = asText(edited?.['type']);
  // An edit without content cannot be applied.
  if (kind === 'edit' && (!edited || type === undefined)) return undefined;
  const content = edited && type !== undefined ? contentOf(edited, type) : undefined;
  const groupId = asId(message['group_id']);
  return {
    kind,
    phoneNumberId: reading.phoneNumberId,
    wamid,
    originalWamid,
    direction,
    person:
      direction === 'inbound'
        ? personOf(message['from'], message['from_user_id'], message['from_parent_user_id'])
        : personOf(message['to'], message['to_user_id'], message['to_parent_user_id']),
    ...(groupId !== undefined && { groupId }),
    ...timeOf(message['timestamp'], reading),
    type,
    text: type === undefined ? undefined : readableText(type, content),
    content,
  };
}

export const isCorrection = ({ type }: JsonObject): boolean => type === 'edit' || type === 'revoke';

function contentOf(message: JsonObject, type: string): unknown {
  const rest = withoutEnvelope(message);
  if (!Object.hasOwn(rest, type)) return rest;
  const { [type]: value, ...others } = rest;
  const content = type === 'interactive' ? withAnswers(value) : value;
  // Other fields are kept as well, for example `identity` of a changed security code.
  return asObject(content) && Object.keys(others).length > 0 ? { ...others, ...(content as object) } : content;
}

const withoutEnvelope = (message: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(message).filter(([key]) => !ENVELOPE.has(key)));

/** The answers of a Flow are JSON in a string: adds them parsed, as `answers`. */
function withAnswers(content: unknown): unknown {
  const fields = asObject(content);
  const reply = asObject(fields?.['nfm_reply']);
  const json = asText(reply?.['response_json']);
  const answers = json === undefined ? undefined : parseStorable(json);
  return answers === undefined ? content : { ...fields, nfm_reply: { ...reply, answers } };
}

function readReferral(value: unknown): Referral | undefined {
  const fields = asObject(value);
  if (!fields) return undefined;
  const text = (key: string): string | null => asId(fields[key]) ?? null;
  return {
    source_type: text('source_type') ?? 'unknown',
    source_id: text('source_id'),
    source_url: text('source_url'),
    headline: text('headline'),
    body: text('body'),
    media_type: text('media_type'),
    media_url: text('image_url') ?? text('video_url'),
    thumbnail_url: text('thumbnail_url'),
    click_id: text('ctwa_clid'),
    ref: text('ref'),
    welcome_text: asText(asObject(fields['welcome_message'])?.['text']) ?? null,
  };
}

/**
 * The readable text of an inbound message, shown in conversation lists and matched by bots. `content` is `message[message.type]`.
 * Undefined for media without a caption, removed reactions and unknown types.
 */
function readableText(type: string, content: unknown): string | undefined {
  if (type === 'contacts') return joined(asList(content).map(contactName));
  const fields = asObject(content);
  if (!fields) return undefined;
  switch (type) {
    case 'text':
    case 'system':
      return asText(fields['body']);
    case 'image':
    case 'video':
    case 'document':
      return asText(fields['caption']);
    case 'button':
    case 'order':
      return asText(fields['text']);
    case 'interactive':
      return interactiveText(fields);
    case 'reaction':
      return asText(fields['emoji']);
    case 'location':
      return asText(fields['name']) ?? asText(fields['address']) ?? coordinates(fields);
    default:
      return undefined;
  }
}

function interactiveText(interactive: JsonObject): string | undefined {
  const reply = asObject(interactive['button_reply']) ?? asObject(interactive['list_reply']);
  return asText(reply?.['title']) ?? asText(asObject(interactive['nfm_reply'])?.['body']);
}

function contactName(contact: unknown): string | undefined {
  const name = asObject(asObject(contact)?.['name']);
  return asText(name?.['formatted_name']) ?? joined([asText(name?.['first_name']), asText(name?.['last_name'])], ' ');
}

function coordinates(location: JsonObject): string | undefined {
  const { latitude, longitude } = location;
  return typeof latitude === 'number' && typeof longitude === 'number' ? `${latitude}, ${longitude}` : undefined;
}

function joined(parts: readonly (string | undefined)[], separator = ', '): string | undefined {
  return parts.filter(part => part !== undefined).join(separator) || undefined;
}
