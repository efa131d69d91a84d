import { asList, asObject, type JsonObject } from '../../platform/json.ts';
import { variablesOf } from './variables.ts';

/** A template as tables, events and webhooks have it. Status, category and quality are the network's own words. */
export interface PublicTemplate {
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

export type TemplateRow = PublicTemplate;

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
] as const satisfies readonly (keyof PublicTemplate)[];

/** Only a template in this state can be sent. */
export const APPROVED = 'APPROVED';

/** What a template is made of, read from its components. */
export interface TemplateParts {
  readonly header: TemplateHeader | null;
  readonly body: TemplateText | null;
  readonly footer: TemplateFooter | null;
  readonly buttons: readonly TemplateButton[];
}

export interface TemplateText {
  readonly text: string | null;
  /** Names of the values that a send gives: `1`, `2` or `first_name`. */
  readonly parameters: readonly string[];
}

export interface TemplateHeader extends TemplateText {
  /** TEXT, IMAGE, VIDEO, DOCUMENT, LOCATION or what the network may add. */
  readonly format: string;
}

export interface TemplateFooter {
  readonly text: string | null;
  readonly codeExpirationMinutes: number | null;
}

export interface TemplateButton {
  /** Its place, counted from 0: what a send names it by. */
  readonly index: number;
  /** QUICK_REPLY, URL, PHONE_NUMBER, COPY_CODE, OTP, FLOW, … */
  readonly type: string;
  readonly text: string | null;
  readonly url: string | null;
  readonly phoneNumber: string | null;
  /** Whether a send has to give its value: the end of the address, the coupon code, the one-time code. */
  readonly needsParameter: boolean;
}

/** The network writes the texts of one-time code templates itself, and may not show them. */
const CODE_BODY = '*{{1}}* is your verification code.';

export function partsOf({ category, components }: Pick<PublicTemplate, 'category' | 'components'>): TemplateParts {
  const find = (type: string) => components.find(component => word(component['type']) === type);
  const isCode = category === 'AUTHENTICATION';
  const [header, body, footer, buttons] = [find('HEADER'), find('BODY'), find('FOOTER'), find('BUTTONS')];
  return {
    header: header ? { format: word(header['format']) || 'TEXT', ...textOf(header) } : null,
    body: body ? textOf(isCode ? { ...body, text: body['text'] ?? CODE_BODY } : body) : null,
    footer: footer ? { text: string(footer['text']), codeExpirationMinutes: minutes(footer) } : null,
    buttons: asList(buttons?.['buttons']).map(readButton),
  };
}

const textOf = (component: JsonObject): TemplateText => {
  const text = string(component['text']);
  return { text, parameters: text === null ? [] : variablesOf(text) };
};

function readButton(value: unknown, index: number): TemplateButton {
  const button = asObject(value) ?? {};
  const [type, url] = [word(button['type']), string(button['url'])];
  return {
    index,
    type,
    text: string(button['text']),
    url,
    phoneNumber: string(button['phone_number']),
    needsParameter:
      type === 'COPY_CODE' || type === 'OTP' || (type === 'URL' && url !== null && variablesOf(url).length > 0),
  };
}

/** Minutes for which the network shows a one-time code; null where the template says nothing of it. */
export const codeExpirationOf = (template: Pick<PublicTemplate, 'category' | 'components'>): number | null =>
  partsOf(template).footer?.codeExpirationMinutes ?? null;

const minutes = (footer: JsonObject): number | null => {
  const value = Number(footer['code_expiration_minutes'] ?? Number.NaN);
  return Number.isInteger(value) ? value : null;
};

/** The network writes its words in capitals, and takes them in small letters as well. */
const word = (value: unknown): string => (typeof value === 'string' ? value.toUpperCase() : '');

const string = (value: unknown): string | null => (typeof value === 'string' ? value : null);

/** `en-US` as the network's API has it. */
export const languageOf = (text: string): string => text.trim().replaceAll('-', '_');
