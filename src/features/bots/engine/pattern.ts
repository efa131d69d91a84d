import { LRUCache } from 'lru-cache';
import { RE2JS } from 're2js';

/**
 * Tenants' regular expressions run on RE2, which does not backtrack: its time is proportional to program size × text length, and
 * both are limited. Measured at both limits: about 40 ms.
 */
export const MAX_PATTERN = 500;
/** In instructions of the compiled program. A letter is one; `{n}` multiplies: `\pL{500}` has 500. */
const MAX_PROGRAM = 500;
/** Characters of a message that are searched. */
export const MAX_MATCHED_TEXT = 1_000;
/** Per tenant: every pattern is tested on every message. */
export const MAX_PATTERN_BOTS = 20;
/**
 * Instructions of all patterns of a tenant together: bounds the cost of one message. Measured: 45 ms for 1,000 of the slowest;
 * typical patterns have 10 to 100 and take 0.1 ms.
 */
const MAX_TOTAL_PROGRAM = 1_000;

const MAX_COMPILED = 1_000;

/** Returns an error message for an invalid pattern. */
export function patternFault(pattern: string): string | undefined {
  if (pattern.trim() === '') return 'Is required.';
  if (pattern.length > MAX_PATTERN) return `May have at most ${MAX_PATTERN} characters.`;
  try {
    const size = compile(pattern).programSize();
    return size > MAX_PROGRAM
      ? `Is too complex: it compiles to ${size} instructions; the limit is ${MAX_PROGRAM}. A repetition such as {100} multiplies them.`
      : undefined;
  } catch (error) {
    const reason = error instanceof Error ? error.message.replace('error parsing regexp: ', '') : String(error);
    return `Is not a valid RE2 expression (https://github.com/google/re2/wiki/Syntax): ${reason.replace('(?i)', '')}.`;
  }
}

/** Returns an error message if a pattern exceeds what the tenant's other patterns leave of the total limit. */
export function totalSizeFault(pattern: string, others: readonly string[]): string | undefined {
  const size = compile(pattern).programSize();
  const left = MAX_TOTAL_PROGRAM - others.reduce((sum, other) => sum + compile(other).programSize(), 0);
  return size > left
    ? `Is too complex together with the patterns of the other bots: it compiles to ${size} instructions; ${Math.max(0, left)} of ${MAX_TOTAL_PROGRAM} are left.`
    : undefined;
}

const compile = (pattern: string): RE2JS => RE2JS.compile(pattern, RE2JS.CASE_INSENSITIVE);

/** A cache of compiled patterns, by text. */
export class Patterns {
  readonly #compiled = new LRUCache<string, RE2JS>({ max: MAX_COMPILED });

  /** Whether a pattern matches anywhere in a text, ignoring case. */
  test(pattern: string, text: string): boolean {
    let compiled = this.#compiled.get(pattern);
    if (!compiled) {
      compiled = compile(pattern);
      this.#compiled.set(pattern, compiled);
    }
    // Not `test`: it fills a table of up to 8 MB per pattern, which takes longer than this whole match.
    return compiled.matcher(text.slice(0, MAX_MATCHED_TEXT)).find();
  }
}
