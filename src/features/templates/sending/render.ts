import type { JsonObject } from '../../../platform/json.ts';
import { fill, type TemplateButton } from '../template.ts';
import { FILE_KINDS, type Filling, type HeaderValue, type Slot } from './parameters.ts';

/** A template as the recipient sees it, stored with the message. */
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
  /** URL from which the network fetches the file; null for an upload. */
  readonly link: string | null;
  readonly filename: string | null;
}

export interface RenderedButton {
  readonly type: string;
  readonly text: string | null;
  readonly url: string | null;
  readonly phoneNumber: string | null;
}

/** Parameter of a media or location header: `{ type: 'image', image: { link } }`. */
export type HeaderObject = JsonObject | undefined;

/** The values of the variables in one part, with merge fields filled. */
const valuesAt = (
  slots: readonly Slot[],
  at: 'header' | 'body',
  text: (field: string) => string,
): Map<string, string> => new Map(slots.filter(slot => slot.at === at).map(slot => [slot.variable, text(slot.field)]));

/** Fills the variables in the visible texts. */
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

/** The `components` of a template message (cloud-api §4): only parts with variables. */
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

/** The parameter of a media or location header; undefined for other headers. @param file `{ id }` or `{ link }` */
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
