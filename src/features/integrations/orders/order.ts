import { COUNTRIES } from '../../../platform/countries.ts';
import { type Phone, parsePhoneIn } from '../../../platform/phone.ts';
import type { HeaderValue, Values } from '../../templates/sending/parameters.ts';
import type { PublicOrder } from '../events.ts';
import { firstText, textAt } from '../intake/path.ts';
import type { MappedTemplate, Value } from '../mappings/mapping.ts';
import type { Paths } from '../mappings/paths.ts';
import { CODES, type Reason, Refusal } from './reason.ts';

/** Maximum length of stored texts. */
const MAX = { id: 200, status: 100, other: 255 } as const;

/** Reads the order of a payload; undefined if there is no id at its path, which identifies the order. */
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

/** The customer, as far as the payload names one. */
export interface Customer {
  readonly phone: Phone;
  readonly firstName: string;
  readonly lastName: string;
  readonly email: string | null;
}

/** The unmodified texts at the paths of a person. */
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

/** Returns the ISO 3166-1 alpha-2 code of a country from either code or its English name. */
export const countryNamed = (text: string): string | undefined => byCode.get(text.trim().toLowerCase());

/**
 * Reads the customer. A national phone number belongs to the country of its own address, else to the order's, else to the
 * integration's.
 * @throws Refusal
 */
export function readCustomer(payload: unknown, paths: Paths, defaultCountry: string | null): Customer {
  const { phone: written, firstName, lastName, email } = readTexts(payload, paths);
  const places = paths.phone.join(', ');
  if (written === null)
    throw new Refusal(CODES.phoneMissing, `There is no phone number at ${places}.`, 'phone', paths.phone[0] ?? null);
  const path = paths.phone.find(one => textAt(payload, one) !== undefined) ?? null;
  const country = countryOf(payload, paths, path ?? '') ?? defaultCountry;
  const phone = parsePhoneIn(written, country);
  if (!phone) {
    const fault =
      country === null
        ? 'is not a phone number in international format, and neither the order nor the integration has a country'
        : `is neither a phone number of ${country} nor one in international format`;
    throw new Refusal(CODES.phoneInvalid, `The value at ${path} ${fault}.`, 'phone', path);
  }
  return { phone, firstName: firstName ?? '', lastName: lastName ?? '', email };
}

/** The first country that is one: those of the address that has the phone number, then the others. */
function countryOf(payload: unknown, paths: Paths, phonePath: string): string | undefined {
  const address = phonePath.slice(0, phonePath.lastIndexOf('.') + 1);
  const isBeside = (path: string) => address !== '' && path.startsWith(address);
  for (const path of [...paths.country.filter(isBeside), ...paths.country.filter(other => !isBeside(other))]) {
    const country = countryNamed(textAt(payload, path) ?? '');
    if (country !== undefined) return country;
  }
  return undefined;
}

/** A filled variable. */
export interface Parameter {
  /** Field name in a template's send: `body.0`. */
  readonly field: string;
  /** The path it was read from; null for a fixed text. */
  readonly path: string | null;
  readonly value: string;
}

export interface Filling {
  /** In the form that a send accepts. */
  readonly values: Values;
  readonly parameters: readonly Parameter[];
  /** Variables without a value. */
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
    const message = `There is no value at ${path} for ${variable}, and the mapping has no fallback.`;
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

/** Maps the fields of a send to the paths that filled them. */
export const sourcesOf = ({ parameters }: Filling): Readonly<Record<string, string>> =>
  Object.fromEntries(parameters.flatMap(({ field, path }) => (path === null ? [] : [[field, path]])));

/** @param variable name of the filled variable, for error messages */
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
 * Cleans a payload value for use as a parameter: the network accepts no line breaks, tabs or runs of spaces. Customer text must
 * not be read as a merge field: a zero-width space is inserted into `@{`.
 */
const clean = (text: string): string => text.replace(/\s+/g, ' ').replaceAll('@{', '@\u200b{');
