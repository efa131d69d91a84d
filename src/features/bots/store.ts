import type { Db } from '../../database/database.ts';
import { anyOf, transactionTime } from '../../database/expressions.ts';
import { BOT_COLUMNS, type BotRow } from './bot.ts';
import type { BotFields } from './engine/parse.ts';
import type { BotReply } from './reply/reply.ts';

/** Columns that are text or JSON in the table. */
type Narrow = Pick<BotRow, 'kind' | 'trigger' | 'reply' | 'last_refusal'>;

export const getBots = (db: Db, tenantId: number, ids: readonly number[]): Promise<BotRow[]> =>
  db
    .selectFrom('bots')
    .select(BOT_COLUMNS)
    .where('tenant_id', '=', tenantId)
    .where('id', '=', anyOf(ids))
    .$narrowType<Narrow>()
    .execute();

/** The bots of a tenant in the order of evaluation. */
export function botsInOrder(db: Db, tenantId: number, which: 'enabled' | 'all'): Promise<BotRow[]> {
  const bots = db.selectFrom('bots').select(BOT_COLUMNS).where('tenant_id', '=', tenantId);
  return (which === 'enabled' ? bots.where(eb => eb.ref('is_enabled')) : bots)
    .orderBy('priority', 'desc')
    .orderBy('id')
    .$narrowType<Narrow>()
    .execute();
}

/**
 * Counts the tenant's bots, and lists the patterns of all but one of them. Locks the tenant's row, so that no other bot is created
 * until the transaction ends.
 */
export async function countForMore(
  trx: Db,
  tenantId: number,
  exceptId: number | undefined,
): Promise<{ bots: number; patterns: string[] }> {
  await trx.selectFrom('tenants').select('tenant_id').where('tenant_id', '=', tenantId).forNoKeyUpdate().execute();
  const bots = await trx
    .selectFrom('bots')
    .select(['id', 'pattern'])
    .where('tenant_id', '=', tenantId)
    .orderBy('id')
    .execute();
  const patterns = bots.flatMap(({ id, pattern }) => (pattern === null || id === exceptId ? [] : [pattern]));
  return { bots: bots.length, patterns };
}

/** The columns that a caller decides about. */
const valuesOf = (fields: BotFields, kind: BotRow['kind'], reply: BotReply) => ({
  ...fields,
  keywords: [...fields.keywords],
  kind,
  reply: JSON.stringify(reply),
});

export const insertBot = (
  trx: Db,
  tenantId: number,
  fields: BotFields,
  kind: BotRow['kind'],
  reply: BotReply,
): Promise<BotRow> =>
  trx
    .insertInto('bots')
    .values({ tenant_id: tenantId, ...valuesOf(fields, kind, reply) })
    .returning(BOT_COLUMNS)
    .$narrowType<Narrow>()
    .executeTakeFirstOrThrow();

export const lockBot = (trx: Db, tenantId: number, id: number): Promise<BotRow | undefined> =>
  trx
    .selectFrom('bots')
    .select(BOT_COLUMNS)
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .forUpdate()
    .$narrowType<Narrow>()
    .executeTakeFirst();

export const updateBot = (
  trx: Db,
  tenantId: number,
  id: number,
  fields: BotFields,
  kind: BotRow['kind'],
  reply: BotReply,
): Promise<BotRow> =>
  trx
    .updateTable('bots')
    .set({ ...valuesOf(fields, kind, reply), updated_at: transactionTime })
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .returning(BOT_COLUMNS)
    .$narrowType<Narrow>()
    .executeTakeFirstOrThrow();

export const deleteBot = (db: Db, tenantId: number, id: number): Promise<BotRow | undefined> =>
  db
    .deleteFrom('bots')
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .returning(BOT_COLUMNS)
    .$narrowType<Narrow>()
    .executeTakeFirst();
