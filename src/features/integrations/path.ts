import type { Paths } from './mapping.ts';

/**
 * Where a value stands in a payload: names with dots between them, and places of lists in brackets, counted from 0, such as
 * `billing.phone` or `line_items[0].name`. Nothing else: no wildcards, no expressions, nothing that is executed.
 */
export type Step = string | number;

export const MAX_PATH = 200;
const NAME = /[\p{L}\p{N}_$@:-]+/uy;
const INDEX = /\[(0|[1-9]\d{0,5})\]/y;

/** @returns undefined for what is no path */
export function parsePath(text: string): readonly Step[] | undefined {
  if (text === '' || text.length > MAX_PATH) return undefined;
  const steps: Step[] = [];
  let at = 0;
  const take = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at;
    const match = pattern.exec(text);
    if (match) at = pattern.lastIndex;
    return match;
  };
  while (at < text.length) {
    const index = take(INDEX);
    if (index) {
      steps.push(Number(index[1]));
      continue;
    }
    // A dot stands before every name but the first.
    if (at > 0) {
      if (text[at] !== '.') return undefined;
      at += 1;
    }
    const name = take(NAME);
    if (!name) return undefined;
    steps.push(name[0]);
  }
  return steps;
}

/** What stands there: own properties of objects and places of lists alone, never anything inherited. */
export function valueAt(payload: unknown, path: string): unknown {
  const steps = parsePath(path);
  if (!steps) return undefined;
  let value = payload;
  for (const step of steps) {
    if (typeof value !== 'object' || value === null) return undefined;
    if (Array.isArray(value) !== (typeof step === 'number') || !Object.hasOwn(value, step)) return undefined;
    value = (value as Readonly<Record<Step, unknown>>)[step];
  }
  return value;
}

/** A text, number or truth value as a text; undefined where there is none, or an empty one. */
export function textAt(payload: unknown, path: string): string | undefined {
  const value = valueAt(payload, path);
  const text =
    typeof value === 'string' ? value.trim() : ['number', 'boolean'].includes(typeof value) ? String(value) : '';
  return text === '' ? undefined : text;
}

/** The first of some paths at which there is a text. */
export function firstText(payload: unknown, paths: Paths[keyof Paths]): string | undefined {
  for (const path of paths) {
    const text = textAt(payload, path);
    if (text !== undefined) return text;
  }
  return undefined;
}
