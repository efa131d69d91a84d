import { readTime } from '../../../network/cloud-api/webhook/reading.ts';
import { asList, asObject, asText, type JsonObject } from '../../../platform/json.ts';
import { FILE_KINDS, type Values } from '../../templates/sending/parameters.ts';
import type { Rendered } from '../../templates/sending/render.ts';
import type { MessageError, MessageRow } from '../message.ts';
import { replyOf } from './interactive/reply.ts';
import { type FileContent, fileOf, type MessageFile } from './media/file.ts';

/** Content of a message, by the name of its GraphQL type. Bots and canned replies have the same content before it is sent. */
export type ContentShape =
  | { readonly kind: 'TextContent'; readonly body: string; readonly previewUrl: boolean }
  | { readonly kind: 'MediaContent'; readonly file: FileContent; readonly caption: string | null }
  | {
      readonly kind: 'TemplateContent';
      readonly templateName: string;
      readonly language: string;
      readonly values: Values;
      readonly rendered: Rendered | null;
      /** The file that was sent in the header; null without one, and before it is sent. */
      readonly sentFile: MessageFile | null;
    }
  | ({ readonly kind: 'InteractiveContent' } & InteractiveFields)
  | ({ readonly kind: 'LocationContent' } & Place)
  | { readonly kind: 'ContactsContent'; readonly cards: readonly ContactCard[] }
  | { readonly kind: 'ReactionContent'; readonly emoji: string | null }
  | ({ readonly kind: 'ReplyContent' } & Choice)
  | { readonly kind: 'FlowReplyContent'; readonly flowName: string | null; readonly answers: unknown }
  | {
      readonly kind: 'OrderContent';
      readonly catalogId: string;
      readonly note: string | null;
      readonly items: readonly OrderItem[];
    }
  | { readonly kind: 'CallContent'; readonly outcome: string | null; readonly durationSeconds: number | null }
  | { readonly kind: 'CallPermissionContent'; readonly isGranted: boolean; readonly expiresAt: string | null }
  | { readonly kind: 'SystemContent'; readonly event: string; readonly body: string }
  | { readonly kind: 'UnsupportedContent'; readonly reason: MessageError | null };

export interface InteractiveFields {
  readonly body: string;
  readonly header: string | null;
  readonly footer: string | null;
  readonly buttons: readonly Choice[];
  readonly list: ListFields | null;
  readonly ctaUrl: { readonly displayText: string; readonly url: string } | null;
}

export interface ListFields {
  readonly button: string;
  readonly sections: readonly { readonly title: string | null; readonly rows: readonly Choice[] }[];
}

/** A button, a row of a list, or the choice of one of them. */
export interface Choice {
  readonly replyId: string;
  readonly title: string;
  readonly description: string | null;
}

export interface Place {
  readonly latitude: number;
  readonly longitude: number;
  readonly name: string | null;
  readonly address: string | null;
}

export interface ContactCard {
  readonly name: string;
  /** In the format of the card. */
  readonly phones: readonly string[];
  readonly emails: readonly string[];
  readonly company: string | null;
}

export interface OrderItem {
  readonly productId: string;
  readonly quantity: number;
  /** Of one piece; null if the network's number cannot be read. */
  readonly price: string | null;
  readonly currency: string | null;
}

type Source = Pick<MessageRow, 'id' | 'direction' | 'type' | 'body' | 'content' | 'error'>;

/** The content of a message. Types that this gateway does not know, and content that it cannot read, are unsupported. */
export function contentOfMessage(message: MessageRow): ContentShape {
  return readContent(message) ?? { kind: 'UnsupportedContent', reason: message.error };
}

