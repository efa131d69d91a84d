import { createServer } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { WebSocketServer } from 'ws';
import { environment } from './environment.ts';

/** The baseline of a hand-written broadcast: `POST /` sends its body the given number of times to all sockets. */
const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', async () => {
    const text = Buffer.concat(chunks).toString('utf8');
    for (let left = Number(request.headers['x-times'] ?? 0); left > 0; left -= 1) {
      for (const socket of sockets.clients) socket.send(text);
      // One event after the other, as they would come: sockets write what they have before the next one.
      await nextTurn();
    }
    response.end();
  });
});
const sockets = new WebSocketServer({ server });

// A profile is only written by a process that ends by itself.
process.once('SIGTERM', () => process.exit(0));

server.listen(Number(environment('PORT')), '127.0.0.1');
