import { asObject, asText } from '../../../../platform/json.ts';
import type { PublicMessage } from '../../message.ts';

/** A person's choice. */
export interface Reply {
  /** The id of the button or row; for a quick reply button of a template, its payload. */
  readonly id: string;
  readonly title: string;
  readonly description: string | null;
}

/** The choice in an inbound message; null for other messages (cloud-api §4: button_reply, list_reply, button). */
export function replyOf({
  direction,
  type,
  content,
}: Pick<PublicMessage, 'direction' | 'type' | 'content'>): Reply | null {
  if (direction !== 'inbound') return null;
  if (type === 'button') return replyFrom(asText(content['payload']), asText(content['text']), undefined);
  if (type !== 'interactive') return null;
  const { id, title, description } = asObject(content['button_reply'] ?? content['list_reply']) ?? {};
  return replyFrom(asText(id), asText(title), asText(description));
}

/** For template buttons without a payload, the network sends the text. */
const replyFrom = (id: string | undefined, title: string | undefined, description: string | undefined): Reply | null =>
  id === undefined && title === undefined
    ? null
    : { id: id ?? title ?? '', title: title ?? id ?? '', description: description ?? null };
