import type { JsonObject } from '../../platform/json.ts';
import { FILE_KINDS, type Filling, type HeaderValue, type Slot } from './parameters.ts';
import type { TemplateButton } from './template.ts';
import { fill } from './variables.ts';

/** A template as the person reads it, kept with its message. */
export interface Rendered {
  readonly header: RenderedHeader | null;
  readonly body: string | null;
  readonly footer: string | null;
  readonly buttons: readonly RenderedButton[];
}

export interface RenderedHeader {
  /** TEXT, IMAGE, VIDEO, DOCUMENT, LOCATION */
  readonly format: string;
  readonly text: string | null;
  /** Where the network fetches the file; null where it was uploaded. */
  readonly link: string | null;
  readonly filename: string | null;
}

export interface RenderedButton {
  readonly type: string;
  readonly text: string | null;
  readonly url: string | null;
  readonly phoneNumber: string | null;
}

/** The object of a header's file or place: `{ image: { link } }`. */
export type HeaderObject = JsonObject | undefined;

/** The values of a template's variables, merged, by where they belong. */
const valuesAt = (
  slots: readonly Slot[],
  at: 'header' | 'body',
  text: (field: string) => string,
): Map<string, string> => new Map(slots.filter(slot => slot.at === at).map(slot => [slot.variable, text(slot.field)]));

/** The texts that people read, with their variables filled. */
export function render(
  { parts, slots }: Filling,
  text: (field: string) => string,
  header: { readonly link: string | null; readonly filename: string | null },
): Rendered {
  const filled = (value: string | null, at: 'header' | 'body'): string | null =>
    value === null ? null : fill(value, valuesAt(slots, at, text));
  return {
    header: parts.header && { format: parts.header.format, text: filled(parts.header.text, 'header'), ...header },
    body: filled(parts.body?.text ?? null, 'body'),
    footer: parts.footer?.text ?? null,
    buttons: parts.buttons.map(button => renderButton(button, slots, text)),
  };
}

function renderButton(
  { index, type, text: words, url, phoneNumber }: TemplateButton,
  slots: readonly Slot[],
  text: (field: string) => string,
): RenderedButton {
  const slot = slots.find(({ at, variable }) => typeof at === 'object' && at.button === index && variable === 'url');
  const address =
    url === null || !slot ? url : url.replace(/\{\{\s*\w+\s*\}\}/, () => encodeURIComponent(text(slot.field)));
  return { type, text: words, url: address, phoneNumber };
}

/** The `components` of a template message (cloud-api §4): only what the template needs. */
export function componentsOf(
  { named, slots }: Filling,
  text: (field: string) => string,
  header: HeaderObject,
): JsonObject[] {
  const textParameters = (at: 'header' | 'body'): JsonObject[] =>
    slots
      .filter(slot => slot.at === at)
      .map(slot => ({ type: 'text', ...(named && { parameter_name: slot.variable }), text: text(slot.field) }));
  const [inHeader, inBody] = [header ? [header] : textParameters('header'), textParameters('body')];
  return [
    ...(inHeader.length > 0 ? [{ type: 'header', parameters: inHeader }] : []),
    ...(inBody.length > 0 ? [{ type: 'body', parameters: inBody }] : []),
    ...slots.flatMap(({ at, variable, field }) =>
      typeof at === 'object' ? [buttonComponent(at.button, variable, text(field))] : [],
    ),
  ];
}

function buttonComponent(index: number, word: string, value: string): JsonObject {
  const component = (sub_type: string, parameter: JsonObject): JsonObject => ({
    type: 'button',
    sub_type,
    index: String(index),
    parameters: [parameter],
  });
  switch (word) {
    case 'coupon_code':
      return component('copy_code', { type: 'coupon_code', coupon_code: value });
    case 'payload':
      return component('quick_reply', { type: 'payload', payload: value });
    case 'flow_token':
      return component('flow', { type: 'action', action: { flow_token: value } });
    default:
      return component('url', { type: 'text', text: value });
  }
}

/** The header's file or place, as a parameter; undefined where the header is a text or there is none. @param file `{ id }` or `{ link }` */
export function headerObject(value: HeaderValue | null | undefined, file: JsonObject | undefined): HeaderObject {
  const kind = FILE_KINDS.find(name => value?.[name] != null);
  if (kind && file) return { type: kind, [kind]: file };
  const place = value?.location;
  if (!place) return undefined;
  const { latitude, longitude, name, address } = place;
  const location = {
    latitude: String(latitude),
    longitude: String(longitude),
    ...(name && { name }),
    ...(address && { address }),
  };
  return { type: 'location', location };
}
