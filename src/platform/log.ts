import { type DestinationStream, type Logger, pino } from 'pino';
import { createLogOutput } from './log-output.ts';

export type Log = Logger;

/**
 * Keys whose values are redacted, at every depth at which objects are logged. Errors bring two of them: `detail` of PostgreSQL quotes the
 * row or key that it refused, and `args` are those of a Redis command that failed, of AUTH the password.
 */
const SECRET_KEYS = [
  'authorization',
  'token',
  'accessToken',
  'appSecret',
  'verifyToken',
  'password',
  'text',
  'body',
  'detail',
  'args',
];

const STANDARD_OUTPUT = 1;

/** A structured JSON logger (pino). Redaction of secrets and message texts is a safeguard: no call logs them deliberately. */
export function createLog(level: string, destination: DestinationStream = createLogOutput(STANDARD_OUTPUT)): Log {
  const paths = SECRET_KEYS.flatMap(key => [key, `*.${key}`, `*.*.${key}`]);
  const options = { level, base: null, redact: { paths, censor: '[redacted]' } };
  return pino(options, destination);
}
