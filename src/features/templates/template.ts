import { asList, asObject, asText, type JsonObject } from '../../platform/json.ts';

/** A template as stored; events show it as `EventTemplate`. Status, category and quality have the network's values. */
export interface TemplateRow {
  readonly id: number;
  readonly waba_id: string;
  readonly network_id: string;
  readonly name: string;
  /** `en_US` */
  readonly language: string;
  readonly category: string;
  readonly status: string;
  readonly status_reason: string | null;
  readonly parameter_format: string;
  readonly quality: string | null;
  readonly components: readonly JsonObject[];
  readonly created_at: string;
  readonly updated_at: string;
}

/** A template in events, with the field names of REST's rows: `template_id` is the network's id. */
export type EventTemplate = Omit<TemplateRow, 'network_id'> & { readonly template_id: string };

/** A row, or some of its columns, as events show them. */
export function eventTemplate(row: TemplateRow): EventTemplate;
export function eventTemplate(row: Partial<TemplateRow>): Partial<EventTemplate>;
export function eventTemplate({ network_id, ...template }: Partial<TemplateRow>): Partial<EventTemplate> {
  return network_id === undefined ? template : { ...template, template_id: network_id };
}

export const TEMPLATE_COLUMNS = [
  'id',
  'waba_id',
  'network_id',
  'name',
  'language',
  'category',
  'status',
  'status_reason',
  'parameter_format',
  'quality',
  'components',
  'created_at',
  'updated_at',
] as const satisfies readonly (keyof TemplateRow)[];

/** Only a template in this state can be sent. */
export const APPROVED = 'APPROVED';

/** Words of the network that the API has in enums. It may add others, which are `OTHER` there, and `UNKNOWN` for a quality. */
export const CATEGORIES = ['MARKETING', 'UTILITY', 'AUTHENTICATION'] as const;
export const STATUSES = [
  'APPROVED',
  'PENDING',
  'REJECTED',
  'PAUSED',
  'DISABLED',
  'IN_APPEAL',
  'REINSTATED',
  'FLAGGED',
  'PENDING_DELETION',
  'DELETED',
  'LIMIT_EXCEEDED',
  'LOCKED',
  'ARCHIVED',
  'UNARCHIVED',
] as const;
export const QUALITIES = ['GREEN', 'YELLOW', 'RED'] as const;
export const HEADER_FORMATS = ['TEXT', 'IMAGE', 'VIDEO', 'DOCUMENT', 'LOCATION'] as const;
export const BUTTON_TYPES = [
  'QUICK_REPLY',
  'URL',
  'PHONE_NUMBER',
  'COPY_CODE',
  'OTP',
  'FLOW',
  'CATALOG',
  'MPM',
  'SPM',
  'VOICE_CALL',
  'CALL_REQUEST',
] as const;

/** Media type of a header, by format. */
const HEADER_KINDS = { IMAGE: 'image', VIDEO: 'video', DOCUMENT: 'document' } as const;

/** The kind of file that a component shows as header; undefined: none. */
export function headerKindOf(component: JsonObject): (typeof HEADER_KINDS)[keyof typeof HEADER_KINDS] | undefined {
  const format = String(component['format'] ?? '').toUpperCase();
  return asText(component['type'])?.toUpperCase() === 'HEADER' && format in HEADER_KINDS
    ? HEADER_KINDS[format as keyof typeof HEADER_KINDS]
    : undefined;
}

/** The word if it is in the list, else `other`. */
export const wordOf = <Word extends string, Other extends string>(
  words: readonly Word[],
  other: Other,
  word: string | null,
): Word | Other => words.find(known => known === word) ?? other;

/** The parsed components of a template. */
export interface TemplateParts {
  readonly header: TemplateHeader | null;
  readonly body: TemplateText | null;
  readonly footer: TemplateFooter | null;
  readonly buttons: readonly TemplateButton[];
}

export interface TemplateText {
  readonly text: string | null;
  /** Names of the variables: `1`, `2` or `first_name`. */
  readonly parameters: readonly string[];
  /** The sample values that were submitted, by the names of their variables. */
  readonly examples: ReadonlyMap<string, string>;
}

export interface TemplateHeader extends TemplateText {
  /** TEXT, IMAGE, VIDEO, DOCUMENT, LOCATION, or a newer format of the network. */
  readonly format: string;
}

export interface TemplateFooter {
  readonly text: string | null;
  readonly codeExpirationMinutes: number | null;
}

