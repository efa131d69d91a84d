import { type DestinationStream, type Logger, pino } from 'pino';

export type Log = Logger;

/** Keys whose values never reach a log line, at any of the depths we log objects at. */
const SECRET_KEYS = ['authorization', 'token', 'accessToken', 'appSecret', 'verifyToken', 'password', 'text', 'body'];

/** A structured JSON logger (pino). Secrets and message texts are removed by key as a second fence: no call passes them on purpose. */
export function createLog(level: string, destination?: DestinationStream): Log {
  const paths = SECRET_KEYS.flatMap(key => [key, `*.${key}`, `*.*.${key}`]);
  const options = { level, base: null, redact: { paths, censor: '[redacted]' } };
  return destination ? pino(options, destination) : pino(options);
}
