import { sql } from 'kysely';
import type { Db } from '../../platform/database.ts';
import { raw } from '../../platform/raw-query.ts';
import type { ListStatement } from '../lists/list.ts';
import { type DisabledReason, ENDPOINT_COLUMNS, type EndpointRow, type WebhookFormat } from './endpoint.ts';

declare module '../../platform/database.ts' {
  interface Tables {
    webhook_endpoints: EndpointRow & { tenant_id: number };
  }
}

const COLUMNS = sql.raw(ENDPOINT_COLUMNS.join(', '));
const columnsOf = (alias: string) => sql.raw(ENDPOINT_COLUMNS.map(column => `${alias}.${column}`).join(', '));

/** An endpoint as it is written; what is sealed, sealed. */
export interface EndpointValues {
  readonly url: string;
  readonly events: readonly string[];
  readonly subscription: Buffer;
  readonly format: WebhookFormat;
  readonly description: string | null;
  readonly header_names: readonly string[];
  readonly headers: Buffer | null;
}

/** Until the transaction ends, nobody else makes an endpoint of this tenant: their number is counted. */
export async function lockEndpoints(trx: Db, tenantId: number): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended('webhook_endpoints', ${tenantId}))`.execute(trx);
}

export async function countEndpoints(db: Db, tenantId: number): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from webhook_endpoints where tenant_id = ${tenantId}`.execute(db);
  return rows[0]?.count ?? 0;
}

/** @returns undefined when there is one with the same address and events */
export async function insertEndpoint(
  trx: Db,
  tenantId: number,
  values: EndpointValues,
  secret: Buffer,
  enabled: boolean,
  nowIso: string,
): Promise<EndpointRow | undefined> {
  const { rows } = await sql<EndpointRow>`
    insert into webhook_endpoints
      (tenant_id, url, events, subscription, format, description, header_names, headers, secret, enabled, disabled_reason, disabled_at,
       created_at, updated_at)
    values (${tenantId}, ${values.url}, ${values.events}::text[], ${values.subscription}, ${values.format}, ${values.description},
      ${values.header_names}::text[], ${values.headers}, ${secret}, ${enabled}, ${enabled ? null : 'by_hand'},
      ${enabled ? null : nowIso}::timestamptz, ${nowIso}::timestamptz, ${nowIso}::timestamptz)
    on conflict (tenant_id, subscription) do nothing
    returning ${COLUMNS}`.execute(trx);
  return rows[0];
}

/** The endpoint with this address and these events, its row locked. */
export async function lockSubscription(
  trx: Db,
  tenantId: number,
  subscription: Buffer,
): Promise<EndpointRow | undefined> {
  const { rows } = await sql<EndpointRow>`
    select ${COLUMNS} from webhook_endpoints where tenant_id = ${tenantId} and subscription = ${subscription} for update`.execute(
    trx,
  );
  return rows[0];
}

export async function lockEndpoint(trx: Db, tenantId: number, id: number): Promise<EndpointRow | undefined> {
  const { rows } = await sql<EndpointRow>`
    select ${COLUMNS} from webhook_endpoints where tenant_id = ${tenantId} and id = ${id} for update`.execute(trx);
  return rows[0];
}

/** Changes what is given. Enabling forgets why it was disabled, and that it was failing. */
export async function updateEndpoint(
  trx: Db,
  tenantId: number,
  id: number,
  values: Partial<EndpointValues> & { readonly enabled?: boolean | undefined },
  nowIso: string,
): Promise<EndpointRow | undefined> {
  const enabled = values.enabled ?? null;
  const { rows } = await sql<EndpointRow>`
    update webhook_endpoints set
      url = coalesce(${values.url ?? null}, url),
      events = coalesce(${values.events ?? null}::text[], events),
      subscription = coalesce(${values.subscription ?? null}::bytea, subscription),
      format = coalesce(${values.format ?? null}, format),
      description = case when ${values.description !== undefined} then ${values.description ?? null} else description end,
      header_names = coalesce(${values.header_names ?? null}::text[], header_names),
      headers = case when ${values.headers !== undefined} then ${values.headers ?? null}::bytea else headers end,
      disabled_reason = case when ${enabled}::boolean then null when not ${enabled}::boolean then coalesce(disabled_reason, 'by_hand')
                             else disabled_reason end,
      disabled_at = case when ${enabled}::boolean then null when not ${enabled}::boolean then coalesce(disabled_at, ${nowIso}::timestamptz)
                         else disabled_at end,
      failing_since = case when ${enabled}::boolean and not enabled then null else failing_since end,
      listens_since = case when ${enabled}::boolean and not enabled then pg_snapshot_xmin(pg_current_snapshot()) else listens_since end,
      enabled = coalesce(${enabled}::boolean, enabled),
      updated_at = ${nowIso}::timestamptz
    where tenant_id = ${tenantId} and id = ${id}
    returning ${COLUMNS}`.execute(trx);
  return rows[0];
}