export interface TemplateButton {
  /** Position from 0, by which a send refers to the button. */
  readonly index: number;
  /** QUICK_REPLY, URL, PHONE_NUMBER, COPY_CODE, OTP, FLOW, … */
  readonly type: string;
  readonly text: string | null;
  readonly url: string | null;
  readonly phoneNumber: string | null;
  /** Whether a send needs a value for it: the end of the URL, the coupon code, the one-time code. */
  readonly needsParameter: boolean;
  /** The sample value that was submitted. */
  readonly example: string | null;
}

/** The network generates the text of one-time-code templates, and may not return it. */
const CODE_BODY = '*{{1}}* is your verification code.';

export function partsOf({ category, components }: Pick<TemplateRow, 'category' | 'components'>): TemplateParts {
  const find = (type: string) => components.find(component => keyword(component['type']) === type);
  const isCode = category === 'AUTHENTICATION';
  const [header, body, footer, buttons] = [find('HEADER'), find('BODY'), find('FOOTER'), find('BUTTONS')];
  return {
    header: header ? { format: keyword(header['format']) || 'TEXT', ...textOf(header) } : null,
    body: body ? textOf(isCode ? { ...body, text: body['text'] ?? CODE_BODY } : body) : null,
    footer: footer ? { text: string(footer['text']), codeExpirationMinutes: minutes(footer) } : null,
    buttons: asList(buttons?.['buttons']).map(readButton),
  };
}

const textOf = (component: JsonObject): TemplateText => {
  const text = string(component['text']);
  const parameters = text === null ? [] : variablesOf(text);
  return { text, parameters, examples: examplesOf(component, parameters) };
};

/**
 * The sample values of a header or body: by name in `…_named_params`, or in the order of the variables in `header_text` and, as the
 * first of several lists, `body_text`.
 */
function examplesOf(component: JsonObject, parameters: readonly string[]): Map<string, string> {
  const example = asObject(component['example']) ?? {};
  const named = [...asList(example['header_text_named_params']), ...asList(example['body_text_named_params'])].map(
    value => {
      const { param_name: name, example: text } = asObject(value) ?? {};
      return [string(name), string(text)] as const;
    },
  );
  const [first] = asList(example['body_text']);
  const ordered = [...asList(example['header_text']), ...asList(first)].map(
    (value, index) => [parameters[index], string(value)] as const,
  );
  const known = [...ordered, ...named].filter(([name, text]) => name != null && text !== null);
  return new Map(known as (readonly [string, string])[]);
}

function readButton(value: unknown, index: number): TemplateButton {
  const button = asObject(value) ?? {};
  const [type, url] = [keyword(button['type']), string(button['url'])];
  return {
    index,
    type,
    text: string(button['text']),
    url,
    phoneNumber: string(button['phone_number']),
    needsParameter:
      type === 'COPY_CODE' || type === 'OTP' || (type === 'URL' && url !== null && variablesOf(url).length > 0),
    // The network has it as text or, for a URL, as a list with one text.
    example: string([button['example']].flat()[0]),
  };
}

/** The expiry in minutes that the footer shows for a one-time code; null if the template has none. */
export const codeExpirationOf = (template: Pick<TemplateRow, 'category' | 'components'>): number | null =>
  partsOf(template).footer?.codeExpirationMinutes ?? null;

const minutes = (footer: JsonObject): number | null => {
  const value = Number(footer['code_expiration_minutes'] ?? Number.NaN);
  return Number.isInteger(value) ? value : null;
};

/** The network returns its keywords in upper case and accepts them in any case. */
const keyword = (value: unknown): string => (typeof value === 'string' ? value.toUpperCase() : '');

const string = (value: unknown): string | null => (typeof value === 'string' ? value : null);

/** Converts a language tag to the network's format: `en-US` becomes `en_US`. */
export const languageOf = (text: string): string => text.trim().replaceAll('-', '_');

/** A variable of a template: `{{1}}` or `{{first_name}}`. */
const VARIABLE = /\{\{\s*(\w+)\s*\}\}/g;

/** The distinct variables of a text: numbered ones in ascending order, as the network expects values; named ones by appearance. */
export function variablesOf(text: string): string[] {
  const names = [...new Set([...text.matchAll(VARIABLE)].map(match => match[1] ?? ''))];
  return names.every(name => /^\d+$/.test(name)) ? names.sort((a, b) => Number(a) - Number(b)) : names;
}

/** Replaces variables by values. Values are not searched for variables; a variable without a value stays. */
export const fill = (text: string, values: ReadonlyMap<string, string>): string =>
  text.replace(VARIABLE, (whole, name: string) => values.get(name) ?? whole);
