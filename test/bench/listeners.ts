import { type ChildProcess, fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { fileURLToPath } from 'node:url';

/** WebSocket clients in a separate process, which count messages without parsing them, so that they cost less than the measured server. */
export interface Listeners {
  /** The last text that one of the clients received. */
  sample(): Promise<string>;
  /** Resolves when every client has received this number of messages since the last call. */
  received(messages: number): Promise<void>;
  stop(): void;
}

interface Order {
  readonly url: string;
  readonly count: number;
  readonly protocol: string | undefined;
  /** The texts that each client sends after connecting: each after the response to the previous one; the last gets no response. */
  readonly texts: readonly string[];
}

/** Opens `count` sockets. @returns when all are open, and all texts are sent */
export async function openListeners(order: Order): Promise<Listeners> {
  const child = fork(fileURLToPath(import.meta.url), [], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  const ended = once(child, 'exit').then(() => {
    throw new Error('The process of the listeners ended.');
  });
  ended.catch(() => undefined);
  const ask = async (question: object): Promise<{ text?: string }> => {
    child.send(question);
    const [answer] = (await Promise.race([once(child, 'message'), ended])) as [{ text?: string }];
    return answer;
  };
  await ask({ open: order });
  return {
    sample: async () => (await ask({ sample: true })).text ?? '',
    async received(messages) {
      await ask({ received: messages });
    },
    stop: () => void (child as ChildProcess).kill(),
  };
}

class Listener {
  count = 0;
  sample = '';
  #rest: Buffer = Buffer.alloc(0);
  #open = false;
  readonly #texts: string[];
  readonly #socket: Socket;

  constructor({ url, protocol, texts }: Order) {
    this.#texts = [...texts];
    const { hostname, port, pathname } = new URL(url);
    this.#socket = connect({ host: hostname, port: Number(port), noDelay: true });
    this.#socket.on('data', chunk => this.#read(chunk));
    this.#socket.on('close', () => {
      throw new Error('The server closed a socket.');
    });
    const lines = [
      `GET ${pathname} HTTP/1.1`,
      `Host: ${hostname}:${port}`,
      'Connection: Upgrade',
      'Upgrade: websocket',
      'Sec-WebSocket-Version: 13',
      `Sec-WebSocket-Key: ${randomBytes(16).toString('base64')}`,
      ...(protocol === undefined ? [] : [`Sec-WebSocket-Protocol: ${protocol}`]),
    ];
    this.#socket.write(`${lines.join('\r\n')}\r\n\r\n`);
  }

  #say(): void {
    const text = this.#texts.shift();
    if (text !== undefined) this.#socket.write(maskedFrame(text));
  }

  #read(chunk: Buffer): void {
    let data = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    if (!this.#open) {
      const end = data.indexOf('\r\n\r\n');
      if (end < 0) {
        this.#rest = data;
        return;
      }
      if (!data.subarray(0, 12).equals(Buffer.from('HTTP/1.1 101'))) throw new Error(data.toString('utf8', 0, end));
      this.#open = true;
      this.#say();
      data = data.subarray(end + 4);
    }
    // RFC 6455 §5.2: frames of a server are not masked, and ours are short.
    let at = 0;
    while (data.length - at >= 2) {
      const short = data.readUInt8(at + 1);
      const head = short < 126 ? 2 : short === 126 ? 4 : 10;
      if (data.length - at < head) break;
      const length = short < 126 ? short : short === 126 ? data.readUInt16BE(at + 2) : data.readUInt32BE(at + 6);
      if (data.length - at < head + length) break;
      const opcode = data.readUInt8(at) & 15;
      if (opcode === 8)
        throw new Error(`The server closed a socket: ${data.toString('utf8', at + head + 2, at + head + length)}`);
      // Who does not answer a ping is taken for gone.
      if (opcode === 9) this.#socket.write(maskedFrame('', 0x8a));
      if (opcode === 1) {
        this.count += 1;
        this.#say();
        if (this.sample === '') this.sample = data.toString('utf8', at + head, at + head + length);
      }
      at += head + length;
    }
    this.#rest = at === data.length ? Buffer.alloc(0) : data.subarray(at);
  }

  reset(): void {
    this.count = 0;
    this.sample = '';
  }
}

/** A text, or a pong. */
function maskedFrame(text: string, first: 0x81 | 0x8a = 0x81): Buffer {
  const payload = Buffer.from(text);
  const head = payload.length < 126 ? Buffer.from([first, 0x80 | payload.length]) : Buffer.alloc(4);
  if (payload.length >= 126) {
    head.writeUInt16BE((first << 8) | 0xfe);
    head.writeUInt16BE(payload.length, 2);
  }
  // A mask of zeros is one as well.
  return Buffer.concat([head, Buffer.alloc(4), payload]);
}

if (process.send && process.argv[1] === fileURLToPath(import.meta.url)) {
  const listeners: Listener[] = [];
  let wanted: { readonly count: number; resolve(): void } | undefined;
  const look = (): void => {
    if (!wanted) return;
    const { count, resolve } = wanted;
    if (listeners.some(listener => listener.count < count)) return;
    wanted = undefined;
    resolve();
  };
  // Looking at all sockets after each chunk would cost more than reading them.
  setInterval(look, 1);
  const all = (count: number): Promise<void> =>
    new Promise(resolve => {
      wanted = { count, resolve };
    });
  process.on('message', async (question: { open?: Order; sample?: true; received?: number }) => {
    const { open, sample, received } = question;
    if (open) {
      for (let left = open.count; left > 0; left -= 1) {
        listeners.push(new Listener(open));
        // A server's queue of connections is short.
        if (left % 50 === 0) await new Promise(resolve => setTimeout(resolve, 20));
      }
      await all(Math.max(0, open.texts.length - 1));
      for (const listener of listeners) listener.reset();
    }
    if (received !== undefined) {
      await all(received);
      for (const listener of listeners) listener.count -= received;
    }
    process.send?.(sample ? { text: listeners[0]?.sample } : {});
  });
}
