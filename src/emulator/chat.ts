import { asObject, asText, type JsonObject } from '../platform/json.ts';
import type { EmulatorNumber } from './options.ts';
import type { World } from './world.ts';

/** A message as a phone shows it. */
export interface ChatMessage {
  readonly wamid: string;
  readonly isFromPerson: boolean;
  /** The `wa_id` or user id of a person; undefined for the business. */
  readonly from: string | undefined;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly type: string;
  /** The content in the network's format, as sent or as reported by the webhook. */
  readonly content: JsonObject;
  /** The readable text of the business's message. */
  readonly text: string | undefined;
  /** Components of the template that was sent, for its header, footer and buttons. */
  readonly template: readonly JsonObject[] | undefined;
  /** Delivery status of a message of the business; for a message of the person `delivered`, or `read` once the business marked it. */
  readonly status: string | undefined;
  /** The message that it quotes. */
  readonly replyTo: string | undefined;
  readonly isEdited: boolean;
  /** Whether its sender deleted it for everyone, in which case its content is empty. */
  readonly isRevoked: boolean;
  /** The latest of each person and of the business. */
  readonly reactions: readonly { readonly emoji: string; readonly isFromPerson: boolean }[];
}

/**
 * Returns the chat of a person with a business number, oldest first, with edits, deletions and reactions applied, including messages
 * under the person's former numbers. Failed and held messages did not reach the phone and are left out.
 *
 * @param groupId returns the messages of this group's members instead
 */
export function chatOf(world: World, number: EmulatorNumber, person: string, groupId?: string): ChatMessage[] {
  const messages: (ChatMessage & { readonly seq: number })[] = [];
  const numbers = new Set(world.phones.numbersOf(person));
  for (const sent of groupId === undefined ? world.sent.all() : []) {
    if (sent.phoneNumberId !== number.phoneNumberId) continue;
    if (!numbers.has(sent.waId ?? '') && sent.userId !== person) continue;
    if (sent.held || sent.statuses.includes('failed')) continue;
    messages.push({
      wamid: sent.wamid,
      isFromPerson: false,
      from: undefined,
      at: sent.at,
      seq: sent.seq,
      type: sent.type,
      content: sent.content,
      text: sent.body,
      template: sent.type === 'template' ? templateOf(world, number, sent.content) : undefined,
      status: sent.statuses[sent.statuses.length - 1],
      replyTo: sent.replyTo,
      ...UNCHANGED,
    });
  }
  for (const [wamid, { from, at, seq, type, read, phoneNumberId, message }] of world.received) {
    if (phoneNumberId !== number.phoneNumberId || asText(message['group_id']) !== groupId) continue;
    const isOwn = numbers.has(from);
    if (groupId === undefined && !isOwn) continue;
    const content = asObject(message[type]) ?? {};
    const status = read ? 'read' : 'delivered';
    messages.push({
      wamid,
      isFromPerson: isOwn,
      from,
      at,
      seq,
      type,
      content,
      text: undefined,
      template: undefined,
      status,
      replyTo: asText(asObject(message['context'])?.['id']),
      ...UNCHANGED,
    });
  }
  const sorted = messages.sort((a, b) => a.at - b.at || a.seq - b.seq);
  return withChanges(sorted.map(({ seq: _, ...message }) => message));
}

/** Edits, deletions and reactions are messages of the network; a phone shows them on the message that they change. */
function withChanges(messages: readonly ChatMessage[]): ChatMessage[] {
  const shown = new Map<string, ChatMessage>();
  const reactions = new Map<string, Map<string, ChatMessage['reactions'][number]>>();
  for (const message of messages) {
    const { type, content, isFromPerson, from = '', wamid } = message;
    const originalId = asText(content['original_message_id'] ?? content['message_id']) ?? '';
    const original = shown.get(originalId);
    if (type === 'edit' && original) {
      const edited = asObject(content['message']) ?? {};
      const text = asObject(edited[original.type]) ?? asObject(edited['text']) ?? {};
      shown.set(originalId, { ...original, content: { ...original.content, ...text }, isEdited: true });
    } else if (type === 'revoke' && original) {
      shown.set(originalId, { ...original, content: {}, text: undefined, isRevoked: true });
    } else if (type === 'reaction') {
      const emoji = asText(content['emoji']) ?? '';
      const ofMessage = reactions.get(originalId) ?? new Map();
      reactions.set(originalId, ofMessage);
      if (emoji === '') ofMessage.delete(from);
      else ofMessage.set(from, { emoji, isFromPerson });
    } else if (type !== 'edit' && type !== 'revoke') shown.set(wamid, message);
  }
  return [...shown.values()].map(message => ({
    ...message,
    reactions: message.isRevoked ? [] : [...(reactions.get(message.wamid)?.values() ?? [])],
  }));
}

const UNCHANGED = { isEdited: false, isRevoked: false, reactions: [] } as const;

const templateOf = (world: World, { wabaId }: EmulatorNumber, content: JsonObject): readonly JsonObject[] | undefined =>
  world.templates.find(wabaId, asText(content['name']) ?? '', asText(asObject(content['language'])?.['code']) ?? '')
    ?.components;
