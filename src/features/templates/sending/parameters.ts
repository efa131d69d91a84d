import { FieldErrorList } from '../../../core/errors.ts';
import type { Maybe } from '../../../core/maybe.ts';
import type { MergeText } from '../../messages/send/content.ts';
import { partsOf, type TemplateHeader, type TemplateParts, type TemplateRow } from '../template.ts';

/** Values for the variables of a template. */
export interface Values {
  readonly header?: Maybe<HeaderValue>;
  /** In the order of the variables. */
  readonly body?: Maybe<readonly string[]>;
  readonly bodyByName?: Maybe<readonly { readonly name: string; readonly value: string }[]>;
  readonly buttons?: Maybe<readonly { readonly index: number; readonly value: string }[]>;
}

export interface HeaderValue {
  readonly text?: Maybe<string>;
  readonly image?: Maybe<FileValue>;
  readonly video?: Maybe<FileValue>;
  readonly document?: Maybe<FileValue & { readonly filename?: Maybe<string> }>;
  readonly location?: Maybe<Place>;
}

/** Either a URL from which the network fetches the file, or the id of an upload. */
export interface FileValue {
  readonly link?: Maybe<string>;
  readonly mediaId?: Maybe<string>;
}

export interface Place {
  readonly latitude: number;
  readonly longitude: number;
  readonly name?: Maybe<string>;
  readonly address?: Maybe<string>;
}

/** One text for a variable or a button. */
export interface Slot {
  readonly field: string;
  readonly at: 'header' | 'body' | { readonly button: number };
  /** Name of the variable; for a button: url, coupon_code or payload. */
  readonly variable: string;
}

/** Validated parameters. */
export interface Filling {
  readonly parts: TemplateParts;
  readonly named: boolean;
  readonly slots: readonly Slot[];
  /** By field: texts to merge and then check against the limits. */
  readonly texts: Readonly<Record<string, MergeText>>;
}

/** Maximum text lengths (Meta's template components pages); for the body, the limit applies to the whole text. */
export const MAX = { headerText: 60, body: 1_024, url: 2_000, coupon: 15, payload: 128, code: 15 } as const;

export const FILE_KINDS = ['image', 'video', 'document'] as const;
const HEADER_KINDS = ['text', ...FILE_KINDS, 'location'] as const;

/** Whether the template is for one-time codes: each of its variables is the code. */
export const isCode = ({ category }: Pick<TemplateRow, 'category'>): boolean => category === 'AUTHENTICATION';

/**
 * Validates a send's values against the template: each missing, surplus or mistyped value is an error.
 *
 * Positional values also fill named variables, in order of appearance, because REST has no names; named values do not fill
 * numbered variables. The button of a one-time code gets the code automatically.
 *
 * @throws VALIDATION_ERROR on `header.image`, `body.1`, `bodyByName.first_name`, `buttons.0` and the like
 */
export function missingValuesOf(
  template: Pick<TemplateRow, 'category' | 'components' | 'parameter_format'>,
  values: Values,
): Filling {
  const parts = partsOf(template);
  const named = template.parameter_format.toUpperCase() === 'NAMED';
  const errors = new FieldErrorList();
  const slots: Slot[] = [];
  const texts: Record<string, MergeText> = {};
  const add = (slot: Slot, text: string, maxLength: number): void => {
    if (text.trim() === '') errors.add(slot.field, 'Is required.', 'REQUIRED');
    slots.push(slot);
    texts[slot.field] = { text, maxLength };
  };

  checkHeader(parts.header, values.header ?? {}, errors);
  if (values.header?.location) checkLocation(values.header.location, errors);
  const [variable] = parts.header?.parameters ?? [];
  if (variable !== undefined && values.header?.text != null)
    add({ field: 'header.text', at: 'header', variable }, values.header.text, MAX.headerText);

  const byName = values.bodyByName ?? [];
  const fields = bodyFields(parts.body?.parameters ?? [], named, values, errors);
  for (const [name, { field, text }] of fields)
    add({ field, at: 'body', variable: name }, text, isCode(template) ? MAX.code : MAX.body);
  if (byName.length > 0 && (values.body?.length ?? 0) > 0)
    errors.add('bodyByName', 'Values are given by order or by name, not both.', 'SURPLUS');

  const given = new Map((values.buttons ?? []).map(({ index, value }) => [index, value]));
  if (given.size < (values.buttons?.length ?? 0)) errors.add('buttons', 'A button is named twice.', 'SURPLUS');
  const [code] = isCode(template) ? [...fields.values()].map(({ text }) => text) : [];
  for (const { index, type, needsParameter } of parts.buttons) {
    const field = `buttons.${index}`;
    const value = given.get(index) ?? (needsParameter ? code : undefined);
    given.delete(index);
    const word = BUTTON_WORDS[type];
    if (value === undefined) {
      if (needsParameter) errors.add(field, `Is required: ${WHY[type] ?? 'the button has a variable'}.`, 'REQUIRED');
    } else if (word === undefined || (type === 'URL' && !needsParameter))
      errors.add(field, 'This button takes no value.', 'SURPLUS');
    else if (code !== undefined && value !== code) errors.add(field, 'Must be the code itself.');
    else add({ field, at: { button: index }, variable: word }, value, LENGTHS[word]);
  }
  for (const index of given.keys()) errors.add(`buttons.${index}`, 'The template has no such button.', 'SURPLUS');
  errors.throwIfAny();
  return { parts, named, slots, texts };
}

