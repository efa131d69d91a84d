/** Deeper than any order; what is deeper would break who walks through it, and who writes it down again. */
const MAX_DEPTH = 64;

/**
 * A payload as it came, read: an object or a list. Characters that PostgreSQL cannot store are left out, and whole numbers
 * beyond 2^53 are kept as texts: ids of orders have up to 18 digits, and two of them would become one.
 *
 * @returns undefined for what is not JSON, or nested too deep
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

// The source of a number is told since ECMAScript's JSON.parse source text access; the types do not know it yet.
function revive(_key: string, value: unknown, context?: { readonly source?: string }): unknown {
  if (typeof value === 'string') return value.replaceAll('\0', '').toWellFormed();
  const isBig = typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value);
  return isBig && context?.source !== undefined ? context.source : value;
}

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
