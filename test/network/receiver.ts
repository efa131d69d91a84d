import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { verifySignature } from '../../src/network/cloud-api/signature.ts';
import type { NetworkUpdate } from '../../src/network/updates.ts';
import { parseWebhook } from './parse.ts';

export interface Delivery {
  readonly raw: string;
  readonly signed: boolean;
  readonly body: unknown;
  readonly updates: readonly NetworkUpdate[];
}

/** A webhook receiver: an HTTP server that records requests in order and responds as configured. */
export interface Receiver {
  readonly url: string;
  readonly deliveries: Delivery[];
  /** HTTP status of the responses; default 200. */
  answer: number;
  /** Responses wait for this. */
  held: Promise<void>;
  updates(): NetworkUpdate[];
  /** Received statuses, in order of arrival. */
  statuses(): string[];
  close(): Promise<void>;
}

export async function startReceiver(appSecret: string, verifyToken = 'verify-me', port = 0): Promise<Receiver> {
  const deliveries: Delivery[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const query = new URL(request.url ?? '/', 'http://receiver').searchParams;
      if (request.method === 'GET') {
        const ok = query.get('hub.mode') === 'subscribe' && query.get('hub.verify_token') === verifyToken;
        response.writeHead(ok ? 200 : 403).end(ok ? query.get('hub.challenge') : '');
        return;
      }
      const bytes = Buffer.concat(chunks);
      const header = request.headers['x-hub-signature-256'];
      if (receiver.answer === 200) {
        const raw = bytes.toString('utf8');
        const body: unknown = JSON.parse(raw);
        const signed = verifySignature(bytes, typeof header === 'string' ? header : undefined, [appSecret]);
        deliveries.push({ raw, signed, body, updates: parseWebhook(body) });
      }
      const { answer } = receiver;
      void receiver.held.then(() => response.writeHead(answer).end());
    });
  });
  await new Promise<void>(resolve => server.listen(port, '127.0.0.1', resolve));
  const receiver: Receiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhook`,
    deliveries,
    answer: 200,
    held: Promise.resolve(),
    updates: () => deliveries.flatMap(delivery => delivery.updates),
    statuses: () => receiver.updates().flatMap(update => (update.kind === 'status' ? [update.status] : [])),
    close: () =>
      new Promise(resolve => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return receiver;
}
