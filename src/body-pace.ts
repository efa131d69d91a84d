import type { IncomingMessage } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { MINUTE, SECOND } from './platform/clock.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The body may be large: it may take as long as it takes, as long as it comes. */
    upload?: boolean;
  }
}

/** In milliseconds. */
export interface Pace {
  /** Longest time for a body to come in. */
  readonly wholeMs: number;
  /** Longest time without a byte of an upload. */
  readonly silenceMs: number;
  /** How long a client that was answered before its body's end may go on sending, so that it reads the answer and not a broken connection. */
  readonly lingerMs: number;
  readonly lookEveryMs: number;
}

const PACE: Pace = { wholeMs: MINUTE, silenceMs: 2 * MINUTE, lingerMs: 10 * SECOND, lookEveryMs: 5 * SECOND };

/** Longest time for an upload: 100 MB at 58 kB/s. */
export const UPLOAD_TIMEOUT_MS = 30 * MINUTE;

interface Incoming {
  readonly raw: IncomingMessage;
  readonly isUpload: boolean;
  /** How much longer it may take, unless bytes come. */
  leftMs: number;
  bytesRead: number;
  isAnswered: boolean;
}

/**
 * Ends requests whose bodies come too slowly. Node's own `requestTimeout` is one for all routes, and would either cut uploads or let
 * anybody hold a connection open; it stays as the outer bound. Looked at now and then, because a timer for every request costs more.
 */
export function paceBodies(app: FastifyInstance, pace: Pace = PACE): void {
  const incoming = new Map<IncomingMessage, Incoming>();

  app.addHook('onRequest', (request, _reply, done) => {
    const { raw } = request;
    if (raw.headers['content-length'] !== undefined || raw.headers['transfer-encoding'] !== undefined) {
      const isUpload = request.routeOptions.config.upload === true;
      const leftMs = isUpload ? pace.silenceMs : pace.wholeMs;
      incoming.set(raw, { raw, isUpload, leftMs, bytesRead: 0, isAnswered: false });
    }
    done();
  });
  app.addHook('onResponse', ({ raw }, _reply, done) => {
    const body = incoming.get(raw);
    if (raw.complete || !body) incoming.delete(raw);
    else {
      Object.assign(body, { leftMs: pace.lingerMs, isAnswered: true });
      raw.unpipe();
      raw.resume();
    }
    done();
  });

  const look = setInterval(() => {
    for (const body of incoming.values()) {
      const { raw } = body;
      if (raw.complete || raw.destroyed) {
        incoming.delete(raw);
        continue;
      }
      const { bytesRead } = raw.socket;
      if (body.isUpload && !body.isAnswered && bytesRead !== body.bytesRead) body.leftMs = pace.silenceMs;
      else body.leftMs -= pace.lookEveryMs;
      body.bytesRead = bytesRead;
      if (body.leftMs <= 0) raw.destroy(new Error('The body came too slowly.'));
    }
  }, pace.lookEveryMs);
  look.unref();
  app.addHook('onClose', async () => clearInterval(look));
}
