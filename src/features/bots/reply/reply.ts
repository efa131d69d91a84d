import type { Maybe } from '../../../core/maybe.ts';
import type { MediaType } from '../../../network/network.ts';
import type { Choices, GivenChoices, InteractiveText } from '../../messages/content/interactive/interactive.ts';
import type { Values } from '../../templates/sending/parameters.ts';

export interface TextReply {
  readonly text: string;
  readonly previewUrl?: Maybe<boolean>;
}

export interface MediaReply {
  readonly kind: MediaType;
  readonly link?: Maybe<string>;
  /** The id of an upload. */
  readonly mediaId?: Maybe<string>;
  readonly caption?: Maybe<string>;
  readonly filename?: Maybe<string>;
}

export interface TemplateReply extends Values {
  readonly name: string;
  readonly language: string;
}

/** A bot's reply: exactly one of these, with the field names of the sends. Merge fields in its texts are filled by the send. */
export interface BotReply {
  readonly text?: Maybe<TextReply>;
  readonly interactive?: Maybe<InteractiveText>;
  readonly media?: Maybe<MediaReply>;
  readonly template?: Maybe<TemplateReply>;
}

/** A reply as inputs of GraphQL name its choices. */
export interface GivenReply extends Omit<BotReply, 'interactive'> {
  readonly interactive?: Maybe<Omit<InteractiveText, keyof Choices> & GivenChoices>;
}

const REPLY_TYPES = ['text', 'interactive', 'media', 'template'] as const;
export type ReplyType = (typeof REPLY_TYPES)[number];

/** Returns the type of a reply; undefined unless exactly one field is set. */
export function typeOf(reply: BotReply): ReplyType | undefined {
  const [type, other] = REPLY_TYPES.filter(name => reply[name] != null);
  return other === undefined ? type : undefined;
}

/** Removes null and undefined fields, so that equal replies are equal JSON. */
export function clean<T>(value: T): T {
  if (Array.isArray(value)) return value.map(clean) as T;
  if (value === null || typeof value !== 'object') return value;
  const entries = Object.entries(value).filter(([, item]) => item != null);
  return Object.fromEntries(entries.map(([name, item]) => [name, clean(item)])) as T;
}

/** Converts keys to the snake_case of REST. All keys are field names; none come from callers. */
export const toWire = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(toWire);
  if (value === null || typeof value !== 'object') return value;
  const snake = (name: string): string => name.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`);
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [snake(name), toWire(item)]));
};

/** Applies `fill` to the texts in which a send fills merge fields. */
export function withTexts(reply: BotReply, fill: (text: string) => string): BotReply {
  const { text, interactive, media, template } = reply;
  const maybe = (value: Maybe<string>): Maybe<string> => (value == null ? value : fill(value));
  if (text) return { text: { ...text, text: fill(text.text) } };
  if (interactive) {
    const { body, header, footer } = interactive;
    return clean({ interactive: { ...interactive, body: fill(body), header: maybe(header), footer: maybe(footer) } });
  }
  if (media) return clean({ media: { ...media, caption: maybe(media.caption) } });
  if (!template) return reply;
  const { header, body, bodyByName, buttons } = template;
  return clean({
    template: {
      ...template,
      header: header && { ...header, text: maybe(header.text) },
      body: body?.map(fill),
      bodyByName: bodyByName?.map(one => ({ ...one, value: fill(one.value) })),
      buttons: buttons?.map(one => ({ ...one, value: fill(one.value) })),
    },
  });
}
