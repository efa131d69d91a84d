import { LRUCache } from 'lru-cache';
import { RE2JS } from 're2js';

/**
 * Regular expressions of tenants. The engine takes time in proportion to program and text, whatever the expression (RE2; no
 * backtracking), and both are bounded. Measured: a program and a text of the greatest size take some 40 ms.
 */
export const MAX_PATTERN = 500;
/** Instructions of the compiled program: a letter is one. `{n}` multiplies them: `\pL{500}` has 500. */
const MAX_PROGRAM = 500;
/** Characters of a message in which an expression is looked for. */
export const MAX_MATCHED_TEXT = 1_000;
/** Expressions of one tenant: each is tried on each message. */
export const MAX_PATTERN_BOTS = 20;

const MAX_COMPILED = 1_000;

/** What is wrong with an expression; undefined for one that can be used. */
export function patternFault(pattern: string): string | undefined {
  if (pattern.trim() === '') return 'Is required.';
  if (pattern.length > MAX_PATTERN) return `May have at most ${MAX_PATTERN} characters.`;
  try {
    const size = compile(pattern).programSize();
    return size > MAX_PROGRAM
      ? `Is too complex: it compiles to ${size} instructions, and may have ${MAX_PROGRAM}. Repetitions such as {100} count as often.`
      : undefined;
  } catch (error) {
    const reason = error instanceof Error ? error.message.replace('error parsing regexp: ', '') : String(error);
    return `Is no expression of RE2 (https://github.com/google/re2/wiki/Syntax): ${reason.replace('(?i)', '')}.`;
  }
}

const compile = (pattern: string): RE2JS => RE2JS.compile(pattern, RE2JS.CASE_INSENSITIVE);

/** Compiled expressions of one process, by their text: one that a bot changes is another one. */
export class Patterns {
  readonly #compiled = new LRUCache<string, RE2JS>({ max: MAX_COMPILED });

  /** Whether an expression is found anywhere in a text, whatever the case. */
  test(pattern: string, text: string): boolean {
    let compiled = this.#compiled.get(pattern);
    if (!compiled) {
      compiled = compile(pattern);
      this.#compiled.set(pattern, compiled);
    }
    // Not `test`: it keeps a table of up to 8 MB for each expression, and fills it slower than this takes altogether.
    return compiled.matcher(text.slice(0, MAX_MATCHED_TEXT)).find();
  }
}
