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
/**
 * Instructions of all expressions of one tenant: what one message may cost the process. Measured: 1,000 of the worst take some
 * 45 ms; those that people write have 10 to 100, and take a tenth of a millisecond.
 */
const MAX_PROGRAMS = 1_000;

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

/** What is wrong with an expression beside the others of its tenant, all of which can be used; undefined: nothing. */
export function burdenFault(pattern: string, others: readonly string[]): string | undefined {
  const size = compile(pattern).programSize();
  const room = MAX_PROGRAMS - others.reduce((sum, other) => sum + compile(other).programSize(), 0);
  return size > room
    ? `Is too complex beside the others: it compiles to ${size} instructions, and all expressions together may have ${MAX_PROGRAMS}, of which ${Math.max(0, room)} are left.`
    : undefined;
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
