import type { Db } from '../../../database/database.ts';

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

/** Usage of a month so far. */
export async function monthUsage(
  db: Db,
  tenantId: number,
  month: string,
): Promise<{ readonly messages: number; readonly conversations: number }> {
  const used = await db
    .selectFrom('monthly_usage')
    .select(['messages', 'conversations'])
    .where('tenant_id', '=', tenantId)
    .where('month', '=', month)
    .executeTakeFirst();
  return used ?? { messages: 0, conversations: 0 };
}