function readContent(message: MessageRow): ContentShape | undefined {
  const { type, body, content, direction } = message;
  switch (type) {
    case 'text':
      return { kind: 'TextContent', body: body ?? '', previewUrl: content['preview_url'] === true };
    case 'image':
    case 'video':
    case 'audio':
    case 'document':
    case 'sticker': {
      const file = fileOf(message);
      return file ? { kind: 'MediaContent', file, caption: body } : undefined;
    }
    case 'template':
      return templateOf(message);
    case 'button':
      return replyContent(message);
    case 'interactive':
      return direction === 'outbound' ? interactiveOf(content) : (replyContent(message) ?? answerOf(content));
    case 'location':
      return locationOf(content);
    case 'contacts':
      return { kind: 'ContactsContent', cards: asList(content['value']).map(cardOf) };
    case 'reaction':
      return { kind: 'ReactionContent', emoji: asText(content['emoji']) || null };
    case 'order':
      return orderOf(content);
    case 'call':
      return {
        kind: 'CallContent',
        outcome: asText(content['outcome']) ?? null,
        durationSeconds: numberOf(content['duration_seconds']) ?? null,
      };
    case 'system':
      return { kind: 'SystemContent', event: asText(content['type']) ?? '', body: body ?? '' };
    default:
      return undefined;
  }
}

function replyContent(message: Source): ContentShape | undefined {
  const reply = replyOf(message);
  return reply
    ? { kind: 'ReplyContent', replyId: reply.id, title: reply.title, description: reply.description }
    : undefined;
}

/** The answer of a flow, or to a request for the permission to call. */
function answerOf(content: JsonObject): ContentShape | undefined {
  const flow = asObject(content['nfm_reply']);
  if (flow)
    return {
      kind: 'FlowReplyContent',
      flowName: asText(flow['name']) ?? null,
      answers: flow['answers'] ?? asText(flow['response_json']) ?? {},
    };
  const permission = asObject(content['call_permission_reply']);
  if (!permission) return undefined;
  return {
    kind: 'CallPermissionContent',
    isGranted: permission['response'] === 'accept',
    expiresAt: readTime(permission['expiration_timestamp'])?.toISOString() ?? null,
  };
}

function interactiveOf(content: JsonObject): ContentShape | undefined {
  const action = asObject(content['action']);
  const textAt = (name: string): string | undefined => asText(asObject(content[name])?.['text']);
  const parameters = asObject(action?.['parameters']);
  const sections = asList(action?.['sections']);
  return {
    kind: 'InteractiveContent',
    body: textAt('body') ?? '',
    header: textAt('header') ?? null,
    footer: textAt('footer') ?? null,
    buttons: asList(action?.['buttons']).map(button => choiceOf(asObject(button)?.['reply'])),
    list:
      content['type'] === 'list'
        ? {
            button: asText(action?.['button']) ?? '',
            sections: sections.map(section => ({
              title: asText(asObject(section)?.['title']) ?? null,
              rows: asList(asObject(section)?.['rows']).map(choiceOf),
            })),
          }
        : null,
    ctaUrl:
      content['type'] === 'cta_url'
        ? { displayText: asText(parameters?.['display_text']) ?? '', url: asText(parameters?.['url']) ?? '' }
        : null,
  };
}

function choiceOf(value: unknown): Choice {
  const { id, title, description } = asObject(value) ?? {};
  return { replyId: asText(id) ?? '', title: asText(title) ?? '', description: asText(description) ?? null };
}

/** Coordinates are numbers; in some samples of the network texts. */
function locationOf({ latitude, longitude, name, address }: JsonObject): ContentShape | undefined {
  const [north, east] = [numberOf(latitude), numberOf(longitude)];
  return north === undefined || east === undefined
    ? undefined
    : {
        kind: 'LocationContent',
        latitude: north,
        longitude: east,
        name: asText(name) ?? null,
        address: asText(address) ?? null,
      };
}

function numberOf(value: unknown): number | undefined {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined;
}

function cardOf(card: unknown): ContactCard {
  const { name, phones, emails, org } = asObject(card) ?? {};
  const { formatted_name, first_name } = asObject(name) ?? {};
  const texts = (list: unknown, field: string) => asList(list).flatMap(entry => asText(asObject(entry)?.[field]) ?? []);
  return {
    name: asText(formatted_name) ?? asText(first_name) ?? '',
    phones: texts(phones, 'phone'),
    emails: texts(emails, 'email'),
    company: asText(asObject(org)?.['company']) ?? null,
  };
}

