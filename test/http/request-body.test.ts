import { once } from 'node:events';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import Fastify from 'fastify';
import { describe, expect, onTestFinished, test } from 'vitest';
import { limitBodyTime } from '../../src/http/request-body.ts';

const LONG_MS = 60_000;
const TIMEOUTS = { bodyMs: LONG_MS, uploadIdleMs: LONG_MS, lingerMs: LONG_MS };

/** Starts a server: `/small` reads its body, `/upload` streams it, `/refusing` responds without reading it. */
async function server(timeouts: Partial<typeof TIMEOUTS>): Promise<number> {
  const app = Fastify({ forceCloseConnections: true });
  limitBodyTime(app, { ...TIMEOUTS, ...timeouts });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, body, done) => done(null, body));
  const read = async (body: unknown): Promise<string> => {
    let size = 0;
    for await (const chunk of body as AsyncIterable<Buffer>) size += chunk.length;
    return String(size);
  };
  app.post('/small', async request => read(request.body));
  app.post('/upload', { config: { upload: true } }, async request => read(request.body));
  app.post('/refusing', { config: { upload: true } }, async (_request, reply) => reply.code(422).send('no'));
  await app.listen({ port: 0, host: '127.0.0.1' });
  onTestFinished(() => app.close());
  return (app.server.address() as AddressInfo).port;
}

interface Client {
  readonly socket: Socket;
  received(): string;
  isClosed(): boolean;
}

/** Sends the headers of a request with a body of `length` bytes. */
async function begin(path: string, length: number, timeouts: Partial<typeof TIMEOUTS>): Promise<Client> {
  const socket = connect(await server(timeouts), '127.0.0.1');
  let received = '';
  let closed = false;
  socket.on('data', data => {
    received += String(data);
  });
  socket.on('close', () => {
    closed = true;
  });
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  onTestFinished(() => void socket.destroy());
  socket.write(`POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-length: ${length}\r\n\r\n`);
  return { socket, received: () => received, isClosed: () => closed };
}

describe('a request body', () => {
  test('that trickles in (slow loris) is ended after the time limit', async () => {
    const client = await begin('/small', 1_000_000, { bodyMs: 300 });
    const trickle = setInterval(() => client.socket.write('x'), 30);
    onTestFinished(() => clearInterval(trickle));
    await expect.poll(client.isClosed).toBe(true);
  });

  test('that is complete leaves its connection open after the time limit', async () => {
    const client = await begin('/small', 2, { bodyMs: 2_000 });
    client.socket.write('ok');
    await expect.poll(client.received).toMatch(/^HTTP\/1.1 200[\s\S]*2$/);
    await sleep(2_500);
    client.socket.write('POST /small HTTP/1.1\r\nhost: x\r\ncontent-length: 3\r\n\r\nyes');
    await expect.poll(client.received).toMatch(/HTTP\/1.1 200[\s\S]*3$/);
  });

  test('that is an upload may take longer than other bodies while bytes arrive', async () => {
    const client = await begin('/upload', 30, { bodyMs: 300 });
    for (let i = 0; i < 30; i += 1) {
      client.socket.write('x');
      await sleep(30);
    }
    await expect.poll(client.received).toMatch(/^HTTP\/1.1 200[\s\S]*30$/);
  });

  test('that is an upload is ended when no bytes arrive', async () => {
    const client = await begin('/upload', 30, { uploadIdleMs: 300 });
    client.socket.write('x');
    await expect.poll(client.isClosed).toBe(true);
  });

  test('answered before its end is read for a while, so that the client receives the response, then ended', async () => {
    const client = await begin('/refusing', 500_000_000, { lingerMs: 1_000 });
    const piece = Buffer.alloc(100_000);
    const pushing = setInterval(() => client.socket.write(piece), 5);
    onTestFinished(() => clearInterval(pushing));
    await expect.poll(client.received).toMatch(/^HTTP\/1.1 422/);
    await expect.poll(client.isClosed).toBe(true);
  });

  test('answered before its end and sent completely keeps its connection', async () => {
    const client = await begin('/refusing', 500_000, { lingerMs: 3_000 });
    await expect.poll(client.received).toMatch(/422/);
    client.socket.write(Buffer.alloc(500_000));
    client.socket.write('POST /small HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\n\r\nok');
    await expect.poll(client.received).toMatch(/HTTP\/1.1 200[\s\S]*2$/);
    await sleep(3_500);
    expect(client.isClosed()).toBe(false);
  });
});
