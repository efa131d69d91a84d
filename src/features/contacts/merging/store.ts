import { sql } from 'kysely';
import { compileOnce } from '../../../database/compile-once.ts';
import type { Db } from '../../../database/database.ts';
import { bigints, transactionTime, unnest } from '../../../database/expressions.ts';
import { CONTACT_COLUMNS, type ContactRow, FIELD_COLUMNS } from '../contact.ts';
import type { FullContact } from './merge.sql.ts';

export interface MergeRow {
  readonly id: number;
  readonly contact_id: number;
  readonly former_id: number;
  readonly snapshot: FullContact | null;
  readonly filled: Readonly<Record<string, unknown>>;
  readonly merged_at: string;
}

export async function insertMerge(
  trx: Db,
  tenantId: number,
  merge: Omit<MergeRow, 'id'> & { readonly reason: 'network' | 'manual'; readonly author: object },
): Promise<number> {
  const { id } = await trx
    .insertInto('contact_merges')
    .values({
      tenant_id: tenantId,
      contact_id: merge.contact_id,
      former_id: merge.former_id,
      reason: merge.reason,
      author: JSON.stringify(merge.author),
      snapshot: JSON.stringify(merge.snapshot),
      filled: JSON.stringify(merge.filled),
      merged_at: merge.merged_at,
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  return id;
}

/** Columns that a merge may fill, and its undo clear. */
export const FILLED_COLUMNS = [...FIELD_COLUMNS, 'phone_key'] as const satisfies readonly (keyof FullContact)[];

export type Filled = Partial<Record<(typeof FILLED_COLUMNS)[number], unknown>>;

/** Sets the given columns, and the opt-out that follows from the entries of consent. */
export const writeMerged = (trx: Db, tenantId: number, id: number, values: Filled): Promise<ContactRow | undefined> =>
  trx
    .updateTable('contacts')
    .set(Object.fromEntries(FILLED_COLUMNS.map(column => [column, values[column]])))
    .set(eb => ({
      opted_out_at: eb
        .selectFrom('consent_entries as e')
        .select(({ case: when, ref }) =>
          when().when('e.state', '=', 'opted_out').then(ref('e.occurred_at')).end().as('at'),
        )
        .where('e.tenant_id', '=', tenantId)
        .where('e.contact_id', '=', id)
        .where('e.category', '=', 'all')
        .orderBy('e.occurred_at', 'desc')
        .orderBy('e.id', 'desc')
        .limit(1),
      updated_at: transactionTime,
    }))
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .returning(CONTACT_COLUMNS)
    .$narrowType<Pick<ContactRow, 'type'>>()
    .executeTakeFirst();

/** Finds the merge that removed a contact, unless it was undone. */
export const findMerge = (db: Db, tenantId: number, formerId: number): Promise<MergeRow | undefined> =>
  db
    .selectFrom('contact_merges')
    .select(['id', 'contact_id', 'former_id', 'snapshot', 'filled', 'merged_at'])
    .$narrowType<Pick<MergeRow, 'snapshot' | 'filled'>>()
    .where('tenant_id', '=', tenantId)
    .where('former_id', '=', formerId)
    .where('undone_at', 'is', null)
    .executeTakeFirst();

export interface ListedMerge {
  readonly former_id: number;
  readonly contact_id: number;
  readonly reason: string;
  readonly merged_at: string;
  readonly can_be_undone: boolean;
}

/** Merges that were not undone, latest first. @param contactId the survivor; null: any */
export async function listMerges(
  db: Db,
  tenantId: number,
  contactId: number | null,
  limit: number,
): Promise<ListedMerge[]> {
  let query = db
    .selectFrom('contact_merges')
    .select(['former_id', 'contact_id', 'reason', 'merged_at'])
    .select(eb => eb('snapshot', 'is not', null).$castTo<boolean>().as('can_be_undone'))
    .where('tenant_id', '=', tenantId)
    .where('undone_at', 'is', null);
  if (contactId !== null) query = query.where('contact_id', '=', contactId);
  return await query.orderBy('id', 'desc').limit(limit).execute();
}

export interface MovedCount {
  /** `conversation`, `consent_entry`, … */
  readonly kind: string;
  readonly count: number;
}

/** How many rows the present merges of these contacts moved, by kind. */
export async function countMoved(db: Db, tenantId: number, formerIds: readonly number[]): Promise<MovedCount[]> {
  const rows = await mergesOf(db, tenantId, formerIds)
    .innerJoinLateral(
      eb =>
        eb
          .selectFrom('contact_merge_rows')
          .select(['relation', 'keys'])
          .where('tenant_id', '=', tenantId)
          .whereRef('merge_id', '=', 'm.id')
          .offset(sql.lit(0))
          .as('r'),
      join => join.onTrue(),
    )
    .select(eb => ['r.relation', eb.fn.sum<number>(eb.fn<number>('cardinality', ['r.keys'])).as('count')])
    .groupBy('r.relation')
    .orderBy('r.relation')
    .execute();
  return rows.map(({ relation, count }) => ({ kind: kindOf(relation), count: Number(count) }));
}

/** `consent_entries` as `consent_entry`. */
export const kindOf = (table: string): string => table.replace(/ies$/, 'y').replace(/s$/, '');

/** Ids of the contacts that were merged into others and not restored, by survivor. */
export async function getFormerIds(
  db: Db,
  tenantId: number,
  contactIds: readonly number[],
): Promise<Map<number, number[]>> {
  const rows = await selectFormerIds(db, tenantId, contactIds);
  const ids = new Map<number, number[]>();
  for (const row of rows) ids.set(row.contact_id, [...(ids.get(row.contact_id) ?? []), row.former_id]);
  return ids;
}

const selectFormerIds = compileOnce((db, tenantId: number, contactIds: readonly number[]) =>
  db
    .selectFrom(unnest('c', { id: bigints(contactIds) }))
    .innerJoinLateral(
      eb =>
        eb
          .selectFrom('contact_merges as m')
          .select(['m.id', 'm.contact_id', 'm.former_id', 'm.undone_at'])
          .where('m.tenant_id', '=', tenantId)
          .whereRef('m.contact_id', '=', 'c.id')
          .offset(sql.lit(0))
          .as('s'),
      join => join.onTrue(),
    )
    .select(['s.contact_id', 's.former_id'])
    // Outside: the index of former ids, which has only these, would be read as a whole.
    .where('s.undone_at', 'is', null)
    .orderBy('s.id'),
);

/** Ids of the contacts that these were merged into, without those that were not merged. */
export async function getSurvivorIds(db: Db, tenantId: number, formerIds: readonly number[]): Promise<number[]> {
  const rows = await selectSurvivorIds(db, tenantId, formerIds);
  return rows.map(row => row.contact_id);
}

/**
 * The present merges of former ids, each read by its key. With `= any`, PostgreSQL 15 read all 100,000 merges of a tenant (25 ms) where its
 * statistics were of an empty table.
 */
const mergesOf = (db: Db, tenantId: number, formerIds: readonly number[]) =>
  db.selectFrom(unnest('f', { id: bigints(formerIds) })).innerJoinLateral(
    eb =>
      eb
        .selectFrom('contact_merges as k')
        .select(['k.id', 'k.contact_id'])
        .where('k.tenant_id', '=', tenantId)
        .whereRef('k.former_id', '=', 'f.id')
        .where('k.undone_at', 'is', null)
        .offset(sql.lit(0))
        .as('m'),
    join => join.onTrue(),
  );

const selectSurvivorIds = compileOnce((db, tenantId: number, formerIds: readonly number[]) =>
  mergesOf(db, tenantId, formerIds).select('m.contact_id'),
);

/** Which unique values of a former contact other contacts have by now. */
export async function findTakenValues(
  trx: Db,
  tenantId: number,
  { phone_key, email }: Pick<FullContact, 'phone_key' | 'email'>,
): Promise<{ readonly phone: boolean; readonly email: boolean }> {
  const contacts = trx.selectFrom('contacts').select('id').where('tenant_id', '=', tenantId).limit(1);
  const phone = await contacts.where('phone_key', '=', phone_key).executeTakeFirst();
  const address = await contacts
    .where(eb => eb(eb.fn<string>('lower', ['email']), '=', eb.fn<string>('lower', [eb.val(email)])))
    .executeTakeFirst();
  return { phone: phone !== undefined, email: address !== undefined };
}

/** Copies opt-outs since the merge to the restored contact, because it is unknown which of the two opted out. */
export async function copyOptOuts(
  trx: Db,
  tenantId: number,
  { survivorId, formerId }: { readonly survivorId: number; readonly formerId: number },
  since: string,
): Promise<void> {
  await trx
    .insertInto('consent_entries')
    .columns(['tenant_id', 'contact_id', 'category', 'state', 'source', 'evidence', 'author', 'occurred_at'])
    .expression(db =>
      db
        .selectFrom('consent_entries')
        .select(eb => ['tenant_id', eb.cast<number>(eb.val(formerId), 'bigint').as('contact_id')])
        .select(['category', 'state', 'source', 'evidence', 'author', 'occurred_at'])
        .where('tenant_id', '=', tenantId)
        .where('contact_id', '=', survivorId)
        .where('created_at', '>=', since)
        .where('state', '=', 'opted_out')
        .orderBy('id'),
    )
    .execute();
}
