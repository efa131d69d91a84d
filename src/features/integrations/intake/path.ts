import type { Paths } from '../mappings/paths.ts';

/**
 * A step of a path to a value in a payload: names joined by dots, list indexes from 0 in brackets (`billing.phone`,
 * `line_items[0].name`). No wildcards and no expressions.
 */
export type Step = string | number;

export const MAX_PATH = 200;
const NAME = /[\p{L}\p{N}_$@:-]+/uy;
const INDEX = /\[(0|[1-9]\d{0,5})\]/y;

/** @returns undefined if the path is malformed */
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
    // Every name but the first follows a dot.
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

/** Reads the value at a path: own properties and list elements only, nothing inherited. */
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

/** Reads a text, number or Boolean as text; undefined if missing or empty. */
export function textAt(payload: unknown, path: string): string | undefined {
  const value = valueAt(payload, path);
  const text =
    typeof value === 'string' ? value.trim() : ['number', 'boolean'].includes(typeof value) ? String(value) : '';
  return text === '' ? undefined : text;
}

/** The first non-empty text at any of the paths. */
export function firstText(payload: unknown, paths: Paths[keyof Paths]): string | undefined {
  for (const path of paths) {
    const text = textAt(payload, path);
    if (text !== undefined) return text;
  }
  return undefined;
}
