import type { ChildProcess } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { killAll, startEmulatorProcess } from '../../support/processes.ts';
import type { Sample } from '../contest.ts';
import { FIRST_PHONE, settle } from '../fill.ts';
import type { Fixture } from '../fixture.ts';
import { startGateway } from '../gateway.ts';
import { printProgress } from '../output.ts';
import { postgresCpu } from '../postgres-cpu.ts';
import { atMost, type Result } from '../report.ts';
import {
  accept,
  addSender,
  PATIENCE_MS,
  phoneNumberIdOf,
  type Sender,
  sentAfter,
  sentReport,
  setHold,
} from '../senders.ts';
import type { Server } from '../server.ts';

const TENANTS = 1_000;
/** Of which one is written to every so often, so that its lane was empty, and released, for some seconds. */
const IDLE_TENANTS = 25;
const IDLE_PAUSE_MS = 200;
const IDLE_SENDS = 100;
/** An empty lane is released after this. */
const LINGER_MS = 3_000;
const BALANCED_LANES = 100;
/** Messages in each of them, to a person each: the network's rule for one person would have the lane wait. */
const BACKLOG = 40;

/** Turns, latency and balance of lanes, with an emulated network that answers at once. */
export async function lanes(fixture: Fixture): Promise<Result> {
  const children = new Set<ChildProcess>();
  const network = await startEmulatorProcess(children, [], {
    window: 'open',
    pairLimit: false,
    throughputLimit: false,
    latencyMs: 0,
  });
  try {
    printProgress(`lanes: ${TENANTS} tenants with a channel each …`);
    const senders: Sender[] = [];
    for (let index = 0; index < TENANTS; index += 1)
      senders.push(await addSender(fixture, network, index, index < BALANCED_LANES ? BACKLOG : 1));
    await settle(fixture.pool);
    const env = { PARLEY_NETWORK_URL: network };
    const server = await startGateway(fixture, [], 'all', env);
    let drained: Timed;
    let accepted: Timed;
    let first: Sample;
    try {
      await warmUp(server, network, senders.slice(0, 200));
      drained = await drainOneEach(fixture, server, network, senders);
      printProgress(`  what waits, a message of each: ${drained.seconds.toFixed(2)} s`);
      accepted = await acceptAndSendOneEach(fixture, server, network, senders);
      printProgress(`  accepted and sent, a message of each: ${accepted.seconds.toFixed(2)} s`);
      first = await firstCalls(server, network, senders.slice(0, IDLE_TENANTS));
      printProgress(`  first call: p50 ${first.p50?.toFixed(1)} ms, p99 ${first.p99?.toFixed(1)} ms`);
    } finally {
      await server.stop();
    }
    const idle = await idleCost(fixture, env);
    const most = await balance(fixture, env, senders.slice(0, BALANCED_LANES));
    return {
      title: `lanes: sends of ${TENANTS} tenants by one process`,
      samples: new Map([
        ['one message of each tenant, waiting', drained],
        ['one message of each tenant, accepted and sent', accepted],
        ['first call of an idle lane', first],
      ]),
      goals: [
        atMost('seconds to send what waits, one message of each tenant', drained.seconds, 3),
        atMost('p99 ms from acceptance to the first call', first.p99 ?? Number.NaN, 50),
        atMost('transactions a second of an idle process', idle.transactions, 5),
        atMost('connections of an idle process', idle.connections, 8),
        atMost(`of ${BALANCED_LANES} busy lanes the most that one of two workers holds`, most, 65),
      ],
      notes: ['The load generator, the gateway, the emulated network and PostgreSQL share the machine.'],
    };
  } finally {
    await killAll(children);
  }
}

async function warmUp(server: Server, network: string, senders: readonly Sender[]): Promise<void> {
  await accept(server, senders);
  await sentAfter(network, senders.length);
}

type Timed = Sample & { readonly seconds: number };

/** Seconds and CPU of `work`, by message. */
async function measure(fixture: Fixture, server: Server, messages: number, work: () => Promise<void>): Promise<Timed> {
  const [serverCpu, databaseCpu] = [await server.cpu(), await postgresCpu(fixture.pool)];
  const began = performance.now();
  await work();
  const seconds = (performance.now() - began) / 1_000;
  const databaseCpuAfter = await postgresCpu(fixture.pool);
  return {
    seconds,
    perSecond: messages / seconds,
    serverCpu: ((await server.cpu()) - serverCpu) / messages,
    databaseCpu:
      databaseCpu === undefined || databaseCpuAfter === undefined
        ? undefined
        : (databaseCpuAfter - databaseCpu) / messages,
    p50: undefined,
    p99: undefined,
  };
}

/** What waits is sent: accepted while the outbox is held, as after `parley restore-log`; measured from its release to the last arrival. */
async function drainOneEach(fixture: Fixture, server: Server, network: string, senders: readonly Sender[]) {
  const before = (await sentReport(network, 0)).total;
  await setHold(fixture, true);
  await accept(server, senders);
  // Lanes that were woken have found nothing to do.
  await sleep(LINGER_MS);
  return measure(fixture, server, senders.length, async () => {
    await setHold(fixture, false);
    await sentAfter(network, before + senders.length);
  });
}

