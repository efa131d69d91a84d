/** Writes a request and its answer down as text that is the same in every run: what varies is named, after its form was checked. */

import { expect } from 'vitest';

export interface Exchange {
  readonly method: string;
  /** Below /api/v1/{tenant}. */
  readonly path: string;
  readonly requestHeaders: Readonly<Record<string, string>>;
  /** As it was sent: JSON, or the lines of a form. */
  readonly requestBody: unknown;
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** Of a JSON body, by the names of its fields. */
type Json = { readonly [name: string]: unknown };

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.000000Z$/;
const WAMID = /^wamid\.[A-Za-z0-9+/=]+$/;

/** Of what kind the number of a path is, and the `id` of what the path answers. */
const KINDS: Readonly<Record<string, string>> = {
  contacts: 'contact',
  groups: 'group',
  sources: 'source',
  statuses: 'status',
  templates: 'template',
  messagebots: 'bot',
  templatebots: 'bot',
  bots: 'bot',
};

/** Headers of the transport, or covered by other tests. */
const UNTOLD = new Set(['connection', 'content-length', 'date', 'keep-alive', 'transfer-encoding']);

/** Of every answer since the files were written, and no part of what they promise: asserted here, and left out of the files. */
const ADDED_HEADERS = {
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
};

/** @returns the headers that the files show; the others are asserted */
export function withoutAdded(headers: Headers): Headers {
  const remaining = new Headers(headers);
  expect(Object.fromEntries(Object.keys(ADDED_HEADERS).map(added => [added, remaining.get(added)]))).toEqual(
    ADDED_HEADERS,
  );
  for (const added of Object.keys(ADDED_HEADERS)) remaining.delete(added);
  return remaining;
}

export class Notebook {
  readonly #origin: string;
  readonly #named = new Map<string, string>();
  readonly #counts = new Map<string, number>();

  constructor(origin: string) {
    this.#origin = origin;
  }

  write(exchange: Exchange): string {
    this.#named.clear();
    this.#counts.clear();
    const kind = KINDS[exchange.path.split(/[/?]/)[1] ?? ''] ?? 'message';
    const sent = Object.entries(exchange.requestHeaders).map(([name, value]) => `${name}: ${value}`);
    const lines = [...exchange.headers]
      .filter(([name]) => !UNTOLD.has(name))
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([name, value]) => `${name}: ${this.#header(name, value)}`);
    const parts = [
      [`${exchange.method} /api/v1/{tenant}${this.#path(exchange.path, kind)}`, ...sent].join('\n'),
      this.#body(exchange.requestBody, kind),
      [`HTTP ${exchange.status}`, ...lines].join('\n'),
      this.#body(exchange.text === '' ? undefined : (JSON.parse(exchange.text) as unknown), kind),
    ];
    return `${parts.filter(part => part !== '').join('\n\n')}\n`;
  }

  #body(body: unknown, kind: string): string {
    if (body === undefined) return '';
    return typeof body === 'string' ? body : JSON.stringify(this.#value(body, '', kind), null, 2);
  }

  /** The same thing has the same name in one exchange: `<contact 1>`. Across several, one that is new would rename all behind it. */
  #name(kind: string, value: string | number): string {
    const key = `${kind} ${value}`;
    const known = this.#named.get(key);
    if (known !== undefined) return known;
    const count = (this.#counts.get(kind) ?? 0) + 1;
    this.#counts.set(kind, count);
    const name = `<${kind} ${count}>`;
    this.#named.set(key, name);
    return name;
  }

  #path(path: string, kind: string): string {
    return path.replace(
      /^(\/\w+\/)(\d{1,8})(?=\/|\?|$)/,
      (_all, before: string, id: string) => before + this.#name(kind, id),
    );
  }

  /** @param kind of what the nearest `id` is */
  #value(value: unknown, field: string, kind: string): unknown {
    if (Array.isArray(value)) return value.map(item => this.#value(item, field === 'data' ? '' : field, kind));
    if (typeof value === 'object' && value !== null) {
      const inner = { groups: 'group', source: 'source', status: 'status', messages: 'message' }[field] ?? kind;
      return Object.fromEntries(
        Object.entries(value as Json).map(([name, item]) => [name, this.#value(item, name, inner)]),
      );
    }
    if (typeof value === 'number') return this.#number(value, field, kind);
    return typeof value === 'string' ? this.#text(value, field) : value;
  }

  #number(value: number, field: string, kind: string): unknown {
    if (field === 'retry_after') return form(Number.isInteger(value) && value >= 1 && value <= 60, '<seconds>', value);
    if (field === 'country_id' || value === 0) return value;
    if (field === 'id') return this.#name(kind, value);
    const [, what] = /^(\w+)_id$/.exec(field) ?? [];
    return what === undefined ? value : this.#name(what === 'assigned' ? 'staff member' : what, value);
  }

  #text(text: string, field: string): string {
    if (/_at$/.test(field)) return form(TIME.test(text), '<time>', text);
    if (field === 'message_id' || (field === 'id' && text.startsWith('wamid')))
      return form(WAMID.test(text), this.#name('wamid', text), text);
    if (field === 'template_id') return form(/^\d{15,}$/.test(text), this.#name('network template', text), text);
    if (field === 'otp_code') return form(/^\d{6}$/.test(text), '<six digits>', text);
    return text
      .replace(/x{150,}/g, run => `<${run.length} × x>`)
      .replaceAll(this.#origin, '{origin}')
      .replace(/(?<=try again in )\d+(?= seconds)/i, '<seconds>')
      .replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '<uuid>')
      .replace(/(?<=\/(?:bots|media)\/)\d+/g, '<number>');
  }

  #header(name: string, value: string): string {
    switch (name) {
      case 'x-request-id':
        return form(UUID.test(value), '<uuid>', value);
      case 'etag':
        return form(/^W\/"[\w-]{22}"$/.test(value), '<etag>', value);
      case 'ratelimit':
        return value.replace(/(?<=;[rt]=)\d+/g, '<n>');
      case 'retry-after':
        return form(/^[1-9]\d?$/.test(value), '<seconds>', value);
      case 'x-ratelimit-remaining':
        return form(/^\d+$/.test(value), '<n>', value);
      case 'x-ratelimit-reset':
        return form(/^\d{10}$/.test(value), '<unix>', value);
      case 'link':
        return value.replace(/(?<=\/api\/v2\/(\w+)\/)\d{1,8}(?=>)/, (id, part: string) =>
          this.#name(KINDS[part] ?? part, id),
        );
      default:
        return value;
    }
  }
}

/** @throws when the value has not the form that its name promises */
function form(isRight: boolean, name: string, value: unknown): string {
  if (!isRight) throw new Error(`${value} has not the form of ${name}.`);
  return name;
}