const orderOf = (content: JsonObject): ContentShape => ({
  kind: 'OrderContent',
  catalogId: asText(content['catalog_id']) ?? '',
  note: asText(content['text']) ?? null,
  items: asList(content['product_items']).map(item => {
    const { product_retailer_id, quantity, item_price, currency } = asObject(item) ?? {};
    return {
      productId: asText(product_retailer_id) ?? '',
      quantity: numberOf(quantity) ?? 0,
      price: numberOf(item_price)?.toString() ?? null,
      currency: asText(currency) ?? null,
    };
  }),
});

function templateOf(message: MessageRow): ContentShape {
  const { content } = message;
  const objects = (list: unknown): JsonObject[] => asList(list).flatMap((item): JsonObject[] => [asObject(item) ?? {}]);
  const components = objects(content['components']);
  const parametersOf = (component: JsonObject): JsonObject[] => objects(component['parameters']);
  const ofType = (type: string) => components.filter(component => component['type'] === type);
  const body = ofType('body').flatMap(parametersOf);
  const [header] = ofType('header').flatMap(parametersOf);
  const isNamed = body.some(parameter => asText(parameter['parameter_name']) !== undefined);
  return {
    kind: 'TemplateContent',
    templateName: asText(content['name']) ?? '',
    language: asText(asObject(content['language'])?.['code']) ?? '',
    values: {
      header: headerOf(header),
      body: isNamed ? [] : body.map(({ text }) => asText(text) ?? ''),
      bodyByName: isNamed
        ? body.map(({ parameter_name: name, text }) => ({ name: asText(name) ?? '', value: asText(text) ?? '' }))
        : [],
      buttons: ofType('button').map(component => ({
        index: numberOf(component['index']) ?? 0,
        value: buttonValueOf(parametersOf(component)[0]),
      })),
    },
    rendered: (content['rendered'] as Rendered | undefined) ?? null,
    sentFile: sentFileOf(message, header),
  };
}

function sentFileOf(message: MessageRow, parameter: JsonObject | undefined): MessageFile | null {
  const kind = FILE_KINDS.find(name => name === parameter?.['type']);
  const file = kind && asObject(parameter?.[kind]);
  const [networkId = null, link = null] = [asText(file?.['id']), asText(file?.['link'])];
  return kind && (networkId !== null || link !== null) ? { kind, networkId, link, message } : null;
}

function buttonValueOf(parameter: JsonObject | undefined): string {
  const { text, payload, coupon_code, action } = parameter ?? {};
  return asText(text) ?? asText(payload) ?? asText(coupon_code) ?? asText(asObject(action)?.['flow_token']) ?? '';
}

function headerOf(parameter: JsonObject | undefined): Values['header'] {
  const type = asText(parameter?.['type']);
  if (!parameter || type === undefined) return null;
  if (type === 'text') return { text: asText(parameter['text']) ?? '' };
  const value = asObject(parameter[type]) ?? {};
  if (type === 'location') {
    const { latitude, longitude, name, address } = value;
    const place = { latitude: numberOf(latitude) ?? 0, longitude: numberOf(longitude) ?? 0 };
    return { location: { ...place, name: asText(name), address: asText(address) } };
  }
  const link = asText(value['link']);
  if (type === 'document') return { document: { link, filename: asText(value['filename']) } };
  return type === 'image' ? { image: { link } } : type === 'video' ? { video: { link } } : null;
}

/** A line for lists and notifications: the text of a message, or a word for its type. */
export function previewOf(message: MessageRow): string {
  if (message.body) return message.body;
  const shown = contentOfMessage(message);
  if (shown.kind === 'ReactionContent') return 'Reaction removed';
  if (shown.kind === 'ContactsContent') return shown.cards.map(({ name }) => name).join(', ') || 'Contact';
  if (shown.kind === 'LocationContent') return shown.name ?? shown.address ?? 'Location';
  const words: Readonly<Record<string, string>> = {
    image: 'Image',
    video: 'Video',
    audio: 'Audio',
    document: 'Document',
    sticker: 'Sticker',
    template: 'Template',
    order: 'Order',
    call: 'Call',
    system: 'System message',
    interactive: 'Answer',
  };
  return words[message.type] ?? 'Unsupported message';
}
