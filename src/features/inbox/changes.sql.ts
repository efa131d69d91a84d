import { sql } from 'kysely';
import type { Db } from '../../database/database.ts';
import { parseStorable } from '../../platform/json.ts';

/** Changes of webhooks that were not applied: unhandled ones of a tenant, and unrouted ones of no tenant. */

export interface NewChange {
  readonly id: string;
  readonly webhook_id: string;
  readonly channel_id: number | null;
  readonly field: string;
  readonly reason: string;
  readonly error: string | null;
  readonly raw: unknown;
  readonly version: string;
  readonly received_at: string;
}

export async function insertChanges(trx: Db, tenantId: number, changes: readonly NewChange[]): Promise<void> {
  await sql`
    insert into network_changes (tenant_id, id, webhook_id, channel_id, field, reason, error, raw, version, received_at)
    select ${tenantId}::bigint, r.id, r.webhook_id, r.channel_id, r.field, r.reason, r.error, coalesce(r.raw, 'null'), r.version, r.received_at
    from jsonb_to_recordset(${JSON.stringify(changes)}::jsonb) as r (id uuid, webhook_id uuid, channel_id bigint, field text, reason text,
      error text, raw jsonb, version text, received_at timestamptz)`.execute(trx);
}

/** An unhandled change, as operators see it. `tenant` is null for unrouted changes. */
export interface ListedChange {
  readonly id: string;
  readonly tenant: string | null;
  readonly field: string;
  readonly reason: string;
  readonly error: string | null;
  readonly version: string;
  readonly received_at: string;
  readonly raw: unknown;
}

export interface ChangeQuery {
  /** Null: unrouted changes only; undefined: all. */
  readonly tenantId: number | null | undefined;
  readonly field: string | undefined;
  readonly limit: number;
}

/** Lists unhandled changes, latest first. */
export async function listUnhandled(db: Db, { tenantId, field, limit }: ChangeQuery): Promise<ListedChange[]> {
  const { rows } = await sql<ListedChange & { raw_text: Buffer | null }>`
    /* cross-tenant: the operator's list of unrouted and unhandled changes */
    select * from (
      (select c.id, t.slug as tenant, c.field, c.reason, c.error, c.version, c.received_at, c.raw, null::bytea as raw_text
       from network_changes c join tenants t on t.tenant_id = c.tenant_id
       where c.handled_at is null and ${tenantId === undefined ? sql`true` : sql`c.tenant_id = ${tenantId}`}
         and (${field ?? null}::text is null or c.field = ${field ?? null})
       order by c.id desc limit ${limit})
      union all
      (select u.id, null, u.field, 'unrouted', null, u.version, u.received_at, null, u.raw
       from unrouted_changes u
       where u.handled_at is null and ${tenantId === undefined || tenantId === null ? sql`true` : sql`false`}
         and (${field ?? null}::text is null or u.field = ${field ?? null})
       order by u.id desc limit ${limit})
    ) c order by id desc limit ${limit}`.execute(db);
  return rows.map(({ raw_text, ...row }) => ({ ...row, raw: raw_text ? readable(raw_text) : row.raw }));
}

/** Parses JSON; other bodies, and those too deep to be printed, are shown as text. */
function readable(raw: Buffer): unknown {
  const text = raw.toString('utf8');
  return parseStorable(text) ?? text;
}

export interface WaitingChange {
  readonly tenant_id: number;
  readonly id: string;
  /** Null if the change concerns several channels. */
  readonly channel_id: number | null;
  readonly field: string;
  readonly raw: unknown;
  readonly received_at: string;
}

/** Unhandled changes after an id, oldest first. @param unreadBy a version of the gateway: leaves out changes that it has read already */
export const listForReprocessing = (
  db: Db,
  tenantId: number | undefined,
  field: string | undefined,
  after: string,
  limit: number,
  unreadBy: string | undefined,
): Promise<WaitingChange[]> =>
  db
    .selectFrom('network_changes')
    .modifyFront(sql`/* cross-tenant: an upgrade reprocesses the changes of all tenants; each row names its tenant */`)
    .select(['tenant_id', 'id', 'channel_id', 'field', 'raw', 'received_at'])
    .where('handled_at', 'is', null)
    .where('id', '>', after)
    .$if(tenantId !== undefined, query => query.where('tenant_id', '=', Number(tenantId)))
    .$if(field !== undefined, query => query.where('field', '=', String(field)))
    .$if(unreadBy !== undefined, query => query.where('version', '<>', String(unreadBy)))
    .orderBy('id')
    .limit(limit)
    .execute();

