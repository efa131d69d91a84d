import { setTimeout as sleep } from 'node:timers/promises';
import { type Contestant, compete, type Options, type Sample } from '../contest.ts';
import { addTenant, addToken, settle } from '../fill.ts';
import type { Fixture } from '../fixture.ts';
import { startGateway } from '../gateway.ts';
import { printProgress } from '../output.ts';
import { postgresCpu } from '../postgres-cpu.ts';
import { commitEvents } from '../received-events.ts';
import { atLeast, type Result } from '../report.ts';
import { type Server, startServer } from '../server.ts';

const ENDPOINTS = 8;
/** Events that are committed together; each goes to every endpoint. */
const BURST = 250;

/** Deliveries of events to webhook endpoints, from their commit, compared with bare loops that only sign and post: one, and as many as endpoints. */
export async function webhooks(fixture: Fixture, options: Options): Promise<Result> {
  printProgress(`webhooks: starting the gateway, ${ENDPOINTS} endpoints …`);
  const tenant = await addTenant(fixture.pool, 'webhooks', 100);
  await fixture.pool.query(`update plans set features = array['webhooks']`);
  const token = await addToken(fixture.pool, tenant);
  await settle(fixture.pool);
  const start = (name: string, connections = 0): Promise<Server> =>
    startServer(new URL(`../servers/${name}.ts`, import.meta.url), {
      env: { CONNECTIONS: String(connections) },
      logFile: `${fixture.directory}/${name}-${connections}.log`,
    });
  const receiver = await start('receiver');
  const bare = new Map<string, Server>();
  for (const connections of [1, ENDPOINTS]) bare.set(nameOf(connections), await start('post-loop', connections));
  const gateway = await startGateway(fixture, [], 'all', {
    PARLEY_WEBHOOK_ALLOW_HTTP: 'true',
    PARLEY_WEBHOOK_ALLOWED_RANGES: '127.0.0.0/8',
  });
  const received = async (): Promise<number> => Number(await (await fetch(receiver.url)).text());
  try {
    for (let endpoint = 0; endpoint < ENDPOINTS; endpoint += 1)
      await createEndpoint(gateway.url, token, `${receiver.url}/${endpoint}`);
    const delivered = async (burst: () => Promise<unknown>): Promise<void> => {
      const wanted = (await received()) + BURST * ENDPOINTS;
      await burst();
      while ((await received()) < wanted) await sleep(2);
    };
    const order = { url: receiver.url, endpoints: ENDPOINTS, deliveries: BURST, body: BODY };
    const samples = await compete(
      [
        contestant('Parley', gateway, fixture, () => delivered(() => commitEvents(fixture, tenant, BURST))),
        ...[...bare].map(([name, server]) =>
          contestant(name, server, fixture, () =>
            delivered(async () => {
              const answer = await fetch(server.url, { method: 'POST', body: JSON.stringify(order) });
              await answer.text();
            }),
          ),
        ),
      ],
      options,
    );
    const rate = (name: string): number => samples.get(name)?.perSecond ?? Number.NaN;
    return {
      title: `webhooks: from a commit of ${BURST} events to ${ENDPOINTS} endpoints, in order at each`,
      samples,
      goals: [1, ENDPOINTS].map(connections =>
        atLeast(
          `Parley / ${nameOf(connections)}, deliveries a second`,
          rate('Parley') / rate(nameOf(connections)),
          0.6,
        ),
      ),
    };
  } finally {
    await gateway.stop();
    for (const server of bare.values()) await server.stop();
    await receiver.stop();
  }
}

const nameOf = (connections: number): string =>
  connections === 1 ? 'a bare undici loop' : `${connections} bare undici loops`;

/** As many bursts as there is time for. */
function contestant(name: string, server: Server, { pool }: Fixture, burst: () => Promise<void>): Contestant {
  return {
    name,
    async run(durationMs): Promise<Sample> {
      const before = { server: await server.cpu(), database: await postgresCpu(pool) };
      const latencies: number[] = [];
      const started = performance.now();
      while (performance.now() - started < durationMs) {
        const at = performance.now();
        await burst();
        latencies.push(performance.now() - at);
      }
      const seconds = (performance.now() - started) / 1_000;
      const after = { server: await server.cpu(), database: await postgresCpu(pool) };
      const count = latencies.length * BURST * ENDPOINTS;
      latencies.sort((a, b) => a - b);
      return {
        perSecond: count / seconds,
        serverCpu: (after.server - before.server) / count,
        databaseCpu:
          before.database === undefined || after.database === undefined
            ? undefined
            : (after.database - before.database) / count,
        p50: latencies[latencies.length >> 1],
        p99: latencies.at(-1),
      };
    },
  };
}

async function createEndpoint(url: string, token: string, target: string): Promise<void> {
  const query = `mutation ($url: String!) { createWebhookEndpoint(input: { url: $url, events: ["message.received"] }) { isNew userErrors { message } } }`;
  const answer = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: JSON.stringify({ query, variables: { url: target } }),
  });
  const { errors } = (await answer.json()) as { errors?: unknown };
  if (errors) throw new Error(`An endpoint could not be made: ${JSON.stringify(errors)}`);
}

/** As long as Parley's. */
const BODY = JSON.stringify({
  type: 'message.received',
  timestamp: '2026-01-01T00:00:00.000Z',
  data: { message: { body: 'Where is my order 4711? It should have been here on Tuesday.', filler: 'x'.repeat(320) } },
});
