import type { z } from 'zod';
import { isObject, REQUIRED } from './fields.ts';

/** Stands for a text that is missing. A fault whose message has it is about this value, and not about the request. */
export const STAND_IN = '¤';

/** The most values of one enumeration, or of what chooses between kinds, that stand in for a faulty one. */
const MAX_WORDS = 6;

/** Lists in lists, and the fields of their items: the sections of a message have rows, which have texts. */
const MAX_ROUNDS = 4;

/**
 * Returns bodies in which the faulty fields of a body are replaced, so that the other fields can be checked: a missing text by a
 * stand-in, a missing list by one item, a word that is no value of an enumeration by each of its values in turn, anything else by
 * nothing.
 * @returns none if fields contradict each other, or the body stays faulty
 */
export function repairedBodies(schema: z.ZodType, sent: unknown): readonly unknown[] {
  const issues = schema.safeParse(sent ?? {}).error?.issues ?? [];
  if (issues.length === 0 || issues.some(issue => issue.path.length === 0 || isConflict(issue, sent))) return [];
  const count = Math.max(...issues.map(issue => wordsOf(issue).length), 1);
  return Array.from({ length: Math.min(count, MAX_WORDS) }, (_, index) => repaired(schema, sent ?? {}, index)).filter(
    body => schema.safeParse(body).success,
  );
}

/**
 * Replaces what is faulty, then what is missing in the items that stand in for missing lists. A field that only became faulty by
 * this stays so: its fault would not be one of the request. Unless the kind of the body is unknown: then each kind may miss fields
 * of its own.
 */
function repaired(schema: z.ZodType, sent: unknown, index: number): unknown {
  let body = sent;
  const issues = schema.safeParse(sent).error?.issues ?? [];
  const faulty = new Set(issues.map(({ path }) => path[0]));
  const isOfKind = issues.some(isUnknownKind);
  for (let round = 0; round < MAX_ROUNDS; round++)
    for (const issue of schema.safeParse(body).error?.issues.filter(({ path }) => isOfKind || faulty.has(path[0])) ??
      [])
      body = replaced(body, issue.path, isMissingList(issue, body) ? [{}] : standInOf(issue, index));
  return body;
}

/** A list that cannot be read is removed first, and is missing then if it is required. */
const isMissingList = (issue: z.core.$ZodIssue, body: unknown): boolean =>
  issue.code === 'invalid_type' && issue.expected === 'array' && valueAt(body, issue.path) === undefined;

const valueAt = (value: unknown, path: readonly PropertyKey[]): unknown =>
  path.reduce<unknown>((inner, key) => (inner as Readonly<Record<PropertyKey, unknown>> | undefined)?.[key], value);

/** Whether a rule over several fields found the fault. */
const isOfRule = (issue: z.core.$ZodIssue): boolean => issue.code === 'custom' && issue.params?.['isRule'] === true;

/**
 * Whether fields contradict each other: without one of them it would be another request. A rule that names a field which was not
 * sent misses it.
 */
const isConflict = (issue: z.core.$ZodIssue, sent: unknown): boolean =>
  isOfRule(issue) && issue.message !== REQUIRED && (!isObject(sent) || sent[String(issue.path[0])] !== undefined);

/** Whether the field that tells the kinds of a body apart is missing, or has none of their words. */
const isUnknownKind = (issue: z.core.$ZodIssue): boolean => issue.code === 'invalid_union' && wordsOf(issue).length > 0;

const wordsOf = (issue: z.core.$ZodIssue): readonly unknown[] =>
  issue.code === 'invalid_value' ? issue.values : 'options' in issue ? (issue.options ?? []) : [];

/** Whether the kind of a body is unknown. */
export const isOfUnknownKind = (schema: z.ZodType, sent: unknown): boolean =>
  schema.safeParse(sent ?? {}).error?.issues.some(isUnknownKind) === true;

/** The faults that a body of unknown kind has in the fields that were sent, read as each of the kinds that have them. */
export function faultsOfKinds(schema: z.ZodType, sent: unknown): readonly z.core.$ZodIssue[] {
  const issues = schema.safeParse(sent ?? {}).error?.issues ?? [];
  const unknown = issues.find(isUnknownKind);
  if (!unknown) return [];
  return wordsOf(unknown).flatMap(word => {
    const { error } = schema.safeParse(replaced(sent, unknown.path, word));
    return (error?.issues ?? []).filter(
      ({ path }) => isSent(sent, String(path[0])) && !issues.some(known => known.path[0] === path[0]),
    );
  });
}

/** Whether a body has a field. @param name also with the names of fields below it */
export const isSent = (sent: unknown, name: string): boolean =>
  isObject(sent) && sent[name.split('.', 1)[0] ?? ''] !== undefined;

function standInOf(issue: z.core.$ZodIssue, index: number): unknown {
  const words = wordsOf(issue);
  if (words.length > 0) return words[Math.min(index, words.length - 1)];
  const isMissingText =
    (issue.code === 'invalid_type' && issue.expected === 'string') ||
    isOfRule(issue) ||
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
