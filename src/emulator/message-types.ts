import { asList, asObject, asText, type JsonObject } from '../platform/json.ts';
import { badParameter, graphError } from './graph-error.ts';
import { checkInteractive } from './interactive.ts';
import { optionalText, requiredText } from './parameters.ts';

/** Lengths: Meta's message pages. */
const TEXT_MAX = 4_096;
const CAPTION_MAX = 1_024;

/** Validates the content of one message type. @returns the readable text @throws GraphError */
type Check = (content: JsonObject, type: string) => string | undefined;

/** The free-form types. Templates are validated in template-send.ts: they need the account's templates and no window. */
export const MESSAGE_TYPES: ReadonlyMap<string, Check> = new Map<string, Check>([
  ['text', checkText],
  ['image', checkMedia],
  ['video', checkMedia],
  ['audio', checkMedia],
  ['document', checkMedia],
  ['sticker', checkMedia],
  ['interactive', checkInteractive],
  ['reaction', checkReaction],
  ['location', checkLocation],
]);

/** The content of a message by its type; only `contacts` is an array. */
export function contentOf(body: JsonObject, type: string): JsonObject {
  const content = type === 'contacts' ? { contacts: body['contacts'] } : asObject(body[type]);
  if (!content || (type === 'contacts' && asList(body['contacts']).length === 0)) {
    throw graphError(131008, `Parameter '${type}' is mandatory for type '${type}'`);
  }
  return content;
}

export function checkContacts(content: JsonObject): string {
  const names = asList(content['contacts']).map((contact, i) => {
    const name = asText(asObject(asObject(contact)?.['name'])?.['formatted_name']);
    if (name === undefined) throw badParameter(`The parameter contacts[${i}]['name']['formatted_name'] is required.`);
    return name;
  });
  return names.join(', ');
}

function checkText(content: JsonObject): string {
  return requiredText(content['body'], "text['body']", TEXT_MAX);
}

function checkMedia(content: JsonObject, type: string): string | undefined {
  const { id, link } = content;
  if ((id === undefined) === (link === undefined))
    throw badParameter(`Param ${type} must have exactly one of 'id' and 'link'.`);
  if (link !== undefined && !(/^https?:/.test(asText(link) ?? '') && URL.canParse(asText(link) ?? '')))
    throw badParameter(`Param ${type}['link'] must be a valid URL.`);
  const caption = optionalText(content['caption'], `${type}['caption']`, CAPTION_MAX);
  if (caption !== undefined && (type === 'audio' || type === 'sticker'))
    throw badParameter(`Unexpected key "caption" on param "${type}".`);
  return caption ?? asText(content['filename']);
}

function checkReaction(content: JsonObject): string | undefined {
  requiredText(content['message_id'], "reaction['message_id']", 512);
  return typeof content['emoji'] === 'string' ? content['emoji'] : undefined;
}

function checkLocation(content: JsonObject): string | undefined {
  for (const axis of ['latitude', 'longitude']) {
    const value = content[axis];
    // Meta's samples write numbers and strings.
    if (value === undefined || value === '' || Number.isNaN(Number(value)))
      throw badParameter(`The parameter location['${axis}'] is required.`);
  }
  return asText(content['name']) ?? asText(content['address']);
}
