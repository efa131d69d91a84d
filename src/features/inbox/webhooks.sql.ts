import { sql } from 'kysely';
import type { Db } from '../../database/database.ts';
import { oneByteString } from '../../database/one-piece.ts';
import type { LaneTurn } from '../../lanes/lane.ts';
import { type Backlog, inAccount } from '../../lanes/store/backlog.sql.ts';
import { isHeld } from '../../lanes/store/lanes.sql.ts';

/** The queue of inbound webhooks. One lane per tenant, so that a person's messages keep their order. */
export const INBOX = 'inbox';

/** The ids by which a webhook names channels, and the version of the owners that were found by them. */
export interface WebhookAddress {
  readonly phoneNumberIds: readonly string[];
  /** Ids of business accounts and portfolios. */
  readonly accountIds: readonly string[];
  /** Digest of the owners, by the database's function `webhook_owners_version`. */
  readonly version: string;
  /** Of all owners in the database, when these were found; table `webhook_owners_revision`. */
  readonly revision: string;
}

/** A tenant that a webhook concerns. */
export interface WebhookTenant {
  readonly tenantId: number;
  /** Its channels that the webhook concerns and whose secret signed it. Others must not be changed by it. */
  readonly channelIds: readonly number[];
}

/** A raw webhook, as it arrived. */
export interface NewWebhook {
  readonly tenants: readonly WebhookTenant[];
  readonly address: WebhookAddress;
  readonly digest: Buffer;
  readonly body: Buffer;
}

/** The result of a webhook; `stale` if the owners of its address have changed. */
export type StoredFor = StoredWebhooks | 'stale';

export interface StoredWebhooks {
  /** The tenants for which it is new. */
  readonly tenantIds: readonly number[];
  /** Whether no owner of any address has changed since those of its own were found. */
  readonly isLatest: boolean;
}

/**
 * Stores raw webhooks once for each tenant that they concern, unless the owners of their address have changed since they were found: a
 * number may have moved to another tenant with the same app secret. Their digest, which takes half of the time of a webhook alone, is only
 * compared if owners of any address have changed. The database assigns the ids, so that they follow the order of arrival regardless of the
 * clocks of processes.
 */
