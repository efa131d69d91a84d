import { sql } from 'kysely';
import { compileOnce } from '../../../database/compile-once.ts';
import type { Db } from '../../../database/database.ts';
import { anyOf, bigints, texts, transactionTime, unnest } from '../../../database/expressions.ts';

/** The portfolio of each channel, within which user ids are unique; `waba:<id>` if it is unknown. */
export async function portfoliosOf(
  db: Db,
  tenantId: number,
  channelIds: readonly number[],
): Promise<Map<number, string>> {
  const rows = await selectPortfolios(db, tenantId, channelIds);
  return new Map(rows.map(row => [row.id, row.portfolio_id ?? `waba:${row.waba_id}`]));
}

const selectPortfolios = compileOnce((db, tenantId: number, channelIds: readonly number[]) =>
  db
    .selectFrom('channels')
    .select(['id', 'portfolio_id', 'waba_id'])
    .where('tenant_id', '=', tenantId)
    .where('id', '=', anyOf(channelIds)),
);

/** Savepoint to release locks, so that a larger set can be locked in order (no deadlocks). */
export const beginLocks = (trx: Db): Promise<unknown> => sql`savepoint recognition`.execute(trx);
export const undoLocks = (trx: Db): Promise<unknown> => sql`rollback to savepoint recognition`.execute(trx);

/** The tenant's default source and status. */
export const getDefaults = (
  db: Db,
  tenantId: number,
): Promise<{ readonly source_id: number | null; readonly status_id: number | null }> =>
  db
    .selectFrom('tenants')
    .select(['default_source_id as source_id', 'default_status_id as status_id'])
    .where('tenant_id', '=', tenantId)
    .executeTakeFirstOrThrow();

/** Clears the numbers that contacts lose, so that other contacts can get them. */
export async function clearPhones(
  trx: Db,
  tenantId: number,
  persons: readonly { readonly id: number; readonly phoneKey: string | null }[],
): Promise<void> {
  const ids = persons.map(person => person.id);
  await trx
    .updateTable('contacts as c')
    .from(unnest('r', { id: bigints(ids), phone_key: texts(persons.map(person => person.phoneKey)) }))
    .set({ phone: null, phone_key: null, updated_at: transactionTime })
    .where('c.tenant_id', '=', tenantId)
    .whereRef('c.id', '=', 'r.id')
    .where('c.id', '=', anyOf(ids))
    .where('c.phone_key', 'is not', null)
    .whereRef('c.phone_key', 'is distinct from', 'r.phone_key')
    .execute();
}

/** Moves the user ids of a portfolio to another one, except those that it already has. */
export async function renamePortfolio(trx: Db, tenantId: number, from: string, to: string): Promise<void> {
  await trx
    .deleteFrom('contact_identities as a')
    .where('a.tenant_id', '=', tenantId)
    .where('a.kind', '=', 'user_id')
    .where('a.portfolio', '=', from)
    .where(eb =>
      eb.exists(
        eb
          .selectFrom('contact_identities as b')
          .select('b.id')
          .where('b.tenant_id', '=', tenantId)
          .where('b.kind', '=', 'user_id')
          .whereRef('b.value', '=', 'a.value')
          .where('b.portfolio', '=', to),
      ),
    )
    .execute();
  await trx
    .updateTable('contact_identities')
    .set({ portfolio: to })
    .where('tenant_id', '=', tenantId)
    .where('kind', '=', 'user_id')
    .where('portfolio', '=', from)
    .execute();
}
