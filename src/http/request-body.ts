import type { IncomingMessage } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { CodedError } from '../core/errors.ts';
import { MINUTE, SECOND } from '../platform/clock.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The body may be large: it is limited by its pauses and by `UPLOAD_TIMEOUT_MS` instead of a minute. */
    upload?: boolean;
    /** Cost of a call against the rate limits; default 1. */
    points?: number;
  }
}

/** Longest time for an upload, set as Node's `requestTimeout`: 100 MB at 58 kB/s. */
export const UPLOAD_TIMEOUT_MS = 30 * MINUTE;

const TIMEOUTS = {
  /** Longest time for a body that is not an upload. */
  bodyMs: MINUTE,
  /** Longest pause within an upload. */
  uploadIdleMs: 2 * MINUTE,
  /** How long the rest of a body is read after an early response: a reset connection would lose the response. */
  lingerMs: 10 * SECOND,
};

/**
 * Ends requests whose bodies arrive too slowly. Node's `requestTimeout` is the same for all routes, so it can only be the
 * limit of uploads.
 */
export function limitBodyTime(app: FastifyInstance, timeouts: Readonly<typeof TIMEOUTS> = TIMEOUTS): void {
  app.addHook('onRequest', ({ raw, routeOptions }, _reply, done) => {
    if (raw.headers['content-length'] !== undefined || raw.headers['transfer-encoding'] !== undefined) {
      if (routeOptions.config.upload) limitPauses(raw, timeouts.uploadIdleMs);
      else endAfter(raw, timeouts.bodyMs);
    }
    done();
  });
  app.addHook('onResponse', ({ raw }, _reply, done) => {
    if (!raw.complete) {
      raw.unpipe();
      raw.resume();
      endAfter(raw, timeouts.lingerMs);
    }
    done();
  });
}

function endAfter(raw: IncomingMessage, ms: number): void {
  // A process that stops has closed its connections, and does not wait for it.
  const timer = setTimeout(() => raw.complete || end(raw), ms).unref();
  raw.once('close', () => clearTimeout(timer));
}

function limitPauses(raw: IncomingMessage, ms: number): void {
  raw.setTimeout(ms, () => end(raw));
  raw.once('end', () => raw.socket.setTimeout(0));
}

const end = (raw: IncomingMessage): unknown => raw.destroy(new Error('The request body timed out.'));

/** Makes the body of every route of a scope a Buffer, whatever its content type. @param bodyLimit in bytes */
export function keepRawBodies(app: FastifyInstance, bodyLimit: number): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser<Buffer>('*', { parseAs: 'buffer', bodyLimit }, (_request, body, done) => done(null, body));
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Parses a JSON body, which must be UTF-8 (RFC 8259 §8.1): otherwise replacement characters would be stored. An empty body is
 * undefined, because clients send the content type with every DELETE.
 *
 * @throws BAD_REQUEST
 */
export function parseJsonBody(body: Buffer): unknown {
  const text = textOf(body);
  if (text.trim() === '') return undefined;
  try {
    return JSON.parse(text);
  } catch {
    throw new CodedError('BAD_REQUEST', 'The body is not valid JSON.');
  }
}

function textOf(body: Buffer): string {
  try {
    return utf8.decode(body);
  } catch {
    throw new CodedError('BAD_REQUEST', 'The body is not in UTF-8.');
  }
}
