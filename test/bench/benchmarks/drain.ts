import type { ChildProcess } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { killAll, setWebhookUrl, startEmulatorProcess } from '../../support/processes.ts';
import { addBacklog, optIn } from '../backlog.ts';
import type { Fixture } from '../fixture.ts';
import { startGateway } from '../gateway.ts';
import { printProgress } from '../output.ts';
import { postgresCpu } from '../postgres-cpu.ts';
import { atLeast, atMost, type Result, type Table } from '../report.ts';
import { addSender, type Sender, sentReport, setHold } from '../senders.ts';
import type { Server } from '../server.ts';
import { countStatements, topStatements } from '../top-statements.ts';

/** As fast as a channel may be set to. */
const FASTEST = 1_000;
const PACED = 300;
/** Statuses of a message: sent, delivered, read. */
const STATUSES = 3;
const WINDOW_SECONDS = 10;
/** Longest time without progress. */
const PATIENCE_MS = 120_000;
/** Messages that are sent before the measurement: code gets hot, statements get their plans. */
const WARM_UP = 500;

const number = (name: string, otherwise: number): number => Number(process.env[name] ?? otherwise);
/** The largest backlog. */
const BACKLOG = number('PARLEY_BENCH_BACKLOG', 100_000);
/** Messages of each measurement: the rest of the backlog stays queued, to measure its effect. */
const MEASURED = number('PARLEY_BENCH_MEASURED', 20_000);

/** Of the network's answers to sends. */
const LATENCY_MS = number('PARLEY_BENCH_LATENCY_MS', 0);

interface Drained {
  readonly waiting: number;
  readonly messages: number;
  readonly seconds: number;
  /** Microseconds a message. */
  readonly worker: number;
  readonly gateway: number;
  readonly database: number | undefined;
  /** Committed transactions a message. */
  readonly transactions: number;
  /** Messages a second that the network got, in each window of ten seconds. */
  readonly windows: readonly number[];
  readonly statements: Table | undefined;
}

/**
 * What waits is sent by a worker, and its statuses come back to a gateway, one a webhook, until each message is read: CPU of each process,
 * transactions and statements for one message, by how many wait. Tables have no statistics, queues those of empty ones.
 */
export async function drain(fixture: Fixture): Promise<Result> {
  const children = new Set<ChildProcess>();
  const network = await startEmulatorProcess(children, [], {
    window: 'open',
    pairLimit: false,
    throughputLimit: false,
    batch: 'single',
    webhookConnections: 32,
    latencyMs: LATENCY_MS,
  });
  const env = { PARLEY_NETWORK_URL: network };
  const gateway = await startGateway(fixture, [], 'gateway', env);
  const worker = await startGateway(fixture, [], 'worker', env);
  try {
    await setWebhookUrl(network, gateway.url);
    // As autovacuum may have left them: queues are emptied and filled by the hundred thousand.
    await fixture.pool.query('analyze outbox, waiting_webhooks, inbound_webhooks');
    await setHold(fixture, true);
    printProgress(`drain: filling ${BACKLOG + WARM_UP} contacts …`);
    const sender = await addSender(fixture, network, 0, BACKLOG + WARM_UP, FASTEST);
    await optIn(fixture);
    const bench = { fixture, network, gateway, worker, sender };
    await addBacklog(fixture, sender, BACKLOG, BACKLOG + WARM_UP);
    await run(bench, WARM_UP, WARM_UP);
    // The largest first: then nothing that was analyzed meanwhile is of use to it.
    printProgress(`drain: ${BACKLOG} messages …`);
    await addBacklog(fixture, sender, 0, BACKLOG);
    const many = await run(bench, BACKLOG, MEASURED);
    await setRate(fixture, sender, PACED);
    const paced = await run(bench, BACKLOG - many.messages, Math.min(MEASURED, BACKLOG - many.messages));
    await setRate(fixture, sender, FASTEST);
    await fixture.pool.query('delete from outbox');
    const rest = await addSender(fixture, network, 1, 1_000, FASTEST);
    await optIn(fixture);
    await addBacklog(fixture, rest, 0, 1_000);
    const few = await run({ ...bench, sender: rest }, 1_000, 1_000);
    return result(few, many, paced);
  } finally {
    await Promise.all([gateway.stop(), worker.stop()]);
    await killAll(children);
  }
}

interface Bench {
  readonly fixture: Fixture;
  readonly network: string;
  readonly gateway: Server;
  readonly worker: Server;
  readonly sender: Sender;
}

const setRate = ({ pool }: Fixture, { id }: Sender, perSecond: number) =>
  pool.query('update channels set messages_per_second = $2 where tenant_id = $1', [id, perSecond]);

