const ISO_8601 = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?)(Z|[+-]\d{2}:?\d{2})?)?$/i;
/** PostgreSQL has no year 0, and years of five digits have another syntax. */
const EARLIEST_MS = Date.parse('0001-01-01T00:00Z');
const LATEST_MS = Date.parse('9999-12-31T23:59:59.999Z');

/**
 * Parses a date or instant in ISO 8601: `2026-01-31` (midnight UTC) or `2026-01-31T07:58:39+02:00`. Without an offset it is UTC,
 * where Date.parse takes the zone of the machine. Days that do not exist are rejected, where Date.parse reads the 30th of
 * February as the 2nd of March.
 * @returns milliseconds since the epoch; undefined if malformed or outside the years 1 to 9999 (UTC)
 */
export function parseDateTime(text: string): number | undefined {
  const [, date, time = '00:00', offset = 'Z'] = ISO_8601.exec(text.trim()) ?? [];
  if (date === undefined || !isDay(date)) return undefined;
  const ms = Date.parse(`${date}T${time}${offset.toUpperCase().replace(/^([+-]\d{2})(\d{2})$/, '$1:$2')}`);
  return ms >= EARLIEST_MS && ms <= LATEST_MS ? ms : undefined;
}

function isDay(date: string): boolean {
  const midnight = new Date(`${date}T00:00Z`);
  return !Number.isNaN(midnight.getTime()) && midnight.toISOString().startsWith(date);
}

/** An instant in UTC to the second, with an offset: `2026-01-31T07:58:39+00:00`. @param instant in ISO 8601 and UTC */
export const toOffsetTime = (instant: string): string => `${instant.slice(0, 19)}+00:00`;