/** Gives an endpoint a new secret; the old one lives on until `untilIso`. One that was still living before it ends now. */
export async function replaceSecret(
  trx: Db,
  tenantId: number,
  id: number,
  secret: Buffer,
  untilIso: string | null,
  nowIso: string,
): Promise<EndpointRow | undefined> {
  const { rows } = await sql<EndpointRow>`
    update webhook_endpoints set previous_secret = case when ${untilIso}::timestamptz is not null then secret end,
      previous_secret_until = ${untilIso}::timestamptz, secret = ${secret}, updated_at = ${nowIso}::timestamptz
    where tenant_id = ${tenantId} and id = ${id}
    returning ${COLUMNS}`.execute(trx);
  return rows[0];
}

export async function deleteEndpoint(trx: Db, tenantId: number, id: number): Promise<EndpointRow | undefined> {
  const { rows } = await sql<EndpointRow>`
    delete from webhook_endpoints where tenant_id = ${tenantId} and id = ${id} returning ${COLUMNS}`.execute(trx);
  return rows[0];
}

export async function getEndpoints(db: Db, tenantId: number, ids: readonly number[]): Promise<EndpointRow[]> {
  const { rows } = await sql<EndpointRow>`
    select ${COLUMNS} from webhook_endpoints where tenant_id = ${tenantId} and id = any(${ids}::bigint[])`.execute(db);
  return rows;
}

export async function listEndpoints(db: Db, statement: ListStatement): Promise<EndpointRow[]> {
  const select = [...ENDPOINT_COLUMNS.map(column => `w.${column}`), ...statement.keys].join(', ');
  const { rows } = await db.executeQuery(raw<EndpointRow>(`select ${select} ${statement.tail}`, statement.values));
  return rows;
}

/** An endpoint with all that is needed to deliver to it. */
export interface Target extends EndpointRow {
  readonly tenant_id: number;
  readonly secret: Buffer;
  readonly previous_secret: Buffer | null;
  readonly headers: Buffer | null;
  readonly tenant_name: string;
  readonly tenant_slug: string;
  readonly tenant_status: 'active' | 'suspended';
}

export interface EndpointPlace {
  readonly tenantId: number;
  readonly endpointId: number;
}

export async function findTargets(db: Db, places: readonly EndpointPlace[]): Promise<Target[]> {
  const { rows } = await sql<Target>`
    /* cross-tenant: a shard delivers for all tenants, each endpoint by both of its keys */
    select w.tenant_id, ${columnsOf('w')}, w.secret, w.previous_secret, w.headers, t.name as tenant_name, t.slug as tenant_slug,
      t.status as tenant_status
    from unnest(${places.map(place => place.tenantId)}::bigint[], ${places.map(place => place.endpointId)}::bigint[]) as p (tenant_id, id)
    join webhook_endpoints w on w.tenant_id = p.tenant_id and w.id = p.id
    join tenants t on t.tenant_id = p.tenant_id`.execute(db);
  return rows;
}

/** An endpoint whose health is another one than before. */
export interface HealthChange extends EndpointPlace {
  /** ISO 8601; null: it works. */
  readonly failingSince: string | null;
  readonly disable: Exclude<DisabledReason, 'by_hand'> | null;
}

/**
 * Notes since when endpoints fail, and disables those that are to be. What a person has disabled meanwhile stays as it is.
 * @returns those that are disabled by this
 */
export async function changeHealth(
  trx: Db,
  changes: readonly HealthChange[],
  nowIso: string,
): Promise<(EndpointRow & { readonly tenant_id: number })[]> {
  const { rows } = await sql<EndpointRow & { tenant_id: number }>`
    /* cross-tenant: a shard delivers for all tenants, each endpoint by both of its keys */
    update webhook_endpoints w set failing_since = h.failing_since, enabled = h.disable is null, disabled_reason = h.disable,
      disabled_at = case when h.disable is not null then ${nowIso}::timestamptz end
    from unnest(${changes.map(change => change.tenantId)}::bigint[], ${changes.map(change => change.endpointId)}::bigint[],
                ${changes.map(change => change.failingSince)}::timestamptz[], ${changes.map(change => change.disable)}::text[])
      as h (tenant_id, id, failing_since, disable)
    where w.tenant_id = h.tenant_id and w.id = h.id and w.enabled
    returning w.tenant_id, ${columnsOf('w')}`.execute(trx);
  return rows.filter(row => !row.enabled);
}
