import type { z } from 'zod';
import { isObject, REQUIRED } from './fields.ts';

/** Stands for a text that is missing. A fault whose message has it is about this value, and not about the request. */
export const STAND_IN = '¤';

/** The most values of one enumeration that stand in for a faulty one. */
const MAX_WORDS = 6;

/**
 * Returns bodies in which the faulty fields of a body are replaced, so that the other fields can be checked: a missing text by a
 * stand-in, a word that is no value of an enumeration by each of its values in turn, anything else by nothing.
 * @returns none if fields contradict each other, or the body stays faulty
 */
export function repairedBodies(schema: z.ZodType, sent: unknown): readonly unknown[] {
  const issues = schema.safeParse(sent ?? {}).error?.issues ?? [];
  if (issues.length === 0 || issues.some(issue => issue.path.length === 0 || isConflict(issue))) return [];
  const count = Math.max(...issues.map(issue => wordsOf(issue).length), 1);
  return Array.from({ length: Math.min(count, MAX_WORDS) }, (_, index) =>
    issues.reduce<unknown>((body, issue) => replaced(body, issue.path, standInOf(issue, index)), sent ?? {}),
  ).filter(body => schema.safeParse(body).success);
}

/** Whether fields contradict each other: without one of them it would be another request. */
const isConflict = (issue: z.core.$ZodIssue): boolean =>
  issue.code === 'custom' && issue.params?.['isRule'] === true && issue.message !== REQUIRED;

const wordsOf = (issue: z.core.$ZodIssue): readonly unknown[] => (issue.code === 'invalid_value' ? issue.values : []);

function standInOf(issue: z.core.$ZodIssue, index: number): unknown {
  const words = wordsOf(issue);
  if (words.length > 0) return words[Math.min(index, words.length - 1)];
  const isMissingText =
    (issue.code === 'invalid_type' && issue.expected === 'string') ||
    (issue.code === 'custom' && issue.message === REQUIRED);
  return isMissingText ? STAND_IN : undefined;
}

/** A copy with another value at a path; undefined removes the field. */
function replaced(value: unknown, [key, ...path]: readonly PropertyKey[], standIn: unknown): unknown {
  if (key === undefined) return standIn;
  if (Array.isArray(value)) return value.map((item, index) => (index === key ? replaced(item, path, standIn) : item));
  const { [key as string]: field, ...others } = isObject(value) ? value : {};
  const next = replaced(field, path, standIn);
  return next === undefined ? others : { ...others, [key]: next };
}

/** Whether one of two fields contains the other. */
export const isSameOrBelow = (field: string, name: string): boolean =>
  field === name || field.startsWith(`${name}.`) || name.startsWith(`${field}.`);
