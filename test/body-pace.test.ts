import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { connect, type Socket } from 'node:net';
import Fastify from 'fastify';
import { describe, expect, onTestFinished, test } from 'vitest';
import { paceBodies } from '../src/body-pace.ts';

const PACE = { wholeMs: 300, silenceMs: 300, lingerMs: 200, lookEveryMs: 20 };

/** `/small` reads its body, `/upload` streams it, `/refusing` answers before it. */
async function server(): Promise<number> {
  const app = Fastify({ forceCloseConnections: true });
  paceBodies(app, PACE);
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, body, done) => done(null, body));
  const read = async (body: unknown): Promise<string> => {
    let size = 0;
    for await (const piece of body as AsyncIterable<Buffer>) size += piece.length;
    return String(size);
  };
  app.post('/small', async request => read(request.body));
  app.post('/upload', { config: { upload: true } }, async request => read(request.body));
  app.post('/refusing', { config: { upload: true } }, async (_request, reply) => reply.code(422).send('no'));
  await app.listen({ port: 0, host: '127.0.0.1' });
  onTestFinished(() => app.close());
  return (app.server.address() as AddressInfo).port;
}

async function begin(path: string, length: number): Promise<Socket & { heard: () => string; gone: () => boolean }> {
  const socket = connect(await server(), '127.0.0.1');
  let heard = '';
  let gone = false;
  socket.on('data', data => {
    heard += String(data);
  });
  socket.on('close', () => {
    gone = true;
  });
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  onTestFinished(() => void socket.destroy());
  socket.write(`POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-length: ${length}\r\n\r\n`);
  return Object.assign(socket, { heard: () => heard, gone: () => gone });
}

const sleep = (ms: number): Promise<void> => new Promise(resolve => setTimeout(resolve, ms));

describe('a body', () => {
  test('that trickles in is cut off after its time, wherever it should be short', async () => {
    const socket = await begin('/small', 1_000);
    const trickle = setInterval(() => socket.write('x'), 30);
    await expect.poll(socket.gone).toBe(true);
    clearInterval(trickle);
  });

  test('that is an upload may take longer, as long as it comes', async () => {
    const socket = await begin('/upload', 30);
    for (let i = 0; i < 30; i += 1) {
      socket.write('x');
      await sleep(30);
    }
    await expect.poll(socket.heard).toMatch(/^HTTP\/1.1 200[\s\S]*30$/);
  });

  test('that is an upload and stays away is cut off', async () => {
    const socket = await begin('/upload', 30);
    socket.write('x');
    await expect.poll(socket.gone).toBe(true);
  });

  test('that was answered before its end is read on for a while, so that the answer is heard', async () => {
    const socket = await begin('/refusing', 50_000_000);
    const piece = Buffer.alloc(100_000);
    const pushing = setInterval(() => socket.write(piece), 5);
    await expect.poll(socket.heard).toMatch(/^HTTP\/1.1 422/);
    expect(socket.gone()).toBe(false);
    await expect.poll(socket.gone).toBe(true);
    clearInterval(pushing);
  });

  test('that was answered before its end, and comes to it, keeps its connection', async () => {
    const socket = await begin('/refusing', 500_000);
    await expect.poll(socket.heard).toMatch(/422/);
    socket.write(Buffer.alloc(500_000));
    await sleep(50);
    socket.write('POST /small HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\n\r\nok');
    await expect.poll(socket.heard).toMatch(/HTTP\/1.1 200[\s\S]*2$/);
    await sleep(400);
    expect(socket.gone()).toBe(false);
  });
});
