import { asObject, asText, type JsonObject } from '../platform/json.ts';
import type { EmulatorNumber } from './options.ts';
import type { World } from './world.ts';

/** A message as a phone shows it. */
export interface ChatMessage {
  readonly wamid: string;
  readonly isFromPerson: boolean;
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

/** What a person and a business number wrote to each other, oldest first. A message that failed did not reach the phone. */
export function chatOf(world: World, number: EmulatorNumber, person: string): ChatMessage[] {
  const messages: ChatMessage[] = [];
  for (const sent of world.sent.all()) {
    if (sent.phoneNumberId !== number.phoneNumberId || (sent.waId !== person && sent.userId !== person)) continue;
    if (sent.statuses.includes('failed')) continue;
    messages.push({
      wamid: sent.wamid,
      isFromPerson: false,
      at: sent.at,
      type: sent.type,
      content: sent.content,
      text: sent.body,
      template: sent.type === 'template' ? templateOf(world, number, sent.content) : undefined,
      status: sent.statuses[sent.statuses.length - 1],
    });
  }
  for (const [wamid, { from, at, type, read, phoneNumberId, message }] of world.received) {
    if (phoneNumberId !== number.phoneNumberId || from !== person) continue;
    const content = asObject(message[type]) ?? {};
    const status = read ? 'read' : 'delivered';
    messages.push({ wamid, isFromPerson: true, at, type, content, text: undefined, template: undefined, status });
  }
  return messages.sort((a, b) => a.at - b.at);
}

const templateOf = (world: World, { wabaId }: EmulatorNumber, content: JsonObject): readonly JsonObject[] | undefined =>
  world.templates.find(wabaId, asText(content['name']) ?? '', asText(asObject(content['language'])?.['code']) ?? '')
    ?.components;