/** Lets so many messages go, and waits until each of them is read. */
async function run({ fixture, network, gateway, worker }: Bench, waiting: number, messages: number): Promise<Drained> {
  const counted = await countStatements(fixture.pool);
  const before = await usage(fixture, gateway, worker);
  const first = await accepted(network);
  const windows: number[] = [];
  let [last, lastMs, window, windowMs] = [first, performance.now(), first, performance.now()];
  const began = performance.now();
  await setHold(fixture, false);
  for (;;) {
    await sleep(50);
    const [now, ms] = [await accepted(network), performance.now()];
    if (now > last) [last, lastMs] = [now, ms];
    if (ms - windowMs >= WINDOW_SECONDS * 1_000) {
      windows.push(((now - window) * 1_000) / (ms - windowMs));
      [window, windowMs] = [now, ms];
    }
    if (now - first >= messages) break;
    if (ms - lastMs > PATIENCE_MS) throw new Error(`Only ${now - first} of ${messages} messages were sent.`);
  }
  const seconds = (performance.now() - began) / 1_000;
  await setHold(fixture, true);
  await settled(fixture, network);
  const after = await usage(fixture, gateway, worker);
  const done = (await accepted(network)) - first;
  const of = (name: keyof Usage): number => ((after[name] ?? Number.NaN) - (before[name] ?? Number.NaN)) / done;
  const drained: Drained = {
    waiting,
    messages: done,
    seconds,
    worker: of('worker'),
    gateway: of('gateway'),
    database: before.database === undefined ? undefined : of('database'),
    transactions: of('transactions'),
    windows,
    statements: counted ? await topStatements(fixture.pool, done) : undefined,
  };
  printProgress(
    `  ${done} of ${waiting}: ${Math.round(messages / seconds)}/s, worker ${Math.round(drained.worker)} µs, gateway ${Math.round(drained.gateway)} µs, PostgreSQL ${Math.round(drained.database ?? Number.NaN)} µs, ${drained.transactions.toFixed(2)} transactions`,
  );
  return drained;
}

interface Usage {
  readonly worker: number;
  readonly gateway: number;
  readonly database: number | undefined;
  readonly transactions: number;
}

async function usage({ pool }: Fixture, gateway: Server, worker: Server): Promise<Usage> {
  // Statistics of a session are flushed a second after its last transaction at the latest.
  await sleep(1_100);
  const { rows } = await pool.query<{ count: number }>(
    'select xact_commit::float8 as count from pg_stat_database where datname = current_database()',
  );
  return {
    worker: await worker.cpu(),
    gateway: await gateway.cpu(),
    database: await postgresCpu(pool),
    transactions: rows[0]?.count ?? Number.NaN,
  };
}

interface WebhookCounts {
  readonly pending: number;
  readonly delivered: number;
  readonly failed: number;
}

const webhooks = async (network: string): Promise<WebhookCounts> =>
  (await (await fetch(`${network}/_emulator/webhooks`)).json()) as WebhookCounts;

/** Messages that the network has accepted: each has three statuses, of which it has posted some. */
async function accepted(network: string): Promise<number> {
  const { pending, delivered, failed } = await webhooks(network);
  return Math.round((pending + delivered + failed) / STATUSES);
}

/** Waits until all statuses are posted and applied, and checks that each message was sent once and is read. */
async function settled({ pool }: Fixture, network: string): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS;
  for (;;) {
    const { pending } = await webhooks(network);
    const { rows } = await pool.query('select from waiting_webhooks limit 1');
    if (pending === 0 && rows.length === 0) break;
    if (performance.now() > deadline) throw new Error('The statuses were not applied.');
    await sleep(250);
  }
  const { total, duplicates } = await sentReport(network, 0);
  const { rows } = await pool.query<{ count: number }>(
    `select count(*)::int as count from message_states where status = 'read'`,
  );
  if (duplicates > 0 || rows[0]?.count !== total)
    throw new Error(`The network got ${total} messages, ${duplicates} of them again, and ${rows[0]?.count} are read.`);
}

function result(few: Drained, many: Drained, paced: Drained): Result {
  const ms = (microseconds: number | undefined): number => (microseconds ?? Number.NaN) / 1_000;
  const whole = (value: number | undefined): string => (value === undefined ? '-' : String(Math.round(value)));
  const row = (name: string, drained: Drained): string[] => [
    name,
    String(drained.messages),
    whole(drained.messages / drained.seconds),
    whole(drained.worker),
    whole(drained.gateway),
    whole(drained.database),
    drained.transactions.toFixed(2),
  ];
  const total = ({ worker, gateway, database }: Drained): number => worker + gateway + (database ?? Number.NaN);
  return {
    title: 'drain: messages that wait are sent until they are read, one status a webhook',
    samples: new Map(),
    tables: [
      {
        head: ['waiting', 'messages', 'a second', 'worker µs', 'gateway µs', 'PostgreSQL µs', 'transactions a message'],
        rows: [
          row(`${few.waiting}, as fast as possible`, few),
          row(`${many.waiting}, as fast as possible`, many),
          row(`${paced.waiting}, ${PACED} a second`, paced),
        ],
      },
      ...(many.statements ? [many.statements] : []),
    ],
    goals: [
      ...[few, many].flatMap(drained => [
        atMost(`worker CPU of a message, ${drained.waiting} waiting, ms`, ms(drained.worker), 0.5),
        atMost(`gateway CPU of a message, ${drained.waiting} waiting, ms`, ms(drained.gateway), 0.4),
        atMost(`PostgreSQL CPU of a message, ${drained.waiting} waiting, ms`, ms(drained.database), 0.7),
      ]),
      atMost(`CPU with ${many.waiting} waiting / with ${few.waiting}`, total(many) / total(few), 1.2),
      atMost(`transactions a message at ${PACED} a second`, paced.transactions, 0.5),
      atLeast(
        `fewest messages in ${WINDOW_SECONDS} s / allowed, at ${PACED} a second`,
        Math.min(...paced.windows) / PACED,
        0.95,
      ),
    ],
    notes: [
      `At ${PACED} a second, in each ${WINDOW_SECONDS} s: ${paced.windows.map(rate => Math.round(rate)).join(', ')} a second.`,
      'The emulated network and PostgreSQL share the machine: compare CPU rather than rates.',
    ],
  };
}
