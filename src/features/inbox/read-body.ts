/** Escapes that PostgreSQL cannot store as text: U+0000, and lone surrogates (a name cut within an emoji). */
const UNSTORABLE = /\\u(?:0000|d[89a-f])/i;

/**
 * Parses a webhook, dropping characters that cannot be stored.
 * @returns undefined if the body is not JSON
 */
export function readBody(body: Buffer): unknown {
  const text = body.toString('utf8');
  try {
    if (!UNSTORABLE.test(text)) return JSON.parse(text);
    return JSON.parse(text, (_key, value: unknown) =>
      typeof value === 'string' ? value.replaceAll('\0', '').toWellFormed() : value,
    );
  } catch {
    return undefined;
  }
}
