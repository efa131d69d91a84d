import { type Clock, HOUR } from '../platform/clock.ts';

/** The customer service window: 24 h after each message of the person to this business number. */
const WINDOW_MS = 24 * HOUR;

export interface Windows {
  /** Opens the window of a person for 24 h from `at` (ms). @returns its end */
  open(key: string, at: number): number;
  /** Sets the end of a window (ms); 0 closes it. */
  set(key: string, endsAt: number): void;
  isOpen(key: string): boolean;
  entries(): Iterable<readonly [key: string, endsAt: number]>;
}

/** One window per business number and person (`wa_id`, or user id of a person without a number). */
export function windowKey(phoneNumberId: string, person: string): string {
  return `${phoneNumberId}:${person}`;
}

export function createWindows(clock: Clock): Windows {
  const ends = new Map<string, number>();
  return {
    open(key, at) {
      const endsAt = Math.max(ends.get(key) ?? 0, at + WINDOW_MS);
      ends.set(key, endsAt);
      return endsAt;
    },
    set(key, endsAt) {
      if (endsAt === 0) ends.delete(key);
      else ends.set(key, endsAt);
    },
    isOpen: key => (ends.get(key) ?? 0) > clock.now(),
    entries: () => ends.entries(),
  };
}
