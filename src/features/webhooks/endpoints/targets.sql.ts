import { sql } from 'kysely';
import { compileOnce } from '../../../database/compile-once.ts';
import type { Db } from '../../../database/database.ts';
import { bigints, clockTime, crossTenant, unnest } from '../../../database/expressions.ts';
import { type DisabledReason, ENDPOINT_COLUMNS, type EndpointRow } from './endpoint.ts';

const COLUMNS = sql.raw(ENDPOINT_COLUMNS.map(column => `w.${column}`).join(', '));

/** An endpoint with everything needed to deliver to it. */
export interface Target extends EndpointRow {
  readonly tenant_id: number;
  readonly secret: Buffer;
  /** The previous secret while it is valid. */
  readonly previous_secret: Buffer | null;
  /** Since the first failure after the last success; null if the endpoint is healthy. */
  readonly failing_for_ms: number | null;
  readonly headers: Buffer | null;
  readonly tenant_name: string;
  readonly tenant_slug: string;
  readonly tenant_status: 'active' | 'suspended';
}

/** Identifies an endpoint. */
export interface EndpointRef {
  readonly tenantId: number;
  readonly endpointId: number;
}

const selectTargets = compileOnce((db, tenantIds: readonly number[], ids: readonly number[]) =>
  db
    .selectFrom(unnest('p', { tenant_id: bigints(tenantIds), id: bigints(ids) }))
    .innerJoin('webhook_endpoints as w', join =>
      join.onRef('w.tenant_id', '=', 'p.tenant_id').onRef('w.id', '=', 'p.id'),
    )
    .innerJoin('tenants as t', 't.tenant_id', 'p.tenant_id')
    .select(ENDPOINT_COLUMNS.map(column => `w.${column}` as const))
    .select(eb => [
      'w.tenant_id',
      'w.secret',
      'w.headers',
      eb
        .case()
        .when('w.previous_secret_until', '>', clockTime)
        .then(eb.ref('w.previous_secret'))
        .end()
        .as('previous_secret'),
      sql<number | null>`extract(epoch from clock_timestamp() - w.failing_since)::float8 * 1000`.as('failing_for_ms'),
      't.name as tenant_name',
      't.slug as tenant_slug',
      't.status as tenant_status',
    ])
    .$narrowType<Pick<Target, 'format' | 'disabled_reason' | 'tenant_status'>>()
    .modifyEnd(crossTenant('a shard delivers for all tenants, each endpoint by both of its keys')),
);

export const findTargets = (db: Db, endpoints: readonly EndpointRef[]): Promise<Target[]> =>
  selectTargets(
    db,
    endpoints.map(endpoint => endpoint.tenantId),
    endpoints.map(endpoint => endpoint.endpointId),
  );

/** A change of an endpoint's health. */
export interface HealthChange extends EndpointRef {
  readonly isFailing: boolean;
  readonly disable: Exclude<DisabledReason, 'by_hand'> | null;
}

/**
 * Records since when endpoints fail, by the clock of the database, and disables those over the limit. Endpoints disabled by a
 * person meanwhile are left unchanged.
 * @returns the endpoints that this call disabled
 */
export async function changeHealth(
  trx: Db,
  changes: readonly HealthChange[],
): Promise<(EndpointRow & { readonly tenant_id: number })[]> {
  const { rows } = await sql<EndpointRow & { tenant_id: number }>`
    /* cross-tenant: a shard delivers for all tenants, each endpoint by both of its keys */
    update webhook_endpoints w set failing_since = case when h.is_failing then coalesce(w.failing_since, clock_timestamp()) end,
      enabled = h.disable is null, disabled_reason = h.disable, disabled_at = case when h.disable is not null then clock_timestamp() end
    from unnest(${changes.map(change => change.tenantId)}::bigint[], ${changes.map(change => change.endpointId)}::bigint[],
                ${changes.map(change => change.isFailing)}::boolean[], ${changes.map(change => change.disable)}::text[])
      as h (tenant_id, id, is_failing, disable)
    where w.tenant_id = h.tenant_id and w.id = h.id and w.enabled
    returning w.tenant_id, ${COLUMNS}`.execute(trx);
  return rows.filter(row => !row.enabled);
}

/**
 * Moves the start positions of endpoints to those their events get when the log is renumbered. Call it before that, in the same
 * transaction. Events already consumed by the webhooks reader are not read again, so only later positions matter.
 */
export async function renumberListening(trx: Db): Promise<void> {
  await sql`
    /* cross-tenant: places are of the log as a whole */
    update webhook_endpoints w set listens_since = '0', listens_since_seq = 1 + case
      when exists (select from log_readers r where r.name = 'webhooks' and (r.xid, r.seq) >= (w.listens_since, w.listens_since_seq)) then 0
      else (select count(*) from events e where (e.xid, e.seq) < (w.listens_since, w.listens_since_seq)) end`.execute(
    trx,
  );
}
