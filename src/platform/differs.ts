import { isDeepStrictEqual } from 'node:util';

/**
 * Whether an update would change a row; undefined values are ignored. Without a difference `updated_at` stays and no event is
 * written: two systems that copy each other's changes would otherwise loop.
 */
export const differs = (row: object, values: object): boolean =>
  Object.entries(values).some(
    ([column, value]) => value !== undefined && !isDeepStrictEqual((row as Record<string, unknown>)[column], value),
  );
