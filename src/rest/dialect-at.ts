import type { Dialect } from './execute.ts';
import { legacyEnvelope } from './v1/envelope.ts';
import { envelope } from './v2/envelope.ts';

/** Who dresses what is refused before any route is found: version 1 below its prefix, version 2 everywhere else. */
export const dialectAt = (url: string, v1SunsetMs: number | undefined): Dialect =>
  /^\/api\/v1(?![\w-])/.test(url) ? legacyEnvelope(v1SunsetMs) : envelope;
