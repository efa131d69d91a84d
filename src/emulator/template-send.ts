import { asList, asObject, asText, type JsonObject } from '../platform/json.ts';
import { badParameter, graphError } from './graph-error.ts';
import type { TemplateRecord, TemplateStore } from './template-store.ts';

export interface TemplateSend {
  /** The readable text: the body with its parameters filled. */
  readonly text: string | undefined;
  readonly category: string;
}

/** Longest one-time code (Meta's authentication template page). */
const OTP_MAX = 15;

/**
 * Validates a template message like the network.
 *
 * @throws GraphError 132001 (missing in that language, or not approved), 132015 (paused), 132016 (disabled), 132000 (number
 *   of parameters), 132012 (names of parameters), 131008 (button without its parameter), 131062 (one-time code to a user id)
 */
export function checkTemplateSend(
  templates: TemplateStore,
  wabaId: string,
  content: JsonObject,
  toUserId: boolean,
): TemplateSend {
  const name = asText(content['name']);
  const language = asText(asObject(content['language'])?.['code']);
  if (name === undefined) throw badParameter("The parameter template['name'] is required.");
  if (language === undefined) throw badParameter("The parameter template['language']['code'] is required.");
  const template = templates.find(wabaId, name, language);
  if (template?.status === 'PAUSED') throw graphError(132015, `template name (${name}) is paused due to low quality`);
  if (template?.status === 'DISABLED') throw graphError(132016, `template name (${name}) is disabled`);
  if (template?.status !== 'APPROVED')
    throw graphError(132001, `template name (${name}) does not exist in ${language}`);
  if (template.category === 'AUTHENTICATION' && toUserId) throw graphError(131062);

  const sent = asList(content['components']).map(component => asObject(component) ?? {});
  checkButtons(template, sent);
  checkText(template, 'HEADER', sent);
  const parameters = checkText(template, 'BODY', sent);
  if (template.category === 'AUTHENTICATION' && (parameters[0]?.length ?? 0) > OTP_MAX) {
    throw graphError(132018, `The one-time code must be at most ${OTP_MAX} characters long`);
  }
  const body = componentText(template, 'BODY');
  const variables = variablesOf(body ?? '');
  return {
    text: body?.replace(/\{\{\s*(\w+)\s*\}\}/g, (_whole, name: string) => parameters[variables.indexOf(name)] ?? ''),
    category: template.category.toLowerCase(),
  };
}

/** The variables of a text, in order: `{{1}}` or `{{name}}`. */
export function variablesOf(text: string): string[] {
  return [...new Set([...text.matchAll(/\{\{\s*(\w+)\s*\}\}/g)].map(match => match[1] ?? ''))];
}

/** Body texts of authentication templates are fixed by the network: they have none when created and read, and one parameter when sent. */
function componentText(template: TemplateRecord, type: string): string | undefined {
  const component = template.components.find(c => asText(c['type'])?.toUpperCase() === type);
  if (!component) return undefined;
  const text = asText(component['text']);
  return (
    text ??
    (type === 'BODY' && template.category === 'AUTHENTICATION' ? '*{{1}}* is your verification code.' : undefined)
  );
}

/** The parameter texts of a component, in the order of its variables. */
function checkText(template: TemplateRecord, type: 'HEADER' | 'BODY', sent: readonly JsonObject[]): string[] {
  const variables = variablesOf(componentText(template, type) ?? '');
  const component = sent.find(c => asText(c['type'])?.toUpperCase() === type);
  const parameters = asList(component?.['parameters']).map(p => asObject(p) ?? {});
  const texts = parameters.filter(p =>
    ['TEXT', 'CURRENCY', 'DATE_TIME'].includes(asText(p['type'])?.toUpperCase() ?? ''),
  );
  if (texts.length !== variables.length) {
    throw graphError(
      132000,
      `${type.toLowerCase()}: number of localizable_params (${texts.length}) does not match the expected number of params (${variables.length})`,
    );
  }
  const named = template.parameterFormat === 'NAMED';
  return variables.map(variable => {
    // A numbered variable takes the parameter with its number, regardless of position.
    const parameter = named ? texts.find(p => p['parameter_name'] === variable) : texts[Number(variable) - 1];
    if (!parameter) throw graphError(132012, `${type.toLowerCase()}: Parameter name is missing or empty: ${variable}`);
    return parameterText(parameter);
  });
}

function parameterText(parameter: JsonObject): string {
  const fallback = asObject(parameter['currency']) ?? asObject(parameter['date_time']);
  const text = asText(parameter['text']) ?? asText(fallback?.['fallback_value']);
  if (text === undefined) throw graphError(131008, 'Parameter of type text is missing text value');
  return text;
}

/** Buttons with a variable in their URL, and copy-code buttons of one-time codes, require a parameter. */
function checkButtons(template: TemplateRecord, sent: readonly JsonObject[]): void {
  const component = template.components.find(c => asText(c['type'])?.toUpperCase() === 'BUTTONS');
  asList(component?.['buttons']).forEach((button, index) => {
    const fields = asObject(button);
    const type = asText(fields?.['type'])?.toUpperCase();
    const needed = type === 'OTP' || (type === 'URL' && variablesOf(asText(fields?.['url']) ?? '').length > 0);
    if (!needed) return;
    // Meta's documentation writes the index as "0" and as 0.
    const given = sent.find(c => asText(c['type'])?.toLowerCase() === 'button' && String(c['index']) === String(index));
    if (asList(given?.['parameters']).length === 0) {
      throw graphError(131008, `buttons: Button at index ${index} of type Url requires a parameter`);
    }
  });
}
