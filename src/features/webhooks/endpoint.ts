import { FieldErrorList } from '../../errors.ts';
import { isEventPattern } from '../../events.ts';
import { sha256 } from '../../platform/crypto.ts';
import { isLonger, isStorable } from '../../platform/text.ts';
import { type CustomHeader, parseHeaders } from './headers.ts';

export const FORMATS = ['standard', 'n8n', 'legacy'] as const;
export type WebhookFormat = (typeof FORMATS)[number];

/** By hand, because it answered 410, or because it had failed for 5 days. */
export const DISABLED_REASONS = ['by_hand', 'gone', 'failing'] as const;
export type DisabledReason = (typeof DISABLED_REASONS)[number];

/** An endpoint as tables, events and lists have it. No secret is part of it. */
export interface PublicWebhook {
  readonly id: number;
  readonly url: string;
  readonly events: readonly string[];
  readonly format: WebhookFormat;
  readonly description: string | null;
  readonly header_names: readonly string[];
  readonly enabled: boolean;
  readonly disabled_reason: DisabledReason | null;
  readonly disabled_at: string | null;
  /** The first failure since the last success. */
  readonly failing_since: string | null;
  /** Until when the secret before this one signs too. */
  readonly previous_secret_until: string | null;
  readonly created_at: string;
  readonly updated_at: string;
}

export type EndpointRow = PublicWebhook;

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
] as const satisfies readonly (keyof PublicWebhook)[];

export const MAX_ENDPOINTS = 50;
const MAX_URL = 2_000;
const MAX_DESCRIPTION = 500;
const MAX_EVENTS = 100;

/** What a caller may say about an endpoint; undefined: not said. */
export interface EndpointInput {
  readonly url?: string | null | undefined;
  readonly events?: readonly string[] | null | undefined;
  readonly format?: WebhookFormat | null | undefined;
  readonly headers?: readonly CustomHeader[] | null | undefined;
  readonly description?: string | null | undefined;
  readonly isEnabled?: boolean | null | undefined;
}

export interface EndpointFields {
  readonly url?: string;
  readonly events?: readonly string[];
  readonly format?: WebhookFormat;
  readonly headers?: readonly CustomHeader[];
  readonly description?: string | null;
  readonly enabled?: boolean;
}

/** What this deployment lets an endpoint be. */
export interface UrlRules {
  readonly allowHttp: boolean;
  allowsHost(hostname: string): boolean;
}

/**
 * Checks and normalises what a caller wants an endpoint to be.
 * @param partial an update: what is not given stays
 * @throws VALIDATION_ERROR by field
 */
export function parseEndpoint(input: EndpointInput, rules: UrlRules, partial: boolean): EndpointFields {
  const errors = new FieldErrorList();
  const { url, events, format, headers, description, isEnabled } = input;
  const fields: EndpointFields = {
    ...((url != null || !partial) && { url: parseUrl(url ?? '', rules, errors) }),
    ...((events != null || !partial) && { events: parseEvents(events ?? [], errors) }),
    ...(format != null && { format }),
    ...(headers !== undefined && { headers: parseHeaders(headers ?? [], errors) }),
    ...(description !== undefined && { description: parseDescription(description, errors) }),
    ...(isEnabled != null && { enabled: isEnabled }),
  };
  errors.throwIfAny();
  return fields;
}

function parseUrl(text: string, { allowHttp, allowsHost }: UrlRules, errors: FieldErrorList): string {
  const fault = (message: string): string => {
    errors.add('url', message);
    return text;
  };
  const trimmed = text.trim();
  if (trimmed === '') return fault('Is required.');
  // A parser takes them out or turns them round, and what is called is not what was written.
  if (/[\s\\\p{Cc}]/u.test(trimmed)) return fault('May hold no blanks, line breaks or backslashes: encode them (%20).');
  const url = /^[a-z][a-z0-9+.-]*:\/\/[^/]/i.test(trimmed) ? URL.parse(trimmed) : null;
  if (!url || url.hostname === '' || url.port === '0')
    return fault('Must be an absolute address such as https://example.com/hook.');
  if (url.protocol !== 'https:' && !(allowHttp && url.protocol === 'http:'))
    return fault(allowHttp ? 'Must begin with https:// or http://.' : 'Must begin with https://.');
  if (url.username !== '' || url.password !== '')
    return fault('May not hold a user name or password: use a header of the endpoint.');
  if (trimmed.includes('#')) return fault('May not hold a fragment (#…): it would never be sent.');
  if (!allowsHost(url.hostname)) return fault('This address is not public.');
  if (url.href.length > MAX_URL) return fault(`May have at most ${MAX_URL} characters.`);
  return url.href;
}

/** Events that are never delivered to whoever asks for them, and why. `*` and `webhook.*` pass over them. */
export const UNDELIVERABLE: Readonly<Record<string, string>> = {
  'webhook.delivery_attempted': 'its own deliveries would go round for ever; follow it by a subscription',
  'webhook.test': 'it goes to the endpoint that is tested, without being asked for',
};

function parseEvents(events: readonly string[], errors: FieldErrorList): string[] {
  const fault = (message: string): void => errors.add('events', message);
  const patterns = [...new Set(events.map(event => event.trim()))].sort();
  if (patterns.length === 0) fault('Name at least one event, or * for all.');
  if (patterns.length > MAX_EVENTS) fault(`There may be at most ${MAX_EVENTS}.`);
  for (const pattern of patterns) {
    const why = Object.hasOwn(UNDELIVERABLE, pattern) ? UNDELIVERABLE[pattern] : undefined;
    if (why !== undefined) fault(`${pattern} cannot be delivered: ${why}.`);
    else if (!isEventPattern(pattern)) fault(`Unknown event: ${pattern.slice(0, 60)}.`);
  }
  return patterns;
}

function parseDescription(text: string | null, errors: FieldErrorList): string | null {
  const description = text?.trim() ?? '';
  if (isLonger(description, MAX_DESCRIPTION))
    errors.add('description', `May have at most ${MAX_DESCRIPTION} characters.`);
  else if (!isStorable(description))
    errors.add('description', 'May hold neither the character U+0000 nor half a surrogate pair.');
  return description === '' ? null : description;
}

/** What makes two endpoints the same subscription: address and events. */
export const subscriptionOf = (url: string, events: readonly string[]): Buffer => sha256(JSON.stringify([url, events]));