export async function insertWebhooks(db: Db, webhooks: readonly NewWebhook[]): Promise<StoredFor[]> {
  const addresses = [...new Set(webhooks.map(({ address }) => address))];
  const groups = addresses.map(({ phoneNumberIds, accountIds, version, revision }, index) => ({
    place: index,
    phone_number_ids: phoneNumberIds,
    account_ids: accountIds,
    version,
    revision,
  }));
  const tenantIds = webhooks.flatMap(webhook => webhook.tenants.map(({ tenantId }) => tenantId));
  // Lists of different lengths do not make an array of arrays; each is cast in its row.
  const channelIds = webhooks.flatMap(webhook => webhook.tenants.map(one => `{${one.channelIds.join()}}`));
  const places = webhooks.flatMap((webhook, index) => webhook.tenants.map(() => index + 1));
  const groupOf = webhooks.flatMap(({ tenants, address }) => tenants.map(() => addresses.indexOf(address)));
  const digests = oneByteString(webhooks.map(({ digest }) => digest));
  const bodies = oneByteString(webhooks.map(({ body }) => body));
  // Lock order: webhooks by tenant and digest, to avoid deadlocks with a process that stores the same ones.
  const { rows } = await sql<{
    tenant_ids: readonly number[];
    stale: readonly number[];
    outdated: readonly number[];
  }>`
    /* cross-tenant: the network names numbers, not tenants; the signature was checked against the secret of each owner */
    with addresses as materialized (
      select g.place, r.revision is not distinct from g.revision as is_latest,
        case when r.revision = g.revision then true
          else webhook_owners_version(g.phone_number_ids, g.account_ids) = g.version end as is_current
      from jsonb_to_recordset(${JSON.stringify(groups)}::jsonb)
        as g (place integer, phone_number_ids text[], account_ids text[], version text, revision uuid)
      left join webhook_owners_revision r on true
    ), stored as (
      insert into inbound_webhooks (tenant_id, digest, id, body, channel_ids)
      select a.tenant_id, a.digest, a.id, a.body, a.channel_ids from (
        select t.tenant_id, t.channel_ids::bigint[] as channel_ids,
          substring(${digests.text}::bytea from w.digest_stop - w.digest_length + 1 for w.digest_length) as digest,
          substring(${bodies.text}::bytea from w.stop - w.length + 1 for w.length) as body,
          message_id_at((extract(epoch from now()) * 1000)::bigint, nextval('message_arrivals')) as id
        from unnest(${tenantIds}::bigint[], ${channelIds}::text[], ${places}::bigint[], ${groupOf}::integer[])
          as t (tenant_id, channel_ids, place, address)
        join unnest(${digests.ends}::integer[], ${digests.lengths}::integer[], ${bodies.ends}::integer[], ${bodies.lengths}::integer[])
          with ordinality as w (digest_stop, digest_length, stop, length, place) on w.place = t.place
        where t.address in (select place from addresses where is_current)
        order by t.place offset 0
      ) a order by a.tenant_id, a.digest
      on conflict (tenant_id, digest) do nothing
      returning tenant_id, id
    ), queued as (
      insert into waiting_webhooks (tenant_id, id) select tenant_id, id from stored
    )
    select array(select distinct tenant_id from stored) as tenant_ids,
      array(select place from addresses where not is_current) as stale,
      array(select place from addresses where not is_latest) as outdated`.execute(db);
  const [{ tenant_ids: fresh, stale, outdated } = { tenant_ids: [], stale: [], outdated: [] }] = rows;
  return webhooks.map(({ tenants, address }) => {
    const place = addresses.indexOf(address);
    if (stale.includes(place)) return 'stale';
    const ids = tenants.map(({ tenantId }) => tenantId);
    return { tenantIds: ids.filter(id => fresh.includes(id)), isLatest: !outdated.includes(place) };
  });
}

/** Queues an earlier change as a webhook, unless it is stored already. @param channelIds null: see `WaitingWebhook` */
export async function requeueWebhook(
  trx: Db,
  tenantId: number,
  channelIds: readonly number[] | null,
  digest: Buffer,
  id: string,
  body: Buffer,
  receivedAt: string,
): Promise<void> {
  await sql`
    with stored as (
      insert into inbound_webhooks (tenant_id, digest, id, body, received_at, channel_ids)
      values (${tenantId}::bigint, ${digest}::bytea, ${id}::uuid, ${body}::bytea, ${receivedAt}::timestamptz, ${channelIds}::bigint[])
      on conflict (tenant_id, digest) do nothing
      returning tenant_id, id, received_at
    )
    insert into waiting_webhooks (tenant_id, id, received_at) select tenant_id, id, received_at from stored`.execute(
    trx,
  );
}

export interface WaitingWebhook {
  readonly id: string;
  readonly body: Buffer;
  /** The channels to which it may be applied; null: those that own their number. */
  readonly channel_ids: readonly number[] | null;
  readonly attempts: number;
  /** Attempts that failed for a reason of its own, and not for a fault of the database. */
  readonly failures: number;
  readonly received_at: string;
  /** The database's clock. */
  readonly now_ms: number;
}

const WAITING_COLUMNS = sql`q.id, w.body, w.channel_ids, q.attempts, q.failures, q.received_at,
  floor(extract(epoch from clock_timestamp()) * 1000)::float8 as now_ms`;

/** Webhooks not attempted yet, in order of arrival; or failed ones due for a retry, the one that waits longest first. */
export type ClaimKind = 'fresh' | 'failed';

