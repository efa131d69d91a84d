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
  /** As the network has it: what was sent, or what the webhook reports. */
  readonly content: JsonObject;
  /** The readable text of what the business sent. */
  readonly text: string | undefined;
  /** Components of the template that was sent, for its header, footer and buttons. */
  readonly template: readonly JsonObject[] | undefined;
  /** Of a message of the business: how far it came; of one of the person: `read` once the business marked it so. */
  readonly status: string | undefined;
}

/**
 * What a person and a business number wrote to each other, oldest first, also under the person's former numbers. A message that
 * failed or is held did not reach the phone.
 *
 * @param groupId shows what the members of this group wrote instead
 */
export function chatOf(world: World, number: EmulatorNumber, person: string, groupId?: string): ChatMessage[] {
  const messages: ChatMessage[] = [];
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
      type: sent.type,
      content: sent.content,
      text: sent.body,
      template: sent.type === 'template' ? templateOf(world, number, sent.content) : undefined,
      status: sent.statuses[sent.statuses.length - 1],
    });
  }
  for (const [wamid, { from, at, type, read, phoneNumberId, message }] of world.received) {
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
      type,
      content,
      text: undefined,
      template: undefined,
      status,
    });
  }
  return messages.sort((a, b) => a.at - b.at);
}

const templateOf = (world: World, { wabaId }: EmulatorNumber, content: JsonObject): readonly JsonObject[] | undefined =>
  world.templates.find(wabaId, asText(content['name']) ?? '', asText(asObject(content['language'])?.['code']) ?? '')
    ?.components;