async function acceptAndSendOneEach(fixture: Fixture, server: Server, network: string, senders: readonly Sender[]) {
  const before = (await sentReport(network, 0)).total;
  return measure(fixture, server, senders.length, async () => {
    await accept(server, senders);
    await sentAfter(network, before + senders.length);
  });
}

/** From the answer to a send (202: it is committed) to its arrival at the network, one at a time; each to a person of its own. */
async function firstCalls(server: Server, network: string, senders: readonly Sender[]): Promise<Sample> {
  const committedAt = new Map<string, number>();
  const before = (await sentReport(network, 0)).total;
  for (let index = 0; index < IDLE_SENDS; index += 1) {
    const [sender] = senders.slice(index % senders.length);
    const person = 1 + Math.floor(index / senders.length);
    if (sender) {
      await accept(server, [sender], person);
      committedAt.set(`${phoneNumberIdOf(sender)} ${FIRST_PHONE + person}`, Date.now());
    }
    await sleep(IDLE_PAUSE_MS);
  }
  await sentAfter(network, before + IDLE_SENDS);
  const { messages } = await sentReport(network, IDLE_SENDS);
  const latencies = messages
    .map(({ phoneNumberId, to, at }) => {
      const committed = committedAt.get(`${phoneNumberId} ${to.replace(/\D/g, '')}`) ?? Number.NaN;
      return Math.max(0, Date.parse(at) - committed);
    })
    .sort((a, b) => a - b);
  const of = (share: number): number | undefined => latencies[Math.ceil(latencies.length * share) - 1];
  return {
    perSecond: 1_000 / IDLE_PAUSE_MS,
    serverCpu: undefined,
    databaseCpu: undefined,
    p50: of(0.5),
    p99: of(0.99),
  };
}

/** What a process with all roles costs the database while nothing happens. */
async function idleCost({ pool, ...fixture }: Fixture, env: Readonly<Record<string, string>>) {
  const server = await startGateway({ pool, ...fixture }, [], 'all', env);
  const setAutovacuum = async (state: 'on' | 'off') => {
    await pool.query(`alter system set autovacuum = ${state}`);
    await pool.query('select pg_reload_conf()');
  };
  try {
    // Chores of a process that starts, and connections that they no longer need, are over by then.
    await sleep(45_000);
    const transactions = async (): Promise<number> => {
      // Statistics of a session are flushed a second after its last transaction at the latest.
      const { rows } = await pool.query<{ count: string }>(
        'select xact_commit + xact_rollback as count from pg_stat_database where datname = current_database()',
      );
      return Number(rows[0]?.count);
    };
    // The server counts those of autovacuum as well: up to 41 in a second, after what the benchmark has written.
    await setAutovacuum('off');
    const [before, began] = [await transactions(), performance.now()];
    await sleep(20_000);
    const count = (await transactions()) - before - 1;
    const { rows } = await pool.query<{ count: string }>(
      `select count(*) from pg_stat_activity where datname = current_database() and application_name = 'parley'`,
    );
    const result = { transactions: (count * 1_000) / (performance.now() - began), connections: Number(rows[0]?.count) };
    printProgress(`  idle: ${result.transactions.toFixed(1)} transactions a second, ${result.connections} connections`);
    return result;
  } finally {
    await setAutovacuum('on');
    await server.stop();
  }
}

/** Two workers, of which the second starts when the first has all lanes. @returns the most lanes that one of them holds in the end */
async function balance(
  fixture: Fixture,
  env: Readonly<Record<string, string>>,
  senders: readonly Sender[],
): Promise<number> {
  const gateway = await startGateway(fixture, [], 'gateway', env);
  const workers: Server[] = [];
  const slow = { ...env, PARLEY_LANES: '100' };
  try {
    await fixture.pool.query('update channels set messages_per_second = 1 where tenant_id = any($1)', [
      senders.map(({ id }) => id),
    ]);
    for (let person = 0; person < BACKLOG; person += 1) await accept(gateway, senders, person);
    const held = async (): Promise<number[]> => {
      const { rows } = await fixture.pool.query<{ count: number }>(
        `select count(*)::int as count from lanes where queue = 'outbox' and lease_until > now() group by holder`,
      );
      return rows.map(({ count }) => count);
    };
    workers.push(await startGateway(fixture, [], 'worker', slow));
    const deadline = performance.now() + PATIENCE_MS;
    while ((await held())[0] !== senders.length && performance.now() < deadline) await sleep(100);
    workers.push(await startGateway(fixture, [], 'worker', slow));
    await sleep(10_000);
    const counts = await held();
    printProgress(`  balance: ${counts.join(' and ')} lanes`);
    return Math.max(...counts);
  } finally {
    await Promise.all([gateway, ...workers].map(server => server.stop()));
  }
}
