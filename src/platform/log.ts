import { type DestinationStream, type Logger, pino } from 'pino';

export type Log = Logger;

/** Keys whose values are redacted, at every depth at which objects are logged. */
const SECRET_KEYS = ['authorization', 'token', 'accessToken', 'appSecret', 'verifyToken', 'password', 'text', 'body'];

/** A structured JSON logger (pino). Redaction of secrets and message texts is a safeguard: no call logs them deliberately. */
export function createLog(level: string, destination?: DestinationStream): Log {
  const paths = SECRET_KEYS.flatMap(key => [key, `*.${key}`, `*.*.${key}`]);
  const options = { level, base: null, redact: { paths, censor: '[redacted]' } };
  return destination ? pino(options, destination) : pino(options);
}
