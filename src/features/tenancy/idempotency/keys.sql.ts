import { sql } from 'kysely';
import type { Db } from '../../../database/database.ts';
import { anyOf } from '../../../database/expressions.ts';
import { escapeLike } from '../../../database/list-sql.ts';

/** Blanks the keys of requests about contacts. @returns the number of keys by contact */
export async function blankKeysOf(
  trx: Db,
  tenantId: number,
  contactIds: readonly number[],
): Promise<Map<number, number>> {
  const { rows } = await sql<{ contact_id: number; count: number }>`
    with blanked as (
      update idempotency_keys set fingerprint = ''::bytea, result = null, answer = null
      where tenant_id = ${tenantId} and contact_id = any(${contactIds}::bigint[]) and fingerprint <> ''::bytea
      returning contact_id
    )
    select contact_id, count(*)::int as count from blanked group by contact_id`.execute(trx);
  return new Map(rows.map(row => [row.contact_id, row.count]));
}

/** A key whose result or answer contains numbers. */
export interface KeyNaming {
  readonly key: string;
  readonly created_ms: number;
  /** The searched texts that it contains. */
  readonly texts: readonly string[];
}

/**
 * Locks the keys on a page that contain one of the texts, among requests about several contacts or none. Pages are in the order of
 * the keys.
 */
export async function lockKeysNaming(
  trx: Db,
  tenantId: number,
  texts: readonly string[],
  limit: number,
  after: string,
): Promise<{ readonly keys: readonly KeyNaming[]; readonly after: string | null }> {
  const { rows } = await sql<{ keys: readonly KeyNaming[]; after: string | null }>`
    with page as materialized (
      select key from idempotency_keys where tenant_id = ${tenantId} and contact_id is null and key > ${after}
      order by key limit ${limit}
    ), named as materialized (
      select k.key, extract(epoch from k.created_at)::float8 * 1000 as created_ms, k.result::text || coalesce(k.answer::text, '') as stored
      from page p join idempotency_keys k on k.tenant_id = ${tenantId} and k.key = p.key
      where k.contact_id is null and k.fingerprint <> ''::bytea
        and (k.result::text like any(${patternsOf(texts)}::text[]) or k.answer::text like any(${patternsOf(texts)}::text[]))
      order by k.key for update of k
    )
    select (
      select coalesce(json_agg(json_build_object('key', n.key, 'created_ms', n.created_ms,
        'texts', array(select t from unnest(${texts}::text[]) t where strpos(n.stored, t) > 0))), '[]') from named n
    ) as keys, (select case when count(*) = ${limit} then max(key) end from page) as after`.execute(trx);
  return rows[0] ?? { keys: [], after: null };
}

export async function blankKeys(trx: Db, tenantId: number, keys: readonly string[]): Promise<void> {
  await trx
    .updateTable('idempotency_keys')
    .set({ fingerprint: Buffer.alloc(0), result: null, answer: null })
    .where('tenant_id', '=', tenantId)
    .where('key', '=', anyOf(keys))
    .execute();
}

const patternsOf = (texts: readonly string[]): string[] => texts.map(text => `%${escapeLike(text)}%`);

export interface BlankedPage {
  readonly count: number;
  /** The last key of the page; null: there are no more pages. */
  readonly after: string | null;
}

/**
 * Blanks the keys on a page that contain personal data of the given people, among requests about several contacts or none (batches,
 * one-time passwords, webhooks). Pages are in the order of the keys.
 * @param ids ids of contacts and one-time passwords in results
 * @param texts searched for in results and answers
 */
export async function blankKeysHolding(
  trx: Db,
  tenantId: number,
  { ids, texts }: { readonly ids: readonly string[]; readonly texts: readonly string[] },
  limit: number,
  after: string,
): Promise<BlankedPage> {
  const patterns = patternsOf(texts);
  const { rows } = await sql<BlankedPage>`
    with page as materialized (
      select key from idempotency_keys where tenant_id = ${tenantId} and contact_id is null and key > ${after}
      order by key limit ${limit}
    ), blanked as (
      update idempotency_keys k set fingerprint = ''::bytea, result = null, answer = null
      from page p
      where k.tenant_id = ${tenantId} and k.key = p.key and k.contact_id is null and k.fingerprint <> ''::bytea and (
        k.result ->> 'id' = any(${ids}::text[])
        or exists (select from jsonb_path_query(k.result, 'lax $.created[*].id') as made where made #>> '{}' = any(${ids}::text[]))
        or k.result::text ilike any(${patterns}::text[]) or k.answer::text ilike any(${patterns}::text[]))
      returning k.key
    )
    select (select count(*)::int from blanked) as count, case when count(*) = ${limit} then max(key) end as after from page`.execute(
    trx,
  );
  return rows[0] as BlankedPage;
}
