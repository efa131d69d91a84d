import { asObject, asText } from '../../platform/json.ts';
import type { PublicMessage } from '../messages/message.ts';

/** What a person chose. */
export interface Reply {
  /** The id that the button or row was sent with; of a template's quick reply button its payload. */
  readonly id: string;
  readonly title: string;
  readonly description: string | null;
}

/** The choice that an inbound message is, if it is one (cloud-api §4: button_reply, list_reply, button). */
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

/** Some buttons of templates have no payload of their own: the network then gives the text. */
const replyFrom = (id: string | undefined, title: string | undefined, description: string | undefined): Reply | null =>
  id === undefined && title === undefined
    ? null
    : { id: id ?? title ?? '', title: title ?? id ?? '', description: description ?? null };
