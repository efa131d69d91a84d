import { asObject } from '../../../platform/json.ts';
import type { MessageRow } from '../message.ts';

/** Types of messages, by their content. The network's words are finer and grow with it (`Message.networkType`). */
export const MESSAGE_TYPES = {
  TEXT: 'A text message.',
  IMAGE: 'An image file.',
  VIDEO: 'A video file.',
  AUDIO: 'Audio, also a voice message.',
  DOCUMENT: 'A document file.',
  STICKER: 'A sticker image.',
  TEMPLATE: 'A message template.',
  INTERACTIVE: 'A text with buttons, a list or a link button.',
  LOCATION: 'A place on the map.',
  CONTACTS: 'Contact cards.',
  REACTION: 'A reaction to a message.',
  REPLY: 'The choice of a button or a row.',
  FLOW_REPLY: 'The answers of a flow.',
  ORDER: 'An order from the catalog.',
  CALL: 'A call, or the answer to a request for the permission to call.',
  SYSTEM: 'A message of the network about the person.',
  UNSUPPORTED: 'Content that the network does not pass on.',
  OTHER: 'A type that this gateway does not know; see `networkType`.',
} as const;

export type MessageType = keyof typeof MESSAGE_TYPES;

export function messageTypeOf({
  type,
  direction,
  content,
}: Pick<MessageRow, 'type' | 'direction' | 'content'>): MessageType {
  if (type === 'button') return 'REPLY';
  if (type === 'interactive' && direction === 'inbound')
    return asObject(content['nfm_reply'])
      ? 'FLOW_REPLY'
      : asObject(content['call_permission_reply'])
        ? 'CALL'
        : 'REPLY';
  const word = type.toUpperCase();
  return Object.hasOwn(MESSAGE_TYPES, word) && word !== 'REPLY' ? (word as MessageType) : 'OTHER';
}

/** The same in SQL, over messages `m`. */
export const MESSAGE_TYPE_SQL = `case
  when m.type = 'button' then 'REPLY'
  when m.type = 'interactive' and m.direction = 'inbound' then
    case when m.content ? 'nfm_reply' then 'FLOW_REPLY' when m.content ? 'call_permission_reply' then 'CALL' else 'REPLY' end
  when upper(m.type) = any('{${Object.keys(MESSAGE_TYPES)
    .filter(word => word !== 'REPLY')
    .join(',')}}'::text[]) then upper(m.type)
  else 'OTHER' end`;
