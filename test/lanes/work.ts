import { sql } from 'kysely';
import pg from 'pg';
import { createDatabase, type Database } from '../../src/database/database.ts';
import { createPostgresTransport } from '../../src/database/postgres-signals.ts';
import type { Drain } from '../../src/lanes/lane.ts';
import { createLanes, type Lanes } from '../../src/lanes/runtime.ts';
import { type Clock, systemClock } from '../../src/platform/clock.ts';
import { createLog } from '../../src/platform/log.ts';
import { createSignals, type Signals } from '../../src/platform/signals.ts';
import type { TestDatabase } from '../support/database.ts';

/** A queue for tests: a row is a piece of work in a lane. */
export async function createWorkTable({ query }: TestDatabase): Promise<void> {
  await query('create table work (tenant_id bigint, key text, id bigint generated always as identity, done_by bigint)');
  await query('create index work_waiting on work (tenant_id, key) where done_by is null');
}

export const dueWorkLanes = sql`select distinct tenant_id, key from work where done_by is null`;

/** The parts of a process under test: a lane runtime, and signals to other processes. */
export interface WorkProcess {
  readonly lanes: Lanes;
  readonly signals: Signals;
  readonly db: Database;
  /** How often work was resumed, and what resuming waits for. */
  readonly resumed: { count: number; wait?: Promise<void> };
  start(drain: Drain, options?: { slots?: number; queue?: string }): Promise<void>;
  stop(): Promise<void>;
}

export function startProcess(
  { onTestFinished }: { onTestFinished(end: () => unknown): void },
  { url }: { readonly url: string },
  { leaseMs = 15_000, clock = systemClock }: { leaseMs?: number; clock?: Clock } = {},
): WorkProcess {
  const log = createLog('silent');
  const db = createDatabase({ url, poolSize: 2, readers: 1, log });
  const connect = async () => {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    return client;
  };
  const signals = createSignals(createPostgresTransport(connect, log));
  const lanes = createLanes({ db: db.leases, signals, clock, log, leaseMs });
  const resumed: WorkProcess['resumed'] = { count: 0 };
  let stopped: Promise<void> | undefined;
  const stop = (): Promise<void> => {
    stopped ??= (async () => {
      await lanes.stop(2_000);
      await signals.close();
      await db.close();
    })();
    return stopped;
  };
  onTestFinished(stop);
  return {
    lanes,
    signals,
    db,
    resumed,
    start: (drain, { slots = 4, queue = 'work' } = {}) =>
      lanes.start([{ name: queue, isPerTenant: true, slots, drain, dueLanes: dueWorkLanes }], async () => {
        await sql`select 1`.execute(db.write);
        await resumed.wait;
        resumed.count += 1;
      }),
    stop,
  };
}