const CLAIM_CONDITION = {
  fresh: sql`attempts = 0`,
  failed: sql`attempts > 0 and retry_at <= now()`,
} as const;

const CLAIM_ORDER = { fresh: sql`id`, failed: sql`retry_at, id` } as const;

/** The pause before the next attempt is the square of this in seconds: a minute. Stays below 10, at which processes of the previous version drop a webhook. */
const MAX_BACKOFF_ATTEMPTS = 8;

/** Locks the oldest waiting webhooks: at least one, and little more than `maxBytes` in total. */
export async function claimWebhooks(
  trx: Db,
  tenantId: number,
  kind: ClaimKind,
  limit: number,
  maxBytes: number,
): Promise<WaitingWebhook[]> {
  const { rows } = await sql<WaitingWebhook>`
    select ${WAITING_COLUMNS}
    from waiting_webhooks q
    cross join lateral (
      select w.body, w.channel_ids from inbound_webhooks w where w.tenant_id = q.tenant_id and w.id = q.id offset 0) w
    where q.tenant_id = ${tenantId} and q.id = any(array(
      select id from (
        select o.id, sum(octet_length(w.body)) over (order by o.id) - octet_length(w.body) as bytes_before
        from (
          select tenant_id, id from waiting_webhooks
          where tenant_id = ${tenantId} and ${CLAIM_CONDITION[kind]} order by ${CLAIM_ORDER[kind]} limit ${limit}
        ) o
        cross join lateral (select w.body from inbound_webhooks w where w.tenant_id = o.tenant_id and w.id = o.id offset 0) w
      ) measured where bytes_before < ${maxBytes}))
    order by q.id for update of q skip locked`.execute(trx);
  return rows;
}

/** Removes webhooks from the queue. Index them first (`indexPeople`): erasure finds processed webhooks only by that index. */
export async function removeProcessed(trx: Db, tenantId: number, ids: readonly string[]): Promise<void> {
  await trx
    .deleteFrom('waiting_webhooks')
    .where('tenant_id', '=', tenantId)
    .where('id', '=', eb => eb.fn.any(eb.val(ids)))
    .execute();
}

/** Postpones a webhook that failed, unless another process has taken over the lane. @param failures 1 if the reason is its own, else 0 */
export async function markFailed(db: Db, lane: LaneTurn, id: string, error: string, failures: 0 | 1): Promise<void> {
  await sql`
    with postponed as (
      update waiting_webhooks q set attempts = n.attempts, failures = q.failures + ${failures}::integer,
        retry_at = clock_timestamp() + make_interval(secs => n.attempts * n.attempts)
      from (
        select least(attempts + 1, ${MAX_BACKOFF_ATTEMPTS}::integer) as attempts from waiting_webhooks
        where tenant_id = ${lane.tenantId} and id = ${id}::uuid
      ) n
      where q.tenant_id = ${lane.tenantId} and q.id = ${id}::uuid and ${isHeld(lane)} returning q.id
    )
    update inbound_webhooks set error = ${error}::text
    where tenant_id = ${lane.tenantId} and id in (select id from postponed)`.execute(db);
}

/** Locks a waiting webhook. @returns undefined if it is no longer waiting */
export async function lockWaiting(trx: Db, tenantId: number, id: string): Promise<WaitingWebhook | undefined> {
  const { rows } = await sql<WaitingWebhook>`
    select ${WAITING_COLUMNS}
    from waiting_webhooks q join inbound_webhooks w on w.tenant_id = q.tenant_id and w.id = q.id
    where q.tenant_id = ${tenantId} and q.id = ${id}::uuid for update of q`.execute(trx);
  return rows[0];
}

/** Takes a webhook that is given up from the queue. It is not indexed by person, and is found by its error. */
export async function removeGivenUp(trx: Db, tenantId: number, id: string, error: string): Promise<void> {
  await sql`
    with given_up as (delete from waiting_webhooks where tenant_id = ${tenantId} and id = ${id}::uuid)
    update inbound_webhooks set error = ${error}::text where tenant_id = ${tenantId} and id = ${id}::uuid`.execute(trx);
}

