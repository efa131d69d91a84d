import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { control } from './control.ts';
import { graph, usageHeader } from './graph.ts';
import { GraphError, graphError } from './graph-error.ts';
import type { Reply, Request } from './reply.ts';
import type { World } from './world.ts';

/** The largest medium is 100 MB (documents). */
const BODY_MAX_BYTES = 110 * 1024 * 1024;
const CONTROL_PREFIX = '_emulator';

/** The HTTP listener: passes requests to one of the two APIs, and writes the response or breaks the connection. */
export function createListener(world: World): Server {
  const server = createServer((request, response) => {
    serve(world, request, response).catch((error: unknown) => {
      world.log.error({ err: error }, 'a request to the emulator failed');
      if (response.headersSent) response.destroy();
      else void write(world, response, { kind: 'answer', status: 500, headers: {}, body: '' });
    });
  });
  // Longer than the keep-alive of clients: if the server closes first, the next send is left in doubt.
  server.keepAliveTimeout = 65_000;
  return server;
}

async function serve(world: World, incoming: IncomingMessage, response: ServerResponse): Promise<void> {
  const url = new URL(incoming.url ?? '/', 'http://emulator');
  const isUpload = incoming.method === 'POST' && /^multipart\//i.test(incoming.headers['content-type'] ?? '');
  const body = isUpload ? Buffer.alloc(0) : await readBody(incoming);
  if (!body) {
    response.destroy();
    return;
  }
  const request: Request = {
    method: incoming.method ?? 'GET',
    path: url.pathname
      .split('/')
      .filter(segment => segment !== '')
      .map(decoded),
    query: url.searchParams,
    headers: incoming.headers,
    body,
    // An upload that is rejected early must not destroy the connection before its response.
    stream: throttled(world, incoming.iterator({ destroyOnReturn: false })),
    origin: incoming.headers.host ? `http://${incoming.headers.host}` : world.origin,
  };
  await write(world, response, await answer(world, request));
  // Drains the rest of an upload that was rejected early.
  incoming.resume();
}

class ConnectionBreak extends Error {}

/** Throttles or breaks off a body according to the faults. */
async function* throttled(world: World, source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let size = 0;
  for await (const piece of source) {
    const { mediaBreaksAfter, mediaBytesPerSecond } = world.faults.current;
    size += piece.length;
    if (mediaBreaksAfter !== null && size > mediaBreaksAfter) throw new ConnectionBreak();
    if (mediaBytesPerSecond !== null) await sleep((1_000 * piece.length) / mediaBytesPerSecond);
    if (size > BODY_MAX_BYTES) throw new ConnectionBreak();
    yield piece;
  }
}

async function answer(world: World, request: Request): Promise<Reply> {
  const [first, ...rest] = request.path;
  if (first === CONTROL_PREFIX) return control(world, request, rest);
  try {
    return await graph(world, request);
  } catch (error) {
    if (error instanceof ConnectionBreak) return { kind: 'reset' };
    const { reply } = error instanceof GraphError ? error : unexpected(world, error);
    const wabaId = world.numbers.get(request.path[1] ?? '')?.wabaId;
    if (reply.kind !== 'answer' || wabaId === undefined) return reply;
    return { ...reply, headers: { ...usageHeader(world, wabaId), ...reply.headers } };
  }
}

function unexpected(world: World, error: unknown): GraphError {
  world.log.error({ err: error }, 'the emulated Graph API failed');
  return graphError(1, undefined, { httpStatus: 500 });
}

async function write(world: World, response: ServerResponse, reply: Reply): Promise<void> {
  if (reply.kind === 'silence') return; // The connection stays open until the client gives up or the emulator stops.
  if (reply.kind === 'reset') {
    response.socket?.resetAndDestroy();
    return;
  }
  if (reply.kind === 'stream') {
    response.writeHead(reply.status, { ...reply.headers });
    await pipeline(reply.body, pieces => throttled(world, pieces), response).catch(() =>
      response.socket?.resetAndDestroy(),
    );
    return;
  }
  const { status, headers, body } = reply;
  response.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body) });
  response.end(body);
}

function readBody(incoming: IncomingMessage): Promise<Buffer | undefined> {
  return new Promise(resolve => {
    const chunks: Buffer[] = [];
    let size = 0;
    incoming.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > BODY_MAX_BYTES) resolve(undefined);
      else chunks.push(chunk);
    });
    incoming.on('end', () => resolve(Buffer.concat(chunks)));
    incoming.on('error', () => resolve(undefined));
  });
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
