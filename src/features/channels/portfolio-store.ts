import type { Db } from '../../database/database.ts';
import { transactionTime } from '../../database/expressions.ts';
import type { PublicChannel } from './channel.ts';
import { getChannels } from './store.ts';

/** Locks the channels of a business account. */
export const lockAccount = (
  trx: Db,
  tenantId: number,
  wabaId: string,
): Promise<{ readonly id: number; readonly portfolio_id: string | null }[]> =>
  trx
    .selectFrom('channels')
    .select(['id', 'portfolio_id'])
    .where('tenant_id', '=', tenantId)
    .where('waba_id', '=', wabaId)
    .orderBy('id')
    .forNoKeyUpdate()
    .execute();

export async function portfolioExists(db: Db, tenantId: number, portfolioId: string): Promise<boolean> {
  const row = await db
    .selectFrom('channels')
    .select('id')
    .where('tenant_id', '=', tenantId)
    .where('portfolio_id', '=', portfolioId)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

/** @returns the channels that had another portfolio or none */
export async function writePortfolio(
  trx: Db,
  tenantId: number,
  wabaId: string,
  portfolioId: string,
): Promise<PublicChannel[]> {
  const rows = await trx
    .updateTable('channels')
    .set({ portfolio_id: portfolioId, updated_at: transactionTime })
    .where('tenant_id', '=', tenantId)
    .where('waba_id', '=', wabaId)
    .where(eb => eb.or([eb('portfolio_id', 'is', null), eb('portfolio_id', '<>', portfolioId)]))
    .returning('id')
    .execute();
  return getChannels(
    trx,
    tenantId,
    rows.map(row => row.id),
  );
}

/** The portfolio of a business account, if one of its channels has one. */
export async function knownPortfolio(db: Db, tenantId: number, wabaId: string): Promise<string | undefined> {
  const row = await db
    .selectFrom('channels')
    .select('portfolio_id')
    .where('tenant_id', '=', tenantId)
    .where('waba_id', '=', wabaId)
    .where('portfolio_id', 'is not', null)
    .limit(1)
    .executeTakeFirst();
  return row?.portfolio_id ?? undefined;
}
