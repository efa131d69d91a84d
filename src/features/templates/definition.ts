import { FieldErrorList } from '../../core/errors.ts';
import type { TemplateDefinition } from '../../network/network.ts';
import { asList, asObject, asText, type JsonObject } from '../../platform/json.ts';
import { isLonger, isStorable, UNSTORABLE } from '../../platform/text.ts';
import { checkButtons } from './definition-buttons.ts';
import { CATEGORIES, headerKindOf, languageOf, variablesOf } from './template.ts';

export type DefinitionInput = Omit<TemplateDefinition, 'components'> & { readonly components: readonly unknown[] };

/** Limits of Meta's pages on template components. */
const MAX = { name: 512, headerText: 60, headerVariables: 1, body: 1_024, footer: 60 } as const;
const CODE_MINUTES = { min: 1, max: 90 } as const;
/** Components that may occur once. Others (carousels, limited-time offers) are validated by the network. */
const ONCE = ['HEADER', 'BODY', 'FOOTER', 'BUTTONS'];

/**
 * Validates a template before it is submitted, so that all errors are reported at once and by field, and no invalid request
 * counts against the network's limit of 100 templates an hour.
 *
 * @returns the definition with language and component types in the network's format
 * @throws VALIDATION_ERROR with paths such as `components.1.text`
 */
export function checkDefinition(input: DefinitionInput): TemplateDefinition {
  const errors = new FieldErrorList();
  const name = input.name.trim();
  if (!/^[a-z0-9_]+$/.test(name) || name.length > MAX.name)
    errors.add('name', `Must be 1 to ${MAX.name} small letters (a to z), digits and underscores.`);
  const language = languageOf(input.language);
  if (!/^[a-z]{2,3}(_[A-Za-z0-9]{2,4})?$/.test(language))
    errors.add('language', 'Must be a language such as en or en_US.');
  if (!CATEGORIES.some(category => category === input.category))
    errors.add('category', `Must be one of ${CATEGORIES.join(', ')}.`);

  const components = input.components.flatMap((value, index) => {
    const component = asObject(value) ?? {};
    const type = typeof component['type'] === 'string' ? component['type'].toUpperCase() : '';
    if (type === '')
      errors.add(`components.${index}.type`, 'Is required: HEADER, BODY, FOOTER or BUTTONS.', 'REQUIRED');
    return type === '' ? [] : { path: `components.${index}`, component: { ...component, type } };
  });
  if (!isStorable(JSON.stringify(input.components).replace(/\\u(0000|d[89a-f])/gi, '\0')))
    errors.add('components', UNSTORABLE);
  for (const type of ONCE) {
    const many = components.filter(({ component }) => component.type === type);
    if (many.length > 1) errors.add(many[1]?.path ?? 'components', `There can be only one ${type}.`, 'SURPLUS');
  }
  if (!components.some(({ component }) => component.type === 'BODY'))
    errors.add('components', 'Must hold a BODY.', 'REQUIRED');
  const definition = { ...input, name, language, components: components.map(({ component }) => component) };
  for (const { path, component } of components) checkComponent(component, path, definition, errors);
  errors.throwIfAny();
  return definition;
}

function checkComponent(
  component: JsonObject,
  path: string,
  { category, parameterFormat }: Pick<TemplateDefinition, 'category' | 'parameterFormat'>,
  errors: FieldErrorList,
): void {
  const isCode = category === 'AUTHENTICATION';
  switch (component['type']) {
    case 'HEADER': {
      if (isCode) errors.add(path, 'A template of one-time codes has no header.', 'SURPLUS');
      if (headerKindOf(component) !== undefined && !isCode) checkExample(component, path, errors);
      if (String(component['format'] ?? 'TEXT').toUpperCase() !== 'TEXT') return;
      const text = checkText(component, path, MAX.headerText, errors);
      if (variablesOf(text).length > MAX.headerVariables)
        errors.add(`${path}.text`, 'A header has at most one variable.', 'TOO_MANY');
      checkVariables(text, `${path}.text`, parameterFormat, errors);
      return;
    }
    case 'BODY': {
      if (isCode) {
        if (component['text'] !== undefined)
          errors.add(`${path}.text`, 'The network writes the text of one-time codes itself: leave it out.', 'SURPLUS');
        return;
      }
      const text = checkText(component, path, MAX.body, errors);
      checkVariables(text, `${path}.text`, parameterFormat, errors);
      // Error 2388299 of the network.
      if (/^\s*\{\{|\}\}\s*$/.test(text)) errors.add(`${path}.text`, 'May not begin or end with a variable.');
      return;
    }
    case 'FOOTER': {
      if (isCode) {
        const minutes = component['code_expiration_minutes'];
        const isMinutes =
          Number.isInteger(minutes) && Number(minutes) >= CODE_MINUTES.min && Number(minutes) <= CODE_MINUTES.max;
        if (minutes !== undefined && !isMinutes)
          errors.add(
            `${path}.code_expiration_minutes`,
            `Must be a whole number from ${CODE_MINUTES.min} to ${CODE_MINUTES.max}.`,
            'OUT_OF_RANGE',
          );
        return;
      }
      const text = checkText(component, path, MAX.footer, errors);
      if (variablesOf(text).length > 0) errors.add(`${path}.text`, 'A footer has no variables.', 'SURPLUS');
      return;
    }
    case 'BUTTONS':
      checkButtons(component, path, errors);
  }
}

/** The network reviews a media header by an example: a file that was uploaded to it, or to this gateway. */
function checkExample(component: JsonObject, path: string, errors: FieldErrorList): void {
  const example = asObject(component['example']);
  const isGiven = asText(example?.['media_id']) !== undefined || asList(example?.['header_handle']).length > 0;
  if (!isGiven)
    errors.add(
      `${path}.example`,
      'Is required: { "media_id": the id of an upload }, or { "header_handle": [a handle of the network] }.',
      'REQUIRED',
    );
}

function checkText(component: JsonObject, path: string, max: number, errors: FieldErrorList): string {
  const text = typeof component['text'] === 'string' ? component['text'] : '';
  if (text.trim() === '') errors.add(`${path}.text`, 'Is required.', 'REQUIRED');
  if (isLonger(text, max)) errors.add(`${path}.text`, `May have at most ${max} characters.`, 'TOO_LONG');
  return text;
}

/** Numbered variables must be 1, 2, 3, … without a gap; named ones lower-case letters and underscores. */
function checkVariables(
  text: string,
  field: string,
  format: TemplateDefinition['parameterFormat'],
  errors: FieldErrorList,
): void {
  const names = variablesOf(text);
  if (format === 'POSITIONAL' && names.some((name, index) => name !== String(index + 1)))
    errors.add(field, 'Numbered variables must be {{1}}, {{2}}, … without a gap.');
  const bad = format === 'NAMED' ? names.filter(name => !/^[a-z_]+$/.test(name)) : [];
  if (bad.length > 0) errors.add(field, `Names of variables are small letters and underscores, not ${bad.join(', ')}.`);
}
