import { createHmac } from 'node:crypto';
import { createServer } from 'node:http';
import { Webhook } from 'standardwebhooks';
import { Agent, request as post } from 'undici';
import { environment } from './environment.ts';

/**
 * The least that delivers: for each endpoint a loop that signs a body in both ways and posts it, one after the other, over
 * connections that are kept. All loops share CONNECTIONS of them: with one connection they are no more than one loop.
 * `POST /` begins and answers when all is delivered.
 */
interface Order {
  readonly url: string;
  readonly endpoints: number;
  /** For each endpoint. */
  readonly deliveries: number;
  readonly body: string;
}

const agent = new Agent({ connections: Number(environment('CONNECTIONS')) });
const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const webhook = new Webhook(secret);

async function loop({ url, deliveries, body }: Order, endpoint: number): Promise<void> {
  for (let index = 0; index < deliveries; index += 1) {
    const id = `msg_${endpoint}_${index}`;
    const now = new Date();
    const answer = await post(`${url}/${endpoint}`, {
      method: 'POST',
      dispatcher: agent,
      headers: {
        'content-type': 'application/json',
        'webhook-id': id,
        'webhook-timestamp': String(Math.floor(now.getTime() / 1_000)),
        'webhook-signature': webhook.sign(id, now, body),
        'x-webhook-signature': createHmac('sha256', secret).update(body).digest('hex'),
        'x-webhook-event': 'message.received',
      },
      body,
    });
    await answer.body.dump();
    if (answer.statusCode !== 200) throw new Error(`The receiver answered ${answer.statusCode}.`);
  }
}

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', async () => {
    if (request.method === 'POST') {
      const order = JSON.parse(Buffer.concat(chunks).toString('utf8')) as Order;
      await Promise.all(Array.from({ length: order.endpoints }, (_, endpoint) => loop(order, endpoint)));
    }
    response.end();
  });
});

// A profile is only written by a process that ends by itself.
process.once('SIGTERM', () => process.exit(0));

server.listen(Number(environment('PORT')), '127.0.0.1');
