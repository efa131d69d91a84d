import { setTimeout as sleep } from 'node:timers/promises';
import { type Contestant, compete, type Options, type Sample } from '../contest.ts';
import { addTenant, addToken, settle } from '../fill.ts';
import type { Fixture } from '../fixture.ts';
import { startGateway } from '../gateway.ts';
import { type Listeners, openListeners } from '../listeners.ts';
import { printProgress } from '../output.ts';
import { commitEvents } from '../received-events.ts';
import { atLeast, type Result } from '../report.ts';
import { type Server, startServer } from '../server.ts';

const SUBSCRIBERS = 1_000;
/** Events that are committed together. */
const BURST = 100;

const SUBSCRIPTION = `subscription { events(filter: { types: [MESSAGE_RECEIVED] }) { id cursor occurredAt ... on MessageEvent { message { id text status contact { id firstName } } } } }`;

/** Events from their commit to a thousand subscribers over WebSocket, compared with a bare broadcast of the same bytes. */
export async function events(fixture: Fixture, options: Options): Promise<Result> {
  printProgress(`events: starting the gateway, opening ${SUBSCRIBERS} sockets to each …`);
  const tenant = await addTenant(fixture.pool, 'events', 100);
  const token = await addToken(fixture.pool, tenant);
  await settle(fixture.pool);
  const gateway = await startGateway(fixture);
  const bare = await startServer(new URL('../servers/broadcast.ts', import.meta.url), {
    env: {},
    logFile: `${fixture.directory}/broadcast.log`,
  });
  const listening: Listeners[] = [];
  try {
    const subscribers = await openListeners({
      url: `${gateway.url}/graphql`,
      count: SUBSCRIBERS,
      protocol: 'graphql-transport-ws',
      texts: [
        JSON.stringify({ type: 'connection_init', payload: { token } }),
        JSON.stringify({ type: 'subscribe', id: '1', payload: { query: SUBSCRIPTION } }),
      ],
    });
    listening.push(subscribers);
    const sockets = await openListeners({
      url: bare.url,
      count: SUBSCRIBERS,
      protocol: undefined,
      texts: [],
    });
    listening.push(sockets);
    // The greeting says that the socket is known; what it asked for is heard a moment later.
    await sleep(2_000);
    await commitEvents(fixture, tenant, 1);
    await subscribers.received(1);
    const text = await subscribers.sample();
    const samples = await compete(
      [
        contestant('Parley', gateway, subscribers, () => commitEvents(fixture, tenant, BURST)),
        contestant('bare ws', bare, sockets, async () => {
          const answer = await fetch(bare.url, { method: 'POST', headers: { 'x-times': String(BURST) }, body: text });
          await answer.text();
        }),
      ],
      options,
    );
    const rate = (name: string): number => samples.get(name)?.perSecond ?? Number.NaN;
    return {
      title: `events: from a commit of ${BURST} to ${SUBSCRIBERS} subscribers of MESSAGE_RECEIVED, ${text.length} bytes each`,
      samples,
      goals: [atLeast('Parley / a bare broadcast with ws, events a second', rate('Parley') / rate('bare ws'), 0.5)],
    };
  } finally {
    for (const one of listening) one.stop();
    await gateway.stop();
    await bare.stop();
  }
}

/** As many bursts as there is time for, each to its last subscriber. */
function contestant(name: string, server: Server, listeners: Listeners, burst: () => Promise<unknown>): Contestant {
  return {
    name,
    async run(durationMs): Promise<Sample> {
      const cpu = await server.cpu();
      const latencies: number[] = [];
      const started = performance.now();
      while (performance.now() - started < durationMs) {
        const at = performance.now();
        const arrived = listeners.received(BURST);
        await burst();
        await arrived;
        latencies.push(performance.now() - at);
      }
      const seconds = (performance.now() - started) / 1_000;
      const count = latencies.length * BURST;
      latencies.sort((a, b) => a - b);
      const quantile = (q: number): number | undefined => latencies[Math.floor((latencies.length - 1) * q)];
      return {
        perSecond: count / seconds,
        serverCpu: ((await server.cpu()) - cpu) / count,
        databaseCpu: undefined,
        p50: quantile(0.5),
        p99: quantile(0.99),
      };
    },
  };
}
