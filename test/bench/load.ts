import { connect, type Socket } from 'node:net';

/** One request, ready to be written: rendered once, so that the load costs less than what it measures. */
export type RawRequest = Buffer;

export function rawRequest(
  url: string,
  method: string,
  headers: Readonly<Record<string, string>>,
  body?: string,
): RawRequest {
  const { host, pathname, search } = new URL(url);
  const bytes = body === undefined ? 0 : Buffer.byteLength(body);
  const lines = [
    `${method} ${pathname}${search} HTTP/1.1`,
    `host: ${host}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    ...(body === undefined ? [] : ['content-type: application/json', `content-length: ${bytes}`]),
  ];
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n${body ?? ''}`);
}

export interface Load {
  readonly url: string;
  readonly connections: number;
  readonly durationMs: number;
  /** The n-th request, counted over all connections. */
  readonly request: (n: number) => RawRequest;
}

export interface LoadResult {
  readonly requests: number;
  readonly seconds: number;
  /** Milliseconds. */
  readonly p50: number;
  readonly p99: number;
}

/**
 * Asks over keep-alive connections, each of which waits for its answer before it asks again.
 * @throws on the first answer that is not 2xx
 */
export async function runLoad(load: Load): Promise<LoadResult> {
  const latencies: number[] = [];
  const started = performance.now();
  const deadline = started + load.durationMs;
  let next = 0;
  await Promise.all(
    Array.from({ length: load.connections }, async () => {
      const connection = await open(load.url);
      try {
        while (performance.now() < deadline) {
          const asked = performance.now();
          await connection.ask(load.request(next++));
          latencies.push(performance.now() - asked);
        }
      } finally {
        connection.close();
      }
    }),
  );
  const seconds = (performance.now() - started) / 1_000;
  latencies.sort((a, b) => a - b);
  const quantile = (q: number): number =>
    latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * q))] ?? 0;
  return { requests: latencies.length, seconds, p50: quantile(0.5), p99: quantile(0.99) };
}

interface Connection {
  ask(request: RawRequest): Promise<void>;
  close(): void;
}

export async function open(url: string): Promise<Connection> {
  const { hostname, port } = new URL(url);
  const socket: Socket = connect({ host: hostname, port: Number(port), noDelay: true });
  await new Promise<void>((resolve, reject) => socket.once('connect', resolve).once('error', reject));
  let settle: { resolve: () => void; reject: (error: Error) => void } | undefined;
  const fail = (error: Error): void => {
    settle?.reject(error);
    settle = undefined;
  };
  const answer = new AnswerReader(() => {
    settle?.resolve();
    settle = undefined;
  }, fail);
  socket.on('data', chunk => answer.read(chunk));
  socket.on('error', fail);
  socket.on('close', () => fail(new Error('The server closed the connection.')));
  return {
    ask(request) {
      return new Promise((resolve, reject) => {
        settle = { resolve, reject };
        socket.write(request);
      });
    },
    close() {
      socket.destroy();
    },
  };
}

/** Finds the end of an answer and looks at its status; nothing else of HTTP is needed here. */
class AnswerReader {
  #head: Buffer = Buffer.alloc(0);
  /** Bytes of the body still to come; undefined before the head is complete, -1 for a chunked body. */
  #missing: number | undefined;
  #tail: Buffer = Buffer.alloc(0);
  readonly #done: () => void;
  readonly #fail: (error: Error) => void;

  constructor(done: () => void, fail: (error: Error) => void) {
    this.#done = done;
    this.#fail = fail;
  }

  read(chunk: Buffer): void {
    if (this.#missing !== undefined) {
      this.#body(chunk);
      return;
    }
    this.#head = this.#head.length === 0 ? chunk : Buffer.concat([this.#head, chunk]);
    const end = this.#head.indexOf('\r\n\r\n');
    if (end < 0) return;
    const text = this.#head.toString('latin1', 0, end);
    const body = this.#head.subarray(end + 4);
    this.#head = Buffer.alloc(0);
    if (text[9] !== '2') {
      this.#fail(
        new Error(
          `A server under test answered ${text.slice(9, 40).split('\r\n', 1)[0]}: ${body.toString('utf8', 0, 300)}`,
        ),
      );
      return;
    }
    const length = /\r\ncontent-length: *(\d+)/i.exec(text)?.[1];
    this.#missing = length === undefined ? -1 : Number(length);
    this.#body(body);
  }

  #body(chunk: Buffer): void {
    if (this.#missing === -1) {
      // The last chunk is empty; its five bytes may come in pieces.
      this.#tail = Buffer.concat([this.#tail, chunk.subarray(-5)]).subarray(-5);
      if (this.#tail.toString('latin1') !== '0\r\n\r\n') return;
    } else {
      this.#missing = (this.#missing ?? 0) - chunk.length;
      if (this.#missing > 0) return;
    }
    this.#missing = undefined;
    this.#tail = Buffer.alloc(0);
    this.#done();
  }
}