type ButtonWord = 'url' | 'coupon_code' | 'payload' | 'flow_token';
const BUTTON_WORDS: Readonly<Record<string, ButtonWord>> = {
  URL: 'url',
  OTP: 'url',
  COPY_CODE: 'coupon_code',
  QUICK_REPLY: 'payload',
  FLOW: 'flow_token',
};
const LENGTHS = { url: MAX.url, coupon_code: MAX.coupon, payload: MAX.payload, flow_token: MAX.url } as const;
const WHY: Readonly<Record<string, string>> = {
  URL: 'the address of the button has a variable',
  COPY_CODE: 'the button copies a code',
};

function checkHeader(header: TemplateHeader | null, value: HeaderValue, errors: FieldErrorList): void {
  const format = header?.format.toLowerCase();
  const needed = HEADER_KINDS.find(kind => kind === format && (kind !== 'text' || header?.parameters.length !== 0));
  for (const kind of HEADER_KINDS) {
    if (kind === needed && value[kind] == null)
      errors.add(
        `header.${kind}`,
        `Is required: the header of this template ${kind === 'text' ? 'has a variable' : `is of the kind ${kind}`}.`,
        'REQUIRED',
      );
    if (kind !== needed && value[kind] != null)
      errors.add(
        `header.${kind}`,
        !header
          ? 'This template has no header.'
          : needed
            ? `The header of this template takes: ${needed}.`
            : 'The header of this template has no variable.',
        'SURPLUS',
      );
  }
  if (header && format !== 'text' && !needed && format !== undefined)
    errors.add('header', `A header of the kind ${header.format} cannot be sent.`);
}

/** @param prefix before each field's name, for example `template.` */
export function checkLocation({ latitude, longitude }: Place, errors: FieldErrorList, prefix = ''): void {
  for (const [name, degrees, maximum] of [
    ['latitude', latitude, 90],
    ['longitude', longitude, 180],
  ] as const) {
    if (Math.abs(degrees) > maximum)
      errors.add(`${prefix}header.location.${name}`, `Must be from -${maximum} to ${maximum} degrees.`, 'OUT_OF_RANGE');
  }
}

/** For each variable of the body, its text and the input field of the text. */
function bodyFields(
  variables: readonly string[],
  named: boolean,
  { body, bodyByName }: Values,
  errors: FieldErrorList,
): Map<string, { readonly field: string; readonly text: string }> {
  const fields = new Map<string, { readonly field: string; readonly text: string }>();
  if (bodyByName && bodyByName.length > 0) {
    if (!named) {
      errors.add(
        'bodyByName',
        'The variables of this template are numbered: give their values in order, as body.',
        'SURPLUS',
      );
      return fields;
    }
    for (const { name, value } of bodyByName) {
      const field = `bodyByName.${name}`;
      if (!variables.includes(name))
        errors.add(field, `The template has no such variable: it has ${listed(variables)}.`, 'SURPLUS');
      else if (fields.has(name)) errors.add(field, 'Is given twice.', 'SURPLUS');
      else fields.set(name, { field, text: value });
    }
    for (const name of variables)
      if (!fields.has(name))
        errors.add(`bodyByName.${name}`, 'Is required: the text of the template has this variable.', 'REQUIRED');
    // In the order of the variables, not of the input.
    return new Map([...fields].sort(([one], [other]) => variables.indexOf(one) - variables.indexOf(other)));
  }
  const texts = body ?? [];
  for (const [index, name] of variables.entries()) {
    const text = texts[index];
    if (text !== undefined) fields.set(name, { field: `body.${index}`, text });
    else
      errors.add(
        `body.${index}`,
        `Is required: the text of the template has the variables ${listed(variables)}.`,
        'REQUIRED',
      );
  }
  for (let index = variables.length; index < texts.length; index += 1)
    errors.add(
      `body.${index}`,
      `Is one too many: the text of the template has ${variables.length === 0 ? 'no variables' : `the variables ${listed(variables)}`}.`,
      'SURPLUS',
    );
  return fields;
}

const listed = (variables: readonly string[]): string => variables.map(name => `{{${name}}}`).join(', ') || 'none';

/** Returns the violation of the network's rule for parameter texts (error 100, "Param text cannot have …"). */
export function textFault(text: string): string | undefined {
  if (/[\r\n\t\v\f\u0085\u2028\u2029]/.test(text)) return 'May have no line breaks and no tabs.';
  return / {5}/.test(text) ? 'May have no more than four spaces in a row.' : undefined;
}
