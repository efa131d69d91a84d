import type { z } from 'zod';
import { STAND_IN } from '../../core/errors.ts';
import { isObject } from '../../platform/json.ts';
import { REQUIRED, underFirstNames } from './fields.ts';

/** Maximum number of values of an enumeration or discriminator that are tried in place of an invalid one. */
const MAX_WORDS = 6;

/** Each round fills one level of missing lists and their items: a message has sections, with rows, with texts. */
const MAX_ROUNDS = 4;

/**
 * Returns copies of a body whose faulty fields are replaced, so that the other fields can be checked: a missing text by a placeholder,
 * a missing list by one item, a missing object or an item that is no object by an empty one, an invalid value of an enumeration by each
 * valid one (one copy per value). Other faulty fields are removed, under all their names.
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
 * Replaces faulty fields, then missing fields in the items that replace missing lists. Other fields are not touched, even if a
 * replacement makes them faulty, because that would not be a fault of the request. If the kind of the body is unknown, all fields may
 * be replaced, because each kind requires different ones.
 */
function repaired(schema: z.ZodType, sent: unknown, index: number): unknown {
  let body = sent;
  const issues = schema.safeParse(sent).error?.issues ?? [];
  const faulty = new Set(issues.map(({ path }) => path[0]));
  // Refused as it was sent, not only after a field in it was removed.
  const isRefused = ({ path }: z.core.$ZodIssue): boolean =>
    issues.some(issue => path.every((key, depth) => issue.path[depth] === key));
  const isOfKind = issues.some(isUnknownKind);
  for (let round = 0; round < MAX_ROUNDS; round++)
    for (const issue of schema.safeParse(body).error?.issues.filter(({ path }) => isOfKind || faulty.has(path[0])) ??
      [])
      body = replaced(
        body,
        issue.path,
        (isRefused(issue) ? givenStandIn(issue) : undefined) ??
          containerInPlaceOf(issue, body) ??
          standInOf(issue, index),
      );
  return body;
}

/** The replacement of a missing list or object. An invalid one is removed in one round, and is missing in the next if it is required. */
function containerInPlaceOf(issue: z.core.$ZodIssue, body: unknown): unknown {
  if (issue.code !== 'invalid_type' || valueAt(body, issue.path) !== undefined) return undefined;
  if (issue.expected === 'array') return [{}];
  return issue.expected === 'object' ? {} : undefined;
}

/** The value of a field of a body that was read, under any of its names; undefined if it is not there. */
export const valueAt = (value: unknown, path: readonly PropertyKey[]): unknown =>
  path.reduce<unknown>((inner, key) => {
    const read = isObject(inner) ? underFirstNames(inner) : inner;
    return (read as Readonly<Record<PropertyKey, unknown>> | null | undefined)?.[key];
  }, value);

/** Whether a rule over several fields found the fault. */
const isOfRule = (issue: z.core.$ZodIssue): boolean => issue.code === 'custom' && issue.params?.['isRule'] === true;

/** The value that a rule names as the replacement of the field that it refuses. */
const givenStandIn = (issue: z.core.$ZodIssue): unknown =>
  issue.code === 'custom' ? issue.params?.['standIn'] : undefined;

const isSurplus = (issue: z.core.$ZodIssue): boolean => issue.code === 'custom' && issue.params?.['isSurplus'] === true;

/**
 * Whether fields contradict each other, so that the body cannot be repaired without changing its meaning. A rule about a field that
 * was not sent only reports it as missing, a surplus field is left out, and a rule may name what takes the place of a field.
 */
const isConflict = (issue: z.core.$ZodIssue, sent: unknown): boolean =>
  isOfRule(issue) &&
  !isSurplus(issue) &&
  givenStandIn(issue) === undefined &&
  issue.message !== REQUIRED &&
  (!isObject(sent) || sent[String(issue.path[0])] !== undefined);

/** Whether the discriminator of a body's kind is missing or unknown. */
const isUnknownKind = (issue: z.core.$ZodIssue): boolean => issue.code === 'invalid_union' && wordsOf(issue).length > 0;

const wordsOf = (issue: z.core.$ZodIssue): readonly unknown[] =>
  issue.code === 'invalid_value' ? issue.values : 'options' in issue ? (issue.options ?? []) : [];

/** Whether the kind of a body is unknown. */
export const isOfUnknownKind = (schema: z.ZodType, sent: unknown): boolean =>
  schema.safeParse(sent ?? {}).error?.issues.some(isUnknownKind) === true;

/** The faults of the sent fields of a body of unknown kind, parsed as each kind in turn. */
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

/** Whether a body has a field. @param name its name, or the path of a field below it */
export const isSent = (sent: unknown, name: string): boolean =>
  isObject(sent) && sent[name.split('.', 1)[0] ?? ''] !== undefined;

function standInOf(issue: z.core.$ZodIssue, index: number): unknown {
  const words = wordsOf(issue);
  if (isSurplus(issue)) return undefined;
  if (words.length > 0) return words[Math.min(index, words.length - 1)];
  const isMissingText =
    (issue.code === 'invalid_type' && issue.expected === 'string') ||
    isOfRule(issue) ||
    (issue.code === 'custom' && issue.message === REQUIRED);
  return isMissingText ? STAND_IN : undefined;
}

/** Returns a copy with another value at a path; undefined removes the field, and empties an item, so that others keep their places. */
function replaced(value: unknown, [key, ...path]: readonly PropertyKey[], standIn: unknown): unknown {
  if (key === undefined) return standIn;
  if (Array.isArray(value))
    return value.map((item, index) => (index === key ? (replaced(item, path, standIn) ?? {}) : item));
  const { [key as string]: field, ...others } = isObject(value) ? underFirstNames(value) : {};
  const next = replaced(field, path, standIn);
  return next === undefined ? others : { ...others, [key]: next };
}
