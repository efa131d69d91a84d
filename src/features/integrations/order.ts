import { type Phone, parsePhoneIn } from '../../platform/phone.ts';
import { COUNTRIES } from '../countries/country.ts';
import type { HeaderValue, Values } from '../templates/parameters.ts';
import type { PublicOrder } from './integration.ts';
import type { MappedTemplate, Paths, Value } from './mapping.ts';
import { firstText, textAt } from './path.ts';
import { CODES, type Reason, Refusal } from './reason.ts';

/** Longest texts that are kept of an order. */
const MAX = { id: 200, status: 100, other: 255 } as const;

/** The order of a payload; undefined where no id stands at its path, by which it would be known again. */
export function readOrder(payload: unknown, paths: Paths): PublicOrder | undefined {
  const id = firstText(payload, paths.orderId);
  if (id === undefined || id.length > MAX.id) return undefined;
  const text = (name: keyof Paths, maximum: number): string | null =>
    firstText(payload, paths[name])?.slice(0, maximum).toWellFormed() ?? null;
  return {
    id,
    number: text('orderNumber', MAX.other),
    status: text('status', MAX.status),
    total: text('total', MAX.other),
    currency: text('currency', MAX.other),
  };
}

/** Who ordered, as far as the payload says. */
export interface Customer {
  readonly phone: Phone;
  readonly firstName: string;
  readonly lastName: string;
  readonly email: string | null;
}

/** The texts at the paths of a person, as they stand there. */
export interface CustomerTexts {
  readonly phone: string | null;
  readonly firstName: string | null;
  readonly lastName: string | null;
  readonly email: string | null;
  readonly country: string | null;
}

export function readTexts(payload: unknown, paths: Paths): CustomerTexts {
  const text = (name: keyof Paths): string | null => firstText(payload, paths[name]) ?? null;
  return {
    phone: text('phone'),
    firstName: text('firstName'),
    lastName: text('lastName'),
    email: text('email'),
    country: text('country'),
  };
}

const byCode: ReadonlyMap<string, string> = new Map(
  COUNTRIES.flatMap(({ alpha2, alpha3, name }) => [alpha2, alpha3, name].map(word => [word.toLowerCase(), alpha2])),
);

/** ISO 3166-1 alpha-2 of a country by either of its codes or its English name. */
export const countryNamed = (text: string): string | undefined => byCode.get(text.trim().toLowerCase());

/**
 * Who ordered. A national phone number is one of the order's country, or else of the integration's.
 * @throws Refusal
 */
export function readCustomer(payload: unknown, paths: Paths, defaultCountry: string | null): Customer {
  const { phone: written, country: told, firstName, lastName, email } = readTexts(payload, paths);
  const places = paths.phone.join(', ');
  if (written === null)
    throw new Refusal(CODES.phoneMissing, `No phone number stands at ${places}.`, 'phone', paths.phone[0] ?? null);
  const path = paths.phone.find(one => textAt(payload, one) !== undefined) ?? null;
  const country = (told === null ? undefined : countryNamed(told)) ?? defaultCountry;
  const phone = parsePhoneIn(written, country);
  if (!phone) {
    const why =
      country === null
        ? 'is no phone number in international format, and neither the order nor the integration names a country'
        : `is no phone number of ${country}, nor one in international format`;
    throw new Refusal(CODES.phoneInvalid, `What stands at ${path} ${why}.`, 'phone', path);
  }
  return { phone, firstName: firstName ?? '', lastName: lastName ?? '', email };
}

/** One variable, filled. */
export interface Parameter {
  /** As the send of a template names it: `body.0`. */
  readonly field: string;
  /** Where it was looked for; null for a fixed text. */
  readonly path: string | null;
  readonly value: string;
}

export interface Filling {
  /** As a send takes them. */
  readonly values: Values;
  readonly parameters: readonly Parameter[];
  /** What could not be filled. */
  readonly faults: readonly Reason[];
}

/** Fills the variables of a template from a payload. */
export function fillTemplate(template: MappedTemplate, payload: unknown): Filling {
  const parameters: Parameter[] = [];
  const faults: Reason[] = [];
  const look = ({ path, fallback, text }: Value, field: string, variable: string): string => {
    if (path == null) return text ?? '';
    const found = textAt(payload, path);
    if (found !== undefined) return clean(found);
    if (fallback) return fallback;
    const message = `Nothing stands at ${path}, which fills ${variable}, and the mapping has no fallback for it.`;
    faults.push({ code: CODES.parameterMissing, message, field, path });
    return '';
  };
  const fill: Fill = (value, field, variable) => {
    const filled = look(value, field, variable);
    parameters.push({ field, path: value.path ?? null, value: filled });
    return filled;
  };
  const { header, body, bodyByName, buttons } = template;
  const values: Values = {
    ...(header && { header: fillHeader(header, fill) }),
    ...(body && { body: body.map((value, index) => fill(value, `body.${index}`, `{{${index + 1}}}`)) }),
    ...(bodyByName && {
      bodyByName: bodyByName.map(({ name, value }) => ({
        name,
        value: fill(value, `bodyByName.${name}`, `{{${name}}}`),
      })),
    }),
    ...(buttons && {
      buttons: buttons.map(({ index, value }) => ({
        index,
        value: fill(value, `buttons.${index}`, `button ${index}`),
      })),
    }),
  };
  return { values, parameters, faults };
}

/** The paths that filled the fields of a send, by field. */
export const sourcesOf = ({ parameters }: Filling): Readonly<Record<string, string>> =>
  Object.fromEntries(parameters.flatMap(({ field, path }) => (path === null ? [] : [[field, path]])));

/** @param variable what is filled, for people */
type Fill = (value: Value, field: string, variable: string) => string;

function fillHeader(
  { text, image, video, document, filename, location }: NonNullable<MappedTemplate['header']>,
  fill: Fill,
): HeaderValue {
  const link = (value: Value, kind: string) => ({
    link: fill(value, `header.${kind}.link`, `the ${kind} of the header`),
  });
  return {
    ...(text && { text: fill(text, 'header.text', 'the header') }),
    ...(image && { image: link(image, 'image') }),
    ...(video && { video: link(video, 'video') }),
    ...(document && {
      document: {
        ...link(document, 'document'),
        ...(filename && { filename: fill(filename, 'header.document.filename', 'the name of the document') }),
      },
    }),
    ...(location && { location }),
  };
}

/**
 * A value of a payload as a parameter may have it: the network takes no line breaks, tabs or runs of blanks. And what a
 * customer wrote is no merge field of ours: a blank of no width keeps `@{` from being read as one.
 */
const clean = (text: string): string => text.replace(/\s+/g, ' ').replaceAll('@{', '@\u200b{');
