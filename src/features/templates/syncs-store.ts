import { sql } from 'kysely';
import type { Db } from '../../platform/database.ts';

declare module '../../platform/database.ts' {
  interface Tables {
    template_syncs: { tenant_id: number; waba_id: string; run_id: string | null };
  }
}

/** A business account, and the channel by whose credentials it is read. */
export interface Account {
  readonly waba_id: string;
  readonly channel_id: number;
}

export interface Source extends Account {
  readonly status: 'active' | 'paused' | 'disconnected';
  readonly status_reason: string | null;
}

/** The account of one channel, of the default channel, or of all channels: each account once, by a channel that is active where there is one. */
export async function listSources(db: Db, tenantId: number, which: number | 'default' | 'all'): Promise<Source[]> {
  const { rows } = await sql<Source>`
    select distinct on (waba_id) waba_id, id as channel_id, status, status_reason from channels
    where tenant_id = ${tenantId} and case when ${which === 'all'} then true when ${which === 'default'} then is_default
      else id = ${typeof which === 'number' ? which : null}::bigint end
    order by waba_id, status <> 'active', id`.execute(db);
  return rows;
}

/** An active channel of an account. */
export async function findSource(db: Db, tenantId: number, wabaId: string): Promise<Account | undefined> {
  const { rows } = await sql<Account>`
    select waba_id, id as channel_id from channels
    where tenant_id = ${tenantId} and waba_id = ${wabaId} and status = 'active' order by id limit 1`.execute(db);
  return rows[0];
}

/** Has accounts read as soon as may be; one that is none of the tenant's is left out. @returns those that will be */
export async function requestSyncs(db: Db, tenantId: number, wabaIds: readonly string[]): Promise<string[]> {
  const { rows } = await sql<{ waba_id: string }>`
    insert into template_syncs as s (tenant_id, waba_id)
    select distinct ${tenantId}::bigint, waba_id from channels where tenant_id = ${tenantId} and waba_id = any(${wabaIds}::text[])
    on conflict (tenant_id, waba_id) do update set due_at = least(s.due_at, now()) where s.tenant_id = excluded.tenant_id
    returning waba_id`.execute(db);
  return rows.map(row => row.waba_id);
}

const FREE = sql`(s.run_id is null or s.lease_expires_at < now())`;
/** Also due is what a process left half done when it died. */
const DUE = sql`(s.due_at <= now() or s.run_id is not null)`;

/**
 * Begins to read an account, unless somebody is reading it.
 *
 * @param nextSeconds when it is due again, so that many seconds from now
 * @param onlyIfDue for the worker: several may have been woken for it
 * @returns when the run began; undefined when it may not begin
 */
export async function beginSync(
  db: Db,
  tenantId: number,
  wabaId: string,
  run: {
    readonly id: string;
    readonly leaseSeconds: number;
    readonly nextSeconds: number;
    readonly onlyIfDue: boolean;
  },
): Promise<string | undefined> {
  const { rows } = await sql<{ started_at: string }>`
    insert into template_syncs as s (tenant_id, waba_id, run_id, lease_expires_at, started_at, due_at)
    values (${tenantId}, ${wabaId}, ${run.id}::uuid, now() + make_interval(secs => ${run.leaseSeconds}), now(), now() + make_interval(secs => ${run.nextSeconds}))
    on conflict (tenant_id, waba_id) do update
    set run_id = excluded.run_id, lease_expires_at = excluded.lease_expires_at, started_at = excluded.started_at, due_at = excluded.due_at
    where s.tenant_id = excluded.tenant_id and ${FREE} and (not ${run.onlyIfDue}::boolean or ${DUE})
    returning s.started_at`.execute(db);
  return rows[0]?.started_at;
}

/** Keeps the account for this run, and its row locked until the transaction ends. @returns false when the run has lost it */
export async function renewSync(
  trx: Db,
  tenantId: number,
  wabaId: string,
  runId: string,
  leaseSeconds: number,
): Promise<boolean> {
  const { rows } = await sql`
    update template_syncs set lease_expires_at = now() + make_interval(secs => ${leaseSeconds})
    where tenant_id = ${tenantId} and waba_id = ${wabaId} and run_id = ${runId}::uuid returning waba_id`.execute(trx);
  return rows.length > 0;
}

export async function finishSync(db: Db, tenantId: number, wabaId: string, runId: string): Promise<void> {
  await sql`
    update template_syncs set run_id = null, lease_expires_at = null, finished_at = now(), failures = 0, error = null
    where tenant_id = ${tenantId} and waba_id = ${wabaId} and run_id = ${runId}::uuid`.execute(db);
}

/** Ends a run that came to nothing. It is tried again after `waitSeconds`, or where nobody says: a minute, two, four, up to an hour. */
export async function failSync(
  db: Db,
  tenantId: number,
  wabaId: string,
  runId: string,
  error: string,
  waitSeconds: number | undefined,
): Promise<void> {
  await sql`
    update template_syncs set run_id = null, lease_expires_at = null, failures = failures + 1, error = ${error},
      due_at = now() + make_interval(secs => coalesce(${waitSeconds ?? null}::float8, least(3600, 60 * 2 ^ least(failures, 10))))
    where tenant_id = ${tenantId} and waba_id = ${wabaId} and run_id = ${runId}::uuid`.execute(db);
}

/** Accounts that are due and that somebody can read: the sweep. */
export async function dueSyncs(db: Db): Promise<{ tenant_id: number; waba_id: string }[]> {
  const { rows } = await sql<{ tenant_id: number; waba_id: string }>`
    /* cross-tenant: the sweep wakes lanes, it reads no template */
    select s.tenant_id, s.waba_id from template_syncs s
    where ${FREE} and ${DUE} and exists (
      select from channels c where c.tenant_id = s.tenant_id and c.waba_id = s.waba_id and c.status = 'active')`.execute(
    db,
  );
  return rows;
}
