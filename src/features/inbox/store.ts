import { sql } from 'kysely';
import type { Db } from '../../platform/database.ts';

declare module '../../platform/database.ts' {
  interface Tables {
    inbound_webhooks: { tenant_id: number; digest: Buffer; id: string };
  }
}

/** Stores a webhook as it came, once for each tenant it is for. @returns the tenants for whom it is new */
export async function insertWebhook(
  db: Db,
  tenantIds: readonly number[],
  digest: Uint8Array,
  ids: readonly string[],
  body: Uint8Array,
): Promise<number[]> {
  const { rows } = await sql<{ tenant_id: number }>`
    insert into inbound_webhooks (tenant_id, digest, id, body)
    select t.tenant_id, ${digest}::bytea, t.id, ${body}::bytea from unnest(${tenantIds}::bigint[], ${ids}::uuid[]) as t (tenant_id, id)
    on conflict (tenant_id, digest) do nothing
    returning tenant_id`.execute(db);
  return rows.map(row => row.tenant_id);
}

export interface WaitingWebhook {
  readonly id: string;
  readonly body: Buffer;
  readonly attempts: number;
}

/** Those that nobody has tried yet, or those that failed and may be tried again: later each time, up to 81 s after they came. */
export type Which = 'fresh' | 'failed';

const WHICH = {
  fresh: sql`attempts = 0`,
  failed: sql`attempts > 0 and received_at + make_interval(secs => attempts * attempts) <= now()`,
} as const;

/** The oldest webhooks that wait, at least one and together not much more than `maxBytes`, locked until the transaction ends. */
export async function claimWebhooks(
  trx: Db,
  tenantId: number,
  which: Which,
  limit: number,
  maxBytes: number,
): Promise<WaitingWebhook[]> {
  const { rows } = await sql<WaitingWebhook>`
    select id, body, attempts from inbound_webhooks
    where tenant_id = ${tenantId} and processed_at is null and id = any(array(
      select id from (
        select id, sum(octet_length(body)) over (order by id) - octet_length(body) as bytes_before from (
          select id, body from inbound_webhooks where tenant_id = ${tenantId} and processed_at is null and ${WHICH[which]} order by id limit ${limit}
        ) oldest
      ) measured where bytes_before < ${maxBytes}))
    order by id for update skip locked`.execute(trx);
  return rows;
}

export async function markProcessed(trx: Db, tenantId: number, ids: readonly string[]): Promise<void> {
  await sql`
    update inbound_webhooks set processed_at = now() where tenant_id = ${tenantId} and id = any(${ids}::uuid[])`.execute(
    trx,
  );
}

/** Notes a failure; after `maxAttempts` the webhook is put aside with its error instead of holding up the others. */
export async function markFailed(
  db: Db,
  tenantId: number,
  id: string,
  error: string,
  maxAttempts: number,
): Promise<void> {
  await sql`
    update inbound_webhooks set attempts = attempts + 1, error = ${error}, processed_at = case when attempts + 1 >= ${maxAttempts} then now() end
    where tenant_id = ${tenantId} and id = ${id}`.execute(db);
}

/** Tenants with webhooks that wait: the sweep that finds lost wake-ups. */
export async function waitingTenants(db: Db): Promise<number[]> {
  const { rows } = await sql<{ tenant_id: number }>`
    /* cross-tenant: the sweep wakes lanes, it reads no webhook */
    select distinct tenant_id from inbound_webhooks where processed_at is null`.execute(db);
  return rows.map(row => row.tenant_id);
}

/** Removes webhooks of the network that were worked on, or given up, before an instant, at most `limit`. @returns how many */
export async function deleteOldWebhooks(db: Db, before: string, limit: number): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    /* cross-tenant: what is too old is so for every tenant */
    with old as (
      select tenant_id, digest from inbound_webhooks where received_at < ${before} and processed_at is not null
      order by received_at limit ${limit} for update skip locked
    ), removed as (
      delete from inbound_webhooks w using old o where w.tenant_id = o.tenant_id and w.digest = o.digest returning 1
    )
    select count(*)::int as count from removed`.execute(db);
  return rows[0]?.count ?? 0;
}
