import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { ConnectionError } from 'fastify';
import { dialectAt } from '../rest/register.ts';
import type { Resources } from '../schema/context.ts';

const BY_CODE: Readonly<Record<string, readonly [status: number, message: string]>> = {
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'The request timed out.'],
  HPE_HEADER_OVERFLOW: [431, 'The request headers are too large.'],
  HPE_INVALID_METHOD: [400, 'Unknown HTTP method.'],
};
const MALFORMED = [400, 'Malformed HTTP request.'] as const;

/**
 * Answers a request that Node's parser rejects (unknown method, oversized headers), in the error shape of its URL if that can
 * be read. Closes the connection, because the start of the next request is unknown.
 */
export function answerMalformed(error: ConnectionError, socket: Socket, { config, log, clock }: Resources): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
  const [status, message] = BY_CODE[error.code ?? ''] ?? MALFORMED;
  const requestId = crypto.randomUUID();
  // The last packet; it holds the request line if the request fits into one.
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
  log.info({ requestId, status, code: error.code }, 'malformed request');
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${head.join('')}\r\n${text}`);
}
