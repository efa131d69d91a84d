import { HOUR } from '../../../platform/clock.ts';

/** How a time range is counted: whole hours from the statistics, the rest from the messages. Milliseconds since 1970; ends excluded. */
export interface Spans {
  /** Whole hours, from and to; empty if both are equal. */
  readonly hours: readonly [fromMs: number, toMs: number];
  /** Hours within those that a boundary splits: counted as part of `ranges`. */
  readonly splitHours: readonly number[];
  readonly ranges: readonly (readonly [fromMs: number, toMs: number])[];
}

const floor = (ms: number): number => Math.floor(ms / HOUR) * HOUR;
const ceil = (ms: number): number => Math.ceil(ms / HOUR) * HOUR;

/**
 * @param boundaries that no counted hour may span: starts of intervals. In zones whose offset is not a full hour they split hours of UTC
 * @param nowMs no message is later, so an hour that is not over needs no end
 */
export function spansOf(sinceMs: number, untilMs: number, boundaries: readonly number[], nowMs: number): Spans {
  const from = ceil(sinceMs);
  const to = untilMs >= nowMs ? ceil(untilMs) : floor(untilMs);
  if (from >= to) return { hours: [from, from], splitHours: [], ranges: [[sinceMs, untilMs]] };
  const splitHours = [...new Set(boundaries.filter(ms => ms > from && ms < to && ms % HOUR !== 0).map(floor))];
  const ranges: [number, number][] = [];
  const add = (start: number, end: number): void => {
    const last = ranges.at(-1);
    if (last && last[1] === start) last[1] = end;
    else if (start < end) ranges.push([start, end]);
  };
  add(sinceMs, from);
  for (const hour of splitHours) add(hour, hour + HOUR);
  if (untilMs > to) add(to, untilMs);
  return { hours: [from, to], splitHours, ranges };
}

/** All of it counted from the messages. */
export const uncounted = (sinceMs: number, untilMs: number): Spans => ({
  hours: [sinceMs, sinceMs],
  splitHours: [],
  ranges: [[sinceMs, untilMs]],
});
