import { sql } from 'kysely';
import type { Db } from '../../database/database.ts';

/** Locks webhooks, by id. */
export const lockBodies = (
  trx: Db,
  tenantId: number,
  ids: readonly string[],
): Promise<{ readonly id: string; readonly body: Buffer }[]> =>
  trx
    .selectFrom('inbound_webhooks')
    .select(['id', 'body'])
    .where('tenant_id', '=', tenantId)
    .where('id', '=', eb => eb.fn.any(eb.val(ids)))
    .orderBy('id')
    .forUpdate()
    .execute();

export interface RewrittenWebhook {
  readonly id: string;
  readonly body: Uint8Array;
  /** Keys of people no longer named in the body. */
  readonly people: readonly number[];
}

/** Replaces bodies, removes the index entries of erased people, and replaces errors, which may quote personal data. */
export async function rewriteWebhooks(trx: Db, tenantId: number, webhooks: readonly RewrittenWebhook[]): Promise<void> {
  const ids = webhooks.map(webhook => webhook.id);
  const removed = webhooks.flatMap(({ id, people }) => people.map(person => ({ id, person })));
  await sql`
    with unindexed as (
      delete from inbound_webhook_people p
      using unnest(${removed.map(({ person }) => person)}::bigint[], ${removed.map(({ id }) => id)}::uuid[]) as l (person, webhook_id)
      where p.tenant_id = ${tenantId} and p.person = l.person and p.webhook_id = l.webhook_id
    )
    update inbound_webhooks w set body = b.body, error = case when w.error is not null then 'removed with a person' end
    from unnest(${ids}::uuid[], ${webhooks.map(webhook => webhook.body)}::bytea[]) as b (id, body)
    where w.tenant_id = ${tenantId} and w.id = b.id and w.id = any(${ids}::uuid[])`.execute(trx);
}

export interface ChangeBody {
  readonly id: string;
  readonly raw: unknown;
}

/** Locks unhandled changes, by id. They outlive their webhooks and are not indexed by person, so all are read. */
export const lockChanges = (trx: Db, tenantId: number, limit: number, after: string): Promise<ChangeBody[]> =>
  trx
    .selectFrom('network_changes')
    .select(['id', 'raw'])
    .where('tenant_id', '=', tenantId)
    .where('id', '>', after)
    .orderBy('id')
    .limit(limit)
    .forUpdate()
    .execute();

export async function rewriteChanges(trx: Db, tenantId: number, changes: readonly ChangeBody[]): Promise<void> {
  const ids = changes.map(change => change.id);
  await sql`
    update network_changes c set raw = b.raw, error = null
    from unnest(${ids}::uuid[], ${changes.map(change => JSON.stringify(change.raw))}::jsonb[]) as b (id, raw)
    where c.tenant_id = ${tenantId} and c.id = b.id and c.id = any(${ids}::uuid[])`.execute(trx);
}

export interface UnroutedBody {
  readonly id: string;
  readonly raw: Buffer;
}

/** Locks changes of numbers that no tenant has connected, by id. They are not indexed by person, so all are read. */
export const lockUnrouted = (trx: Db, limit: number, after: string): Promise<UnroutedBody[]> =>
  trx
    .selectFrom('unrouted_changes')
    .select(['id', 'raw'])
    .where('id', '>', after)
    .orderBy('id')
    .limit(limit)
    .forUpdate()
    .execute();

export async function rewriteUnrouted(trx: Db, changes: readonly UnroutedBody[]): Promise<void> {
  await sql`
    update unrouted_changes u set raw = b.raw
    from unnest(${changes.map(change => change.id)}::uuid[], ${changes.map(change => change.raw)}::bytea[]) as b (id, raw)
    where u.id = b.id`.execute(trx);
}
