import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';

/** A request as a receiver got it. */
export interface Got {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: what a test expects of a body it says by assertions
  readonly body: any;
  readonly atMs: number;
}

export type Answering = (got: Got, response: ServerResponse) => void | Promise<void>;

export interface Receiver {
  readonly url: string;
  readonly got: Got[];
  /** What it answers from now on: a status, or whatever the function does; nothing at all is a receiver that hangs. */
  answer(how: number | Answering): void;
  /** What was posted to one path. */
  at(path: string): Got[];
  readonly connections: () => number;
  stop(): Promise<void>;
}

/** Answers 410 to some requests, once `queued` is fulfilled, and 200 to all others. */
export const goneAfter =
  (queued: Promise<void>, isGone: (got: Got) => boolean): Answering =>
  async (got, response) => {
    if (isGone(got)) await queued;
    response.writeHead(isGone(got) ? 410 : 200).end();
  };

/** A receiver of webhooks over real HTTP. */
export async function startReceiver(host = '127.0.0.1', port = 0): Promise<Receiver> {
  const got: Got[] = [];
  let answering: Answering = (_got, response) => void response.end();
  let connections = 0;
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString('utf8');
    const one = { path: request.url ?? '', headers: request.headers, text, body: JSON.parse(text), atMs: Date.now() };
    got.push(one);
    answering(one, response);
  });
  server.on('connection', () => {
    connections += 1;
  });
  server.listen(port, host);
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The receiver has no port.');
  return {
    url: `http://${host}:${address.port}`,
    got,
    answer(how) {
      answering = typeof how === 'function' ? how : (_got, response) => void response.writeHead(how).end();
    },
    at: path => got.filter(one => one.path === path),
    connections: () => connections,
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