/** Marks changes as read by a version, and those in `handled` as handled. */
export async function setRead(
  trx: Db,
  tenantId: number,
  ids: readonly string[],
  handled: readonly string[],
  version: string,
): Promise<void> {
  await trx
    .updateTable('network_changes')
    .set(eb => ({
      version,
      handled_at: eb
        .case()
        .when('id', '=', eb.fn.any(eb.val(handled)))
        .then(eb.fn<string>('now'))
        .end(),
    }))
    .where('tenant_id', '=', tenantId)
    .where('id', '=', eb => eb.fn.any(eb.val(ids)))
    .where('handled_at', 'is', null)
    .execute();
}

/** Deletes changes handled before an instant, at most `limit`. @returns the number deleted */
export async function deleteHandled(db: Db, before: string, limit: number): Promise<number> {
  const { numDeletedRows } = await db
    .deleteFrom('network_changes')
    .where(({ eb, refTuple, selectFrom }) =>
      eb(
        refTuple('tenant_id', 'id'),
        'in',
        selectFrom('network_changes')
          .select(['tenant_id', 'id'])
          .where('handled_at', '<', before)
          .limit(limit)
          .$asTuple('tenant_id', 'id'),
      ),
    )
    .modifyEnd(sql`/* cross-tenant: one retention period for all tenants */`)
    .executeTakeFirst();
  return Number(numDeletedRows);
}

/** A change of a number that no tenant has connected. */
export interface NewUnrouted {
  readonly id: string;
  readonly digest: Uint8Array;
  readonly field: string;
  readonly raw: Uint8Array;
}

/** Stores unrouted changes. Repeated deliveries are ignored. */
export async function insertUnrouted(
  db: Db,
  changes: readonly NewUnrouted[],
  secretMac: Uint8Array,
  version: string,
): Promise<void> {
  await sql`
    insert into unrouted_changes (id, digest, secret_mac, field, raw, version)
    select u.id, u.digest, ${secretMac}::bytea, u.field, u.raw, ${version}
    from unnest(${changes.map(({ id }) => id)}::uuid[], ${changes.map(({ digest }) => digest)}::bytea[],
                ${changes.map(({ field }) => field)}::text[], ${changes.map(({ raw }) => raw)}::bytea[]) as u (id, digest, field, raw)
    on conflict (digest) do nothing`.execute(db);
}

export interface UnroutedChange {
  readonly id: string;
  readonly secret_mac: Buffer;
  readonly raw: Buffer;
  readonly received_at: string;
}

/** Unrouted changes after an id, oldest first. */
export const listUnrouted = (db: Db, after: string, limit: number): Promise<UnroutedChange[]> =>
  db
    .selectFrom('unrouted_changes')
    .select(['id', 'secret_mac', 'raw', 'received_at'])
    .where('handled_at', 'is', null)
    .where('id', '>', after)
    .orderBy('id')
    .limit(limit)
    .execute();

export async function setRouted(trx: Db, id: string): Promise<void> {
  await trx
    .updateTable('unrouted_changes')
    .set({ handled_at: eb => eb.fn('now') })
    .where('id', '=', id)
    .execute();
}

/** Deletes changes received before an instant, at most `limit`. @returns the number deleted */
export async function deleteOldUnrouted(db: Db, before: string, limit: number): Promise<number> {
  const { numDeletedRows } = await db
    .deleteFrom('unrouted_changes')
    .where('id', 'in', eb =>
      eb
        .selectFrom('unrouted_changes')
        .select('id')
        .where('received_at', '<', before)
        .orderBy('received_at')
        .limit(limit),
    )
    .executeTakeFirst();
  return Number(numDeletedRows);
}
