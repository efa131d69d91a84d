import type { FieldErrorList } from '../../core/errors.ts';
import type { JsonObject } from '../../platform/json.ts';
import { isLonger } from '../../platform/text.ts';
import { variablesOf } from './template.ts';

/** Limits of Meta's pages on template buttons and authentication templates. */
const MAX_BUTTONS = 10;
const MAX_OF: Readonly<Record<string, number>> = { URL: 2, PHONE_NUMBER: 1, QUICK_REPLY: 10, COPY_CODE: 1, OTP: 1 };
const MAX = {
  text: 25,
  url: 2_000,
  phoneNumber: 20,
  example: 15,
  autofillText: 25,
  packageName: 224,
  apps: 5,
} as const;
const SIGNATURE_HASH_LENGTH = 11;
/** Buttons whose text the network generates. */
const WITHOUT_TEXT = new Set(['COPY_CODE', 'OTP', 'CATALOG', 'MPM', 'SPM', 'FLOW', 'VOICE_CALL', 'CALL_REQUEST']);

/** Validates the buttons of a template definition; errors are at `<path>.buttons.<index>.<field>`. */
export function checkButtons(component: JsonObject, path: string, errors: FieldErrorList): void {
  const list: readonly unknown[] = Array.isArray(component['buttons']) ? component['buttons'] : [];
  const at = `${path}.buttons`;
  if (list.length === 0) errors.add(at, 'Is required.', 'REQUIRED');
  if (list.length > MAX_BUTTONS) errors.add(at, `There can be at most ${MAX_BUTTONS} buttons.`, 'TOO_MANY');
  const types = list.map((value, index) => {
    const button = typeof value === 'object' && value !== null ? (value as JsonObject) : {};
    const type = textOf(button['type']).toUpperCase();
    if (type === '')
      errors.add(`${at}.${index}.type`, 'Is required, such as QUICK_REPLY, URL or PHONE_NUMBER.', 'REQUIRED');
    else checkButton(type, button, `${at}.${index}`, errors);
    return type;
  });
  for (const [type, max] of Object.entries(MAX_OF))
    if (types.filter(one => one === type).length > max)
      errors.add(at, `There can be at most ${max} ${type}.`, 'TOO_MANY');
  const isReply = types.map(type => type === 'QUICK_REPLY');
  if (isReply.slice(isReply.indexOf(true), isReply.lastIndexOf(true)).includes(false))
    errors.add(at, 'Quick replies must be adjacent, before or after all other buttons.');
}

function checkButton(type: string, button: JsonObject, path: string, errors: FieldErrorList): void {
  const limit = (field: string, max: number, required: boolean): string => {
    const text = textOf(button[field]);
    if (required && text.trim() === '') errors.add(`${path}.${field}`, 'Is required.', 'REQUIRED');
    if (isLonger(text, max)) errors.add(`${path}.${field}`, `May have at most ${max} characters.`, 'TOO_LONG');
    return text;
  };
  limit('text', MAX.text, !WITHOUT_TEXT.has(type));
  if (type === 'URL') {
    const url = limit('url', MAX.url, true);
    if (variablesOf(url).length > 1 || /\}\}./.test(url))
      errors.add(`${path}.url`, 'May have one variable, at its end.');
  }
  if (type === 'PHONE_NUMBER') limit('phone_number', MAX.phoneNumber, true);
  if (type === 'COPY_CODE') limit('example', MAX.example, false);
  if (type === 'OTP') {
    limit('autofill_text', MAX.autofillText, false);
    const apps: readonly unknown[] = Array.isArray(button['supported_apps']) ? button['supported_apps'] : [];
    if (apps.length > MAX.apps)
      errors.add(`${path}.supported_apps`, `There can be at most ${MAX.apps} apps.`, 'TOO_MANY');
    checkApp(button, path, errors);
    apps.forEach((app, index) => {
      if (typeof app === 'object' && app !== null)
        checkApp(app as JsonObject, `${path}.supported_apps.${index}`, errors);
    });
  }
}

function checkApp(app: JsonObject, path: string, errors: FieldErrorList): void {
  if (textOf(app['package_name']).length > MAX.packageName)
    errors.add(`${path}.package_name`, `May have at most ${MAX.packageName} characters.`, 'TOO_LONG');
  const hash = app['signature_hash'];
  if (hash !== undefined && textOf(hash).length !== SIGNATURE_HASH_LENGTH)
    errors.add(`${path}.signature_hash`, `Must have exactly ${SIGNATURE_HASH_LENGTH} characters.`);
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');