/** Tenants with waiting webhooks, by a loose index scan; see `Queue.dueLanes`. */
export const dueInboxLanes = sql<{ tenant_id: number; key: string }>`
  with recursive waiting as (
    (select tenant_id from waiting_webhooks order by tenant_id limit 1)
    union all
    select (select i.tenant_id from waiting_webhooks i where i.tenant_id > w.tenant_id order by i.tenant_id limit 1)
    from waiting w where w.tenant_id is not null
  )
  select tenant_id, tenant_id::text as key from waiting where tenant_id is not null`;

/** Waiting webhooks of each lane; see `listLanes`. */
export const inboxBacklog: Backlog = tenantId => sql`
  select tenant_id, tenant_id::text as key, count(*) as count, min(received_at) as oldest_at
  from waiting_webhooks where ${inAccount(tenantId)} group by tenant_id`;

/** Deletes processed and given-up webhooks received before an instant, at most `limit`. @returns the number deleted */
export async function deleteOldWebhooks(db: Db, before: string, limit: number): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    /* cross-tenant: one retention period for all tenants */
    with old as (
      select w.tenant_id, w.id from inbound_webhooks w
      where w.received_at < ${before} and not exists (select from waiting_webhooks q where q.tenant_id = w.tenant_id and q.id = w.id)
      order by w.received_at limit ${limit} for update of w skip locked
    ), removed as (
      delete from inbound_webhooks w using old o where w.tenant_id = o.tenant_id and w.id = o.id returning w.tenant_id, w.id
    ), unindexed as (
      delete from inbound_webhook_people p using removed r where p.tenant_id = r.tenant_id and p.webhook_id = r.id
    )
    select count(*)::int as count from removed`.execute(db);
  return rows[0]?.count ?? 0;
}

export interface StoredWebhook {
  readonly id: string;
  readonly digest: Buffer;
  readonly body: Buffer;
  readonly received_at: string;
}

/** Indexes webhooks by the people they name. */
export async function insertPeople(
  trx: Db,
  tenantId: number,
  rows: readonly { readonly webhookId: string; readonly person: number }[],
): Promise<void> {
  await sql`
    insert into inbound_webhook_people (tenant_id, person, webhook_id)
    select ${tenantId}::bigint, r.person, r.webhook_id
    from unnest(${rows.map(row => row.person)}::bigint[], ${rows.map(row => row.webhookId)}::uuid[]) as r (person, webhook_id)
    order by r.person, r.webhook_id
    on conflict do nothing`.execute(trx);
}

/**
 * Webhooks that are indexed under one of these people, and those that may not be indexed: waiting ones, and those with an error, which
 * were given up or succeeded at a retry.
 */
export async function listWebhooksOf(
  db: Db,
  tenantId: number,
  people: readonly number[],
  limit: number,
  after: string,
): Promise<StoredWebhook[]> {
  const { rows } = await sql<StoredWebhook>`
    select w.id, w.digest, w.body, w.received_at from inbound_webhooks w
    where w.tenant_id = ${tenantId} and w.id > ${after}::uuid and w.id = any(array(
      (select p.webhook_id from inbound_webhook_people p
       where p.tenant_id = ${tenantId} and p.person = any(${people}::bigint[]) and p.webhook_id > ${after}::uuid
       order by p.webhook_id limit ${limit})
      union
      (select q.id from waiting_webhooks q
       where q.tenant_id = ${tenantId} and q.id > ${after}::uuid order by q.id limit ${limit})
      union
      (select f.id from inbound_webhooks f
       where f.tenant_id = ${tenantId} and f.error is not null and f.id > ${after}::uuid order by f.id limit ${limit})))
    order by w.id limit ${limit}`.execute(db);
  return rows;
}
