import { sql } from 'kysely';
import type { Db } from '../../../database/database.ts';
import { anyByKey } from '../../../database/expressions.ts';
import { ALL_COLUMNS } from '../columns.ts';
import type { ContactRow } from '../contact.ts';
import { lockContactRows } from '../store.ts';
import type { ErasedKind, RetainedKind } from './receipt.ts';
import type { Holder } from './shared-number.ts';

/** A contact with its present and former identifiers. */
export interface IdentifiedContact extends ContactRow {
  /** In E.164 or as the network's digits, without former ones that belong to another contact now. */
  readonly numbers: readonly string[];
  readonly user_ids: readonly string[];
  readonly usernames: readonly string[];
  /** Including those of contacts that were merged into it. */
  readonly emails: readonly string[];
  /** Ids of contacts that were merged into it. */
  readonly former_ids: readonly number[];
}

/** Locks contacts with their identifiers, so that nothing writes to them, merges or changes them until the transaction ends. */
export async function lockIdentified(trx: Db, tenantId: number, ids: readonly number[]): Promise<IdentifiedContact[]> {
  await lockContactRows(trx, tenantId, ids);
  return getIdentified(trx, tenantId, ids);
}

/**
 * Identities and merges are read by contact behind offset 0: without statistics, the indexes of user ids and of former ids, which have
 * only these, are read as a whole for each contact.
 */
export async function getIdentified(db: Db, tenantId: number, ids: readonly number[]): Promise<IdentifiedContact[]> {
  const identities = sql`(
            select i.kind, i.value, i.wa_id, i.ended_at from contact_identities i
            where i.tenant_id = ${tenantId} and i.contact_id = c.id offset 0) i`;
  const merges = sql`(
          select m.former_id, m.snapshot, m.undone_at from contact_merges m
          where m.tenant_id = ${tenantId} and m.contact_id = c.id offset 0) m`;
  const { rows } = await sql<IdentifiedContact>`
    select ${sql.raw(ALL_COLUMNS)},
      array(
        select distinct n.value from (
          select c.phone as value
          union all select i.value from ${identities}
            where i.kind in ('phone', 'wa_id')
              and (i.ended_at is null or not exists (select from contact_identities o
              where o.tenant_id = ${tenantId} and o.value = any(array[ltrim(i.value, '+'), '+' || ltrim(i.value, '+')])
                and o.kind in ('phone', 'wa_id') and o.ended_at is null and o.contact_id <> c.id))
          union all select i.wa_id from ${identities}
            where i.kind = 'user_id' and not exists (
              select from contact_identities o
              where o.tenant_id = ${tenantId} and o.value = any(array[i.wa_id, '+' || i.wa_id])
                and o.kind in ('phone', 'wa_id') and o.ended_at is null and o.contact_id <> c.id)
        ) n where n.value is not null order by 1) as numbers,
      array(
        select distinct i.value from ${identities} where i.kind = 'user_id') as user_ids,
      array(
        select i.value from ${identities} where i.kind = 'username') as usernames,
      array(
        select c.email where c.email is not null
        union select m.snapshot ->> 'email' from ${merges} where m.snapshot ->> 'email' is not null) as emails,
      array(
        select m.former_id::float8 from ${merges} where m.undone_at is null) as former_ids
    from contacts c where c.tenant_id = ${tenantId} and c.id = ${anyByKey(ids)} order by c.id`.execute(db);
  return rows;
}

/** Lists present and former holders of the numbers that the contacts have or had. The query plan does not depend on statistics. */
export async function listHolders(db: Db, tenantId: number, contactIds: readonly number[]): Promise<Holder[]> {
  const { rows } = await sql<Holder>`
    with numbers as materialized (
      select distinct ltrim(i.value, '+') as number from unnest(${contactIds}::bigint[]) as c (id)
      cross join lateral (
        select i.value, i.kind from contact_identities i where i.tenant_id = ${tenantId} and i.contact_id = c.id offset 0) i
      where i.kind in ('phone', 'wa_id')
    )
    select n.number, i.contact_id, i.kind, extract(epoch from i.started_at)::float8 * 1000 as from_ms,
      extract(epoch from i.ended_at)::float8 * 1000 as until_ms
    from numbers n
    cross join lateral (
      select i.contact_id, i.kind, i.started_at, i.ended_at from contact_identities i
      where i.tenant_id = ${tenantId} and i.value = any(array[n.number, '+' || n.number]) and i.kind in ('phone', 'wa_id') offset 0) i`.execute(
    db,
  );
  return rows;
}

/** Takes the lock on a tenant's erasures until the transaction ends. */
export async function lockErasures(trx: Db, tenantId: number, mode: 'shared' | 'exclusive'): Promise<void> {
  const lock = sql.raw(mode === 'shared' ? 'pg_advisory_xact_lock_shared' : 'pg_advisory_xact_lock');
  await sql`select ${lock}(hashtextextended('parley erasures of ' || ${tenantId}::text, 0))`.execute(trx);
}

/** Adds to the counts of incomplete receipts. */
export async function addCounts(
  trx: Db,
  tenantId: number,
  counts: readonly {
    readonly id: string;
    readonly list: 'erased' | 'retained';
    readonly kind: ErasedKind | RetainedKind;
    readonly count: number;
  }[],
): Promise<void> {
  for (const list of ['erased', 'retained'] as const) {
    const added = counts.filter(one => one.list === list && one.count > 0);
    if (added.length === 0) continue;
    await sql`
      update erasure_receipts r set ${sql.ref(list)} = (
        select jsonb_object_agg(kind, count) from (
          select kind, sum(count) as count from (
            select key as kind, value::bigint as count from jsonb_each_text(r.${sql.ref(list)})
            union all
            select c.kind, c.count from unnest(${added.map(one => one.id)}::uuid[], ${added.map(one => one.kind)}::text[],
              ${added.map(one => one.count)}::bigint[]) as c (id, kind, count) where c.id = r.id
          ) as both_counts group by kind
        ) as sums)
      where r.tenant_id = ${tenantId} and r.id = any(${[...new Set(added.map(one => one.id))]}::uuid[])
        and r.completed_at is null`.execute(trx);
  }
}

export interface ErasedIdentity {
  readonly digest: Buffer;
  readonly erased_at: string;
  /** Consent categories. */
  readonly opted_out: readonly string[];
}

/**
 * Stores digests of erased people: those with an opt-out for ever, others until `expiresAt`.
 * @param identities each digest once: PostgreSQL refuses a statement that would update a row twice
 */
export async function storeDigests(
  trx: Db,
  tenantId: number,
  identities: readonly ErasedIdentity[],
  expiresAt: string,
): Promise<void> {
  await sql`
    insert into erased_identities as i (tenant_id, digest, erased_at, opted_out, expires_at)
    select ${tenantId}::bigint, r.digest, r.erased_at, array(select jsonb_array_elements_text(r.opted_out)),
      case when r.opted_out = '[]' then ${expiresAt}::timestamptz end
    from unnest(${identities.map(one => one.digest)}::bytea[], ${identities.map(one => one.erased_at)}::timestamptz[],
                ${identities.map(one => JSON.stringify(one.opted_out))}::jsonb[]) as r (digest, erased_at, opted_out)
    order by r.digest
    on conflict (tenant_id, digest) do update
      set erased_at = excluded.erased_at, opted_out = excluded.opted_out, expires_at = excluded.expires_at
      where i.tenant_id = excluded.tenant_id`.execute(trx);
}
