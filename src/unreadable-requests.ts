import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { ConnectionError } from 'fastify';
import type { Resources } from './context.ts';
import { dialectAt } from './rest/dialect-at.ts';

const REFUSALS: Readonly<Record<string, readonly [status: number, message: string]>> = {
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'The request came too slowly.'],
  HPE_HEADER_OVERFLOW: [431, 'The headers are too large.'],
  HPE_INVALID_METHOD: [400, 'The method is unknown.'],
};
const UNREADABLE = [400, 'This is no HTTP request that can be read.'] as const;

/**
 * Answers what reaches no route, because Node cannot read it as a request (a method that nobody knows, headers without an end), in
 * the shape of its address as far as that can be seen, and closes the connection: what follows could not be told apart from it.
 */
export function answerUnreadable(error: ConnectionError, socket: Socket, { config, log, clock }: Resources): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
  const [status, message] = REFUSALS[error.code ?? ''] ?? UNREADABLE;
  const requestId = crypto.randomUUID();
  // What came last, which is the beginning where it came at once.
  const packet: unknown = error.rawPacket;
  const url = /^\S+ (\/\S*)/.exec(Buffer.isBuffer(packet) ? packet.toString('latin1') : '')?.[1] ?? '';
  const dialect = dialectAt(url, config.v1SunsetMs);
  const refusal = { code: 'BAD_REQUEST', status, message, details: undefined } as const;
  const { contentType, body } = dialect.failure(refusal, { headers: {}, url }, { requestId, nowMs: clock.now() });
  const text = JSON.stringify(body);
  const headers = {
    ...dialect.headers?.({ routeOptions: {} }),
    'content-type': contentType,
    'content-length': String(Buffer.byteLength(text)),
    'x-request-id': requestId,
    connection: 'close',
  };
  const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  log.info({ requestId, status, code: error.code }, 'a request could not be read');
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${head.join('')}\r\n${text}`);
}
