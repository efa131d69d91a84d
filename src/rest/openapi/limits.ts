import type { JsonSchema } from './shape.ts';

const NUMBER = String.raw`(\d[\d,]*)`;
const CHARACTERS = new RegExp(String.raw`\b(?:${NUMBER} to|at most) ${NUMBER} characters\b(?! after merging)`, 'i');
const ITEMS = new RegExp(String.raw`^(?:${NUMBER} to|at most) ${NUMBER} \w`, 'i');
const RANGE = new RegExp(String.raw`^(?:from )?${NUMBER} to ${NUMBER}\b`, 'i');

const count = (digits: string | undefined): number | undefined =>
  digits === undefined ? undefined : Number(digits.replaceAll(',', ''));

/**
 * The limits that a description states: the house writes them there ("At most 255 characters", "1 to 1,000 contacts"), and so
 * they are written once. What holds "after merging" is no limit of what is sent.
 */
export function limitsIn(description: string, of: 'text' | 'list' | 'number'): JsonSchema {
  const [pattern, minimum, maximum] = {
    text: [CHARACTERS, 'minLength', 'maxLength'] as const,
    list: [ITEMS, 'minItems', 'maxItems'] as const,
    number: [RANGE, 'minimum', 'maximum'] as const,
  }[of];
  const [, lowest, highest] = pattern.exec(description) ?? [];
  const [min, max] = [count(lowest), count(highest)];
  return { ...(min !== undefined && { [minimum]: min }), ...(max !== undefined && { [maximum]: max }) };
}
