import { decodeGlobalId } from '../../core/global-ids.ts';
import { toOffsetTime } from '../../platform/date-time.ts';

const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|\+00:00)$/;

/** A timestamp of ours as REST writes it: `2026-01-01T07:58:39+00:00`, whole seconds. @returns undefined for any other text */
export const wireTime = (text: string): string | undefined => (INSTANT.test(text) ? toOffsetTime(text) : undefined);

/** A numeric `databaseId` as a number. Null and undefined (not read) stay as they are. */
export const rowKey = <T extends null | undefined>(key: string | T): number | T =>
  typeof key === 'string' ? Number(key) : key;

/** How a version writes GraphQL's DateTime. Null and undefined stay as they are. */
export type WriteTime = <T extends null | undefined>(instant: string | T) => string | T;

/** Like `wireTime` without its check, for values of GraphQL's DateTime. */
export const time: WriteTime = instant => (typeof instant === 'string' ? toOffsetTime(instant) : instant);

/** The format of version 1: `2026-04-08T14:30:25.000000Z`. In whole seconds, so that both versions show the same time. */
export const legacyTime: WriteTime = instant =>
  typeof instant === 'string' ? `${instant.slice(0, 19)}.000000Z` : instant;

const FLAGS: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['1', true],
  ['false', false],
  ['0', false],
]);

/** Reads a boolean of a body or a filter, in any case. @returns undefined for anything else */
export const flagOf = (text: string): boolean | undefined => FLAGS.get(text.toLowerCase());

/** A boolean as version 1 writes it. */
export const bitOf = (value: boolean): 0 | 1 => (value ? 1 : 0);

/** A phone number without its `+`. */
export const digitsOf = (phone: string): string => phone.replace(/^\+/, '');

/**
 * Replaces a global id by a text that is not a phone number, so that it is refused: GraphQL accepts either as a recipient, REST takes
 * ids only as `contact_id`.
 */
export const phoneOnly = (text: string): string => (decodeGlobalId(text) ? 'no number' : text);
