import { sql } from 'kysely';
import type { Db } from '../../../database/database.ts';

/**
 * Counts conversations that people started in a month, also beyond the plan, because inbound messages are never rejected. Lock order:
 * after everything else, because all sends of a tenant wait for this row.
 */
export async function addConversations(trx: Db, tenantId: number, month: string, count: number): Promise<void> {
  await sql`
    insert into monthly_usage as u (tenant_id, month, conversations, messages_granted, conversations_granted)
    select ${tenantId}::bigint, ${month}::date, ${count}::bigint, p.max_messages,
      case when p.max_conversations is not null then greatest(p.max_conversations, ${count}::bigint) end
    from tenants t join plans p on p.id = t.plan_id where t.tenant_id = ${tenantId}
    on conflict (tenant_id, month) do update set conversations = u.conversations + excluded.conversations,
      conversations_granted = case when excluded.conversations_granted is not null
        then greatest(excluded.conversations_granted, u.conversations + excluded.conversations) end
      where u.tenant_id = excluded.tenant_id`.execute(trx);
}

/** Reduces the month's count by conversations that were counted twice. Lock order: as of `addConversations`. */
export async function removeConversations(trx: Db, tenantId: number, month: string, count: number): Promise<void> {
  await sql`
    update monthly_usage set conversations = conversations - ${count}
    where tenant_id = ${tenantId} and month = ${month}::date and conversations >= ${count}`.execute(trx);
}

/** Counts sends, at most what the plan allows. @throws a check violation of messages_within_plan or conversations_within_plan */
export async function addSends(
  trx: Db,
  tenantId: number,
  month: string,
  messages: number,
  conversations: number,
): Promise<void> {
  await sql`
    insert into monthly_usage as u (tenant_id, month, messages, conversations, messages_granted, conversations_granted)
    select ${tenantId}::bigint, ${month}::date, ${messages}::bigint, ${conversations}::bigint, p.max_messages, p.max_conversations
    from tenants t join plans p on p.id = t.plan_id where t.tenant_id = ${tenantId}
    on conflict (tenant_id, month) do update set messages = u.messages + excluded.messages, conversations = u.conversations + excluded.conversations,
      messages_granted = case when excluded.messages > 0 or excluded.messages_granted is null then excluded.messages_granted
        else greatest(excluded.messages_granted, u.messages) end,
      conversations_granted = case when excluded.conversations > 0 or excluded.conversations_granted is null then excluded.conversations_granted
        else greatest(excluded.conversations_granted, u.conversations) end
      where u.tenant_id = excluded.tenant_id`.execute(trx);
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
