import { isDeepStrictEqual } from 'node:util';

/**
 * Whether a row would be another one with these values, which stand under its columns; a value that is not said changes nothing.
 * What would not is no change: `updated_at` stays, and there is no event. An event would have those who write back what they
 * have heard go round in circles with each other.
 */
export const differs = (row: object, values: object): boolean =>
  Object.entries(values).some(
    ([column, value]) => value !== undefined && !isDeepStrictEqual((row as Record<string, unknown>)[column], value),
  );
