import { connect } from 'node:net';
import { withoutCost } from '../../support/answers.ts';

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: what a test expects of an answer it says by assertions
  readonly json: any;
}

export async function read(response: Response): Promise<Answer> {
  const text = await response.text();
  let json: unknown;
  try {
    json = withoutCost(JSON.parse(text));
  } catch {
    json = undefined;
  }
  return { status: response.status, headers: response.headers, text, json };
}

/**
 * Sends raw bytes and returns what is received until the server closes the connection or, unless it was asked to close it, pauses for
 * three seconds.
 */
export function raw(url: string, bytes: string, hangUp = false): Promise<string> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url);
    const socket = connect(Number(port), hostname, () => {
      socket.write(bytes);
      if (hangUp) socket.resetAndDestroy();
    });
    let text = '';
    // The first byte may take long on a busy machine.
    socket.setTimeout(60_000, () => socket.destroy());
    socket.on('data', data => {
      if (!/^connection: close\r$/im.test(bytes)) socket.setTimeout(3_000);
      text += data.toString('latin1');
    });
    socket.on('error', error => (hangUp ? resolve(text) : reject(error)));
    socket.on('close', () => resolve(text));
  });
}
