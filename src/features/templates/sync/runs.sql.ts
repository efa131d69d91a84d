import { sql } from 'kysely';
import type { Db } from '../../../database/database.ts';
import { anyOf, transactionTime } from '../../../database/expressions.ts';
import type { LaneTurn } from '../../../lanes/lane.ts';
import { type Backlog, inAccount } from '../../../lanes/store/backlog.sql.ts';
import { isHeld } from '../../../lanes/store/lanes.sql.ts';

/** The table `template_syncs`: a row per business account, which is also the lock of a running sync. */

/** Schedules accounts for an immediate sync; accounts of other tenants are ignored. @returns the scheduled accounts */
export async function requestSyncs(db: Db, tenantId: number, wabaIds: readonly string[]): Promise<string[]> {
  const rows = await db
    .insertInto('template_syncs')
    .columns(['tenant_id', 'waba_id'])
    .expression(eb =>
      eb
        .selectFrom('channels')
        .distinct()
        .select(['tenant_id', 'waba_id'])
        .where('tenant_id', '=', tenantId)
        .where('waba_id', '=', eb.fn.any(eb.val(wabaIds))),
    )
    .onConflict(oc =>
      oc
        .columns(['tenant_id', 'waba_id'])
        .doUpdateSet({ due_at: eb => eb.fn<string>('least', ['template_syncs.due_at', eb.fn('now')]) })
        .whereRef('template_syncs.tenant_id', '=', 'excluded.tenant_id'),
    )
    .returning('waba_id')
    .execute();
  return rows.map(row => row.waba_id);
}

const NOT_RUNNING = sql`(s.run_id is null or s.lease_expires_at < now())`;
/** A run id without a lease belongs to a process that died. */
const DUE = sql`(s.due_at <= now() or s.run_id is not null)`;

/** Whether the lane is still held; true without a lane. */
const holdsLane = (lane: LaneTurn | undefined) => (lane ? isHeld(lane) : sql<boolean>`true`);

export interface NewRun {
  readonly id: string;
  readonly leaseSeconds: number;
  /** Seconds until the account is due again. */
  readonly nextSeconds: number;
  /** A worker's lane: only due accounts are synced, and only while the lane is held. */
  readonly lane: LaneTurn | undefined;
}

/** Starts a run for an account unless one is active. @returns its start; undefined if it may not start */
export async function beginSync(
  db: Db,
  tenantId: number,
  wabaId: string,
  { lane, ...run }: NewRun,
): Promise<string | undefined> {
  const { rows } = await sql<{ started_at: string }>`
    insert into template_syncs as s (tenant_id, waba_id, run_id, lease_expires_at, started_at, due_at)
    select ${tenantId}::bigint, ${wabaId}, ${run.id}::uuid, now() + make_interval(secs => ${run.leaseSeconds}), now(),
      now() + make_interval(secs => ${run.nextSeconds})
    where ${holdsLane(lane)}
    on conflict (tenant_id, waba_id) do update
    set run_id = excluded.run_id, lease_expires_at = excluded.lease_expires_at, started_at = excluded.started_at, due_at = excluded.due_at
    where s.tenant_id = excluded.tenant_id and ${NOT_RUNNING} and (${lane === undefined}::boolean or ${DUE})
    returning s.started_at`.execute(db);
  return rows[0]?.started_at;
}

/**
 * Extends the lease and locks the row until the transaction ends.
 * @returns the time of the transaction; undefined if another run has taken over
 */
export async function renewSync(
  trx: Db,
  tenantId: number,
  wabaId: string,
  runId: string,
  leaseSeconds: number,
): Promise<string | undefined> {
  const row = await trx
    .updateTable('template_syncs')
    .set({ lease_expires_at: sql<string>`now() + make_interval(secs => ${leaseSeconds})` })
    .where('tenant_id', '=', tenantId)
    .where('waba_id', '=', wabaId)
    .where('run_id', '=', runId)
    .returning(transactionTime.as('now'))
    .executeTakeFirst();
  return row?.now;
}

/** Which of the accounts have a run that reads them, or has been killed. */
export async function listRunning(db: Db, tenantId: number, wabaIds: readonly string[]): Promise<string[]> {
  const rows = await db
    .selectFrom('template_syncs')
    .select('waba_id')
    .where('tenant_id', '=', tenantId)
    .where('waba_id', '=', anyOf(wabaIds))
    .where('run_id', 'is not', null)
    .execute();
  return rows.map(row => row.waba_id);
}

export async function finishSync(db: Db, tenantId: number, wabaId: string, runId: string): Promise<void> {
  await db
    .updateTable('template_syncs')
    .set({ run_id: null, lease_expires_at: null, finished_at: eb => eb.fn('now'), failures: 0, error: null })
    .where('tenant_id', '=', tenantId)
    .where('waba_id', '=', wabaId)
    .where('run_id', '=', runId)
    .execute();
}

/**
 * Ends a failed run. The next attempt is after `waitSeconds`; the default is a back-off that doubles from one minute to one hour.
 * Does nothing if another process holds the lane.
 */
export async function failSync(
  db: Db,
  tenantId: number,
  wabaId: string,
  runId: string,
  error: string,
  waitSeconds: number | undefined,
  lane: LaneTurn | undefined,
): Promise<void> {
  await db
    .updateTable('template_syncs')
    .set(eb => ({
      run_id: null,
      lease_expires_at: null,
      failures: eb('failures', '+', 1),
      error,
      due_at: sql<string>`now() + make_interval(secs => coalesce(${waitSeconds ?? null}::float8, least(3600, 60 * 2 ^ least(failures, 10))))`,
    }))
    .where('tenant_id', '=', tenantId)
    .where('waba_id', '=', wabaId)
    .where('run_id', '=', runId)
    .where(holdsLane(lane))
    .execute();
}

/** Due accounts that have an active channel; see `Queue.dueLanes`. */
export const dueSyncLanes = sql<{ tenant_id: number; key: string }>`
  select s.tenant_id, s.tenant_id || ':' || s.waba_id as key from template_syncs s
  where ${NOT_RUNNING} and ${DUE} and exists (
    select from channels c where c.tenant_id = s.tenant_id and c.waba_id = s.waba_id and c.status = 'active')`;

/** The backlog of each lane; see `listLanes`. */
export const syncBacklog: Backlog = tenantId => sql`
  select s.tenant_id, s.tenant_id || ':' || s.waba_id as key, 1::bigint as count, s.due_at as oldest_at from template_syncs s
  where ${inAccount(tenantId, 's.tenant_id')} and s.due_at <= now()`;
