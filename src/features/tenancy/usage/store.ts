import type { Db } from '../../../database/database.ts';
import { insertShards } from './usage.sql.ts';

export interface ShardRow {
  readonly shard: number;
  readonly messages: number;
  readonly conversations: number;
}

/** Locks the counter rows of a month in order, creating missing ones. */
export async function lockMonth(trx: Db, tenantId: number, month: string): Promise<ShardRow[]> {
  const locked = (): Promise<ShardRow[]> =>
    trx
      .selectFrom('monthly_usage')
      .select(['shard', 'messages', 'conversations'])
      .where('tenant_id', '=', tenantId)
      .where('month', '=', month)
      .orderBy('shard')
      .forUpdate()
      .execute();
  const rows = await locked();
  if (rows.length > 0) return rows;
  // Without a grant, so that a concurrent sender that finds them shares out first.
  await insertShards(trx, tenantId, month);
  return locked();
}

export interface PlanLimits {
  readonly max_messages: number | null;
  readonly max_conversations: number | null;
}

export async function planLimits(db: Db, tenantId: number): Promise<PlanLimits> {
  const limits = await db
    .selectFrom('tenants as t')
    .innerJoin('plans as p', 'p.id', 't.plan_id')
    .select(['p.max_messages', 'p.max_conversations'])
    .where('t.tenant_id', '=', tenantId)
    .executeTakeFirst();
  return limits ?? { max_messages: 0, max_conversations: 0 };
}

/** What a month has used so far. */
export const monthUsage = (
  db: Db,
  tenantId: number,
  month: string,
): Promise<{ readonly messages: number; readonly conversations: number }> =>
  db
    .selectFrom('monthly_usage')
    .select(eb => [
      eb.cast<number>(eb.fn.coalesce(eb.fn.sum('messages'), eb.lit(0)), 'bigint').as('messages'),
      eb.cast<number>(eb.fn.coalesce(eb.fn.sum('conversations'), eb.lit(0)), 'bigint').as('conversations'),
    ])
    .where('tenant_id', '=', tenantId)
    .where('month', '=', month)
    .executeTakeFirstOrThrow();
