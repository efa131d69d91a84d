import { toStorable } from '../../../platform/text.ts';

/** Maximum nesting, deeper than any order: protects recursive readers from stack overflow. */
const MAX_DEPTH = 64;

/**
 * Parses a payload: an object or a list. Removes characters that PostgreSQL cannot store, and keeps numbers that JavaScript would round as
 * text: order ids have 18 digits and more, and would become the same number (`1e400` and `2e400`: Infinity).
 *
 * @returns undefined if it is not JSON or nested too deeply
 */
export function parsePayload(body: Uint8Array): unknown {
  const text = Buffer.from(body.buffer, body.byteOffset, body.byteLength)
    .toString('utf8')
    .replace(/^\uFEFF/, '');
  if (isTooDeep(text)) return undefined;
  try {
    const value: unknown = JSON.parse(text, revive);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

// `context.source` is ECMAScript's JSON.parse source text access, which TypeScript's types lack.
function revive(_key: string, value: unknown, context?: { readonly source?: string }): unknown {
  if (typeof value === 'string') return toStorable(value);
  const source = context?.source;
  return typeof value === 'number' && source !== undefined && !isExact(value, source) ? source : value;
}

/** Digits that a number of JavaScript always keeps. */
const KEPT_DIGITS = 15;

/** Whether a number is the one that was written: not rounded, and not infinite. */
const isExact = (value: number, source: string): boolean =>
  String(value) === source || (Number.isFinite(value) && source.replace(/\D/g, '').length <= KEPT_DIGITS);

function isTooDeep(text: string): boolean {
  let depth = 0;
  let quoted = false;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at];
    if (quoted) {
      if (character === '\\') at += 1;
      else if (character === '"') quoted = false;
    } else if (character === '"') quoted = true;
    else if (character === '{' || character === '[') {
      depth += 1;
      if (depth > MAX_DEPTH) return true;
    } else if (character === '}' || character === ']') depth -= 1;
  }
  return false;
}
