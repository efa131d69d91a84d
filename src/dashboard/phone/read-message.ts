import type { ChatMessage } from './emulator.ts';

type Json = Readonly<Record<string, unknown>>;

/** Something to tap. Without an answer it would leave the chat: a link, a telephone number. */
export interface Choice {
  readonly key: string;
  readonly title: string;
  readonly description?: string | undefined;
  readonly answer?: Json;
}

const object = (value: unknown): Json => (typeof value === 'object' && value !== null ? (value as Json) : {});
const list = (value: unknown): readonly Json[] => (Array.isArray(value) ? value.map(object) : []);
const text = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

const component = ({ template }: ChatMessage, type: string): Json | undefined =>
  template?.find(each => text(each['type'])?.toUpperCase() === type);

/** Text of a message. */
export function textOf(message: ChatMessage): string | undefined {
  const { type, content } = message;
  switch (type) {
    case 'text':
      return text(content['body']);
    case 'interactive': {
      const answer = object(content['button_reply'] ?? content['list_reply']);
      return text(object(content['body'])['text']) ?? text(answer['title']);
    }
    case 'button':
      return text(content['text']);
    case 'location':
      return [content['name'], `${content['latitude']}, ${content['longitude']}`].filter(Boolean).join('\n');
    case 'image':
    case 'video':
    case 'document':
      return text(content['caption']);
    default:
      return message.text;
  }
}

/** Parameters of a template's header. */
const headerParameters = ({ content }: ChatMessage): readonly Json[] =>
  list(list(content['components']).find(({ type }) => text(type)?.toLowerCase() === 'header')?.['parameters']);

/** The text above a message, with the variables of a template filled. */
export function headerOf(message: ChatMessage): string | undefined {
  const [parameter] = headerParameters(message);
  const ofTemplate = text(component(message, 'HEADER')?.['text']);
  return (
    text(object(message.content['header'])['text']) ??
    ofTemplate?.replace(/\{\{\s*\w+\s*\}\}/, variable => text(parameter?.['text']) ?? variable)
  );
}

export interface PhoneFile {
  readonly type: 'image' | 'video' | 'audio' | 'document' | 'sticker';
  /** With `id` or `link`, and what its kind has besides. */
  readonly content: Json;
}

const isFile = (type: unknown): type is PhoneFile['type'] =>
  ['image', 'video', 'audio', 'document', 'sticker'].includes(String(type));

/** The file of a message: its content, or its header. */
export function fileOf(message: ChatMessage): PhoneFile | undefined {
  if (isFile(message.type)) return { type: message.type, content: message.content };
  const header = headerParameters(message)[0] ?? object(message.content['header']);
  const { type } = header;
  return isFile(type) ? { type, content: object(header[type]) } : undefined;
}

export function footerOf(message: ChatMessage): string | undefined {
  return text(object(message.content['footer'])['text']) ?? text(component(message, 'FOOTER')?.['text']);
}

/** The buttons and list rows of a message of the business, with what the person sends by tapping them. */
export function choicesOf(message: ChatMessage): Choice[] {
  if (message.isFromPerson) return [];
  const action = object(message.content['action']);
  const buttons = list(action['buttons']).map(button => {
    const { id, title } = object(button['reply']);
    return {
      key: String(id),
      title: String(title),
      answer: { type: 'interactive', buttonReply: { id: String(id), title: String(title) } },
    };
  });
  const rows = list(action['sections']).flatMap(section =>
    list(section['rows']).map(({ id, title, description }) => ({
      key: String(id),
      title: String(title),
      description: text(description),
      answer: {
        type: 'interactive',
        listReply: {
          id: String(id),
          title: String(title),
          ...(text(description) && { description: text(description) }),
        },
      },
    })),
  );
  const link = text(object(action['parameters'])['display_text']);
  const ofTemplate = list(component(message, 'BUTTONS')?.['buttons']).map(button => {
    const title = String(button['text'] ?? button['type']);
    const isReply = text(button['type'])?.toUpperCase() === 'QUICK_REPLY';
    return { key: title, title, ...(isReply && { answer: { type: 'button', text: title } }) };
  });
  return [...buttons, ...rows, ...(link ? [{ key: link, title: link }] : []), ...ofTemplate];
}
