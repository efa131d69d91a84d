import { type FieldCode, FieldErrorList } from '../../../core/errors.ts';
import { isEventPattern } from '../../../core/events.ts';
import { sha256 } from '../../../platform/crypto.ts';
import { isLonger, isStorable, UNSTORABLE } from '../../../platform/text.ts';
import { type GivenHeader, parseHeaders } from '../delivery/headers.ts';

export const FORMATS = ['standard', 'n8n', 'legacy'] as const;
export type WebhookFormat = (typeof FORMATS)[number];

/** Disabled by a user, because it responded with 410, or because it failed for 5 days. */
export const DISABLED_REASONS = ['by_hand', 'gone', 'failing'] as const;
export type DisabledReason = (typeof DISABLED_REASONS)[number];

/** An endpoint in tables and lists, without secrets. Events show it as `EventWebhook`. */
export interface EndpointRow {
  readonly id: number;
  readonly url: string;
  readonly events: readonly string[];
  readonly format: WebhookFormat;
  readonly description: string | null;
  readonly header_names: readonly string[];
  readonly enabled: boolean;
  readonly disabled_reason: DisabledReason | null;
  readonly disabled_at: string | null;
  /** Time of the first failure since the last success. */
  readonly failing_since: string | null;
  /** Until then, deliveries are also signed with the previous secret. */
  readonly previous_secret_until: string | null;
  readonly created_at: string;
  readonly updated_at: string;
}

/** An endpoint in events, with the field names of REST's rows: `headers` are names without their values. */
export type EventWebhook = Omit<EndpointRow, 'header_names'> & { readonly headers: readonly string[] };

/** A row as events show it. */
export const eventWebhook = ({ header_names: headers, ...webhook }: EndpointRow): EventWebhook => ({
  ...webhook,
  headers,
});

/** The row that an event shows. */
export const rowOfEvent = ({ headers: header_names, ...webhook }: EventWebhook): EndpointRow => ({
  ...webhook,
  header_names,
});

export const ENDPOINT_COLUMNS = [
  'id',
  'url',
  'events',
  'format',
  'description',
  'header_names',
  'enabled',
  'disabled_reason',
  'disabled_at',
  'failing_since',
  'previous_secret_until',
  'created_at',
  'updated_at',
] as const satisfies readonly (keyof EndpointRow)[];

export const MAX_ENDPOINTS = 50;
const MAX_URL = 2_000;
const MAX_DESCRIPTION = 500;
const MAX_EVENTS = 100;

/** The input for an endpoint; for an update, undefined fields stay. */
export interface EndpointInput {
  readonly url?: string | null | undefined;
  readonly events?: readonly string[] | null | undefined;
  readonly format?: WebhookFormat | null | undefined;
  readonly headers?: readonly GivenHeader[] | null | undefined;
  readonly description?: string | null | undefined;
  readonly isEnabled?: boolean | null | undefined;
}

export interface EndpointFields {
  readonly url?: string;
  readonly events?: readonly string[];
  readonly format?: WebhookFormat;
  readonly headers?: readonly GivenHeader[];
  readonly description?: string | null;
  readonly enabled?: boolean;
}

/** URLs that this deployment allows. */
export interface UrlRules {
  readonly allowHttp: boolean;
  allowsHost(hostname: string): boolean;
}

/**
 * Validates and normalises an input.
 * @param partial for an update: omitted fields stay
 * @throws VALIDATION_ERROR by field
 */
export function parseEndpoint(input: EndpointInput, rules: UrlRules, partial: boolean): EndpointFields {
  const errors = new FieldErrorList();
  if (partial) errors.refuseNull(input, ['url', 'events', 'format', 'isEnabled']);
  const { url, events, format, headers, description, isEnabled } = input;
  const fields: EndpointFields = {
    ...((url != null || !partial) && { url: parseUrl(url ?? '', rules, errors) }),
    ...((events != null || !partial) && { events: parseEvents(events ?? [], errors) }),
    ...(format != null && { format }),
    ...(headers !== undefined && { headers: parseHeaders(headers ?? [], errors, partial) }),
    ...(description !== undefined && { description: parseDescription(description, errors) }),
    ...(isEnabled != null && { enabled: isEnabled }),
  };
  errors.throwIfAny();
  return fields;
}

function parseUrl(text: string, { allowHttp, allowsHost }: UrlRules, errors: FieldErrorList): string {
  const fault = (message: string, code?: FieldCode): string => {
    errors.add('url', message, code);
    return text;
  };
  const trimmed = text.trim();
  if (trimmed === '') return fault('Is required.', 'REQUIRED');
  // URL parsers remove or replace these, so the URL that is called would differ from the one given.
  if (/[\s\\\p{Cc}]/u.test(trimmed))
    return fault('May not contain spaces, line breaks or backslashes: encode them (%20).');
  const url = /^[a-z][a-z0-9+.-]*:\/\/[^/]/i.test(trimmed) ? URL.parse(trimmed) : null;
  if (!url || url.hostname === '' || url.port === '0')
    return fault('Must be an absolute address such as https://example.com/hook.');
  if (url.protocol !== 'https:' && !(allowHttp && url.protocol === 'http:'))
    return fault(allowHttp ? 'Must begin with https:// or http://.' : 'Must begin with https://.');
  if (url.username !== '' || url.password !== '')
    return fault('May not contain a user name or password: use a header of the endpoint.');
  if (trimmed.includes('#')) return fault('May not contain a fragment (#…), which is never sent.');
  if (!allowsHost(url.hostname)) return fault('This address is not public.');
  if (url.href.length > MAX_URL) return fault(`May have at most ${MAX_URL} characters.`, 'TOO_LONG');
  return url.href;
}

/** Events that cannot be subscribed to, with the reason. `*` and `webhook.*` do not include them. */
export const UNDELIVERABLE: Readonly<Record<string, string>> = {
  'webhook.delivery_attempted': 'each delivery would cause another one; use a subscription instead',
  'webhook.test': 'it is sent to the tested endpoint without a subscription',
};

function parseEvents(events: readonly string[], errors: FieldErrorList): string[] {
  const fault = (message: string, code?: FieldCode): void => errors.add('events', message, code);
  const patterns = [...new Set(events.map(event => event.trim()))].sort();
  if (patterns.length === 0) fault('Name at least one event, or * for all.', 'REQUIRED');
  if (patterns.length > MAX_EVENTS) fault(`There may be at most ${MAX_EVENTS}.`, 'TOO_MANY');
  for (const pattern of patterns) {
    const reason = Object.hasOwn(UNDELIVERABLE, pattern) ? UNDELIVERABLE[pattern] : undefined;
    if (reason !== undefined) fault(`${pattern} cannot be delivered: ${reason}.`);
    else if (!isEventPattern(pattern)) fault(`Unknown event: ${pattern.slice(0, 60)}.`);
  }
  return patterns;
}

function parseDescription(text: string | null, errors: FieldErrorList): string | null {
  const description = text?.trim() ?? '';
  if (isLonger(description, MAX_DESCRIPTION))
    errors.add('description', `May have at most ${MAX_DESCRIPTION} characters.`, 'TOO_LONG');
  else if (!isStorable(description)) errors.add('description', UNSTORABLE);
  return description === '' ? null : description;
}

/** Identifies a subscription: digest of URL and events. */
export const subscriptionOf = (url: string, events: readonly string[]): Buffer => sha256(JSON.stringify([url, events]));
