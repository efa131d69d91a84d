import { sql } from 'kysely';
import type { Db } from '../../platform/database.ts';
import { SHARDS } from './month.ts';

declare module '../../platform/database.ts' {
  interface Tables {
    monthly_usage: { tenant_id: number; month: string; shard: number; messages: number; conversations: number };
  }
}

export interface ShardRow {
  readonly shard: number;
  readonly messages: number;
  readonly conversations: number;
}

/** The rows that count a month, made where they are not there yet, locked in order until the transaction ends. */
export async function lockMonth(trx: Db, tenantId: number, month: string): Promise<ShardRow[]> {
  const locked = async () => {
    const { rows } = await sql<ShardRow>`
      select shard, messages, conversations from monthly_usage
      where tenant_id = ${tenantId} and month = ${month}::date order by shard for update`.execute(trx);
    return rows;
  };
  const rows = await locked();
  if (rows.length > 0) return rows;
  // Granted nothing: whoever finds them before we share out comes to share out himself.
  await sql`
    insert into monthly_usage (tenant_id, month, shard, messages_granted, conversations_granted)
    select ${tenantId}::bigint, ${month}::date, shard, 0, 0 from generate_series(0, ${SHARDS - 1}::integer) as shard
    on conflict do nothing`.execute(trx);
  return locked();
}

export interface PlanLimits {
  readonly max_messages: number | null;
  readonly max_conversations: number | null;
}

export async function planLimits(db: Db, tenantId: number): Promise<PlanLimits> {
  const { rows } = await sql<PlanLimits>`
    select p.max_messages, p.max_conversations from tenants t join plans p on p.id = t.plan_id where t.tenant_id = ${tenantId}`.execute(
    db,
  );
  return rows[0] ?? { max_messages: 0, max_conversations: 0 };
}

export async function grant(
  trx: Db,
  tenantId: number,
  month: string,
  messages: readonly (number | null)[],
  conversations: readonly (number | null)[],
): Promise<void> {
  await sql`
    update monthly_usage u set messages_granted = g.messages, conversations_granted = g.conversations
    from unnest(${messages}::bigint[], ${conversations}::bigint[]) with ordinality as g (messages, conversations, place)
    where u.tenant_id = ${tenantId} and u.month = ${month}::date and u.shard = g.place - 1`.execute(trx);
}

/**
 * Counts conversations that people began.
 * @param anyway they are never turned away: what was granted is lifted with them where the plan has no more to grant
 * @returns false when the row is not there, or has no room
 */
export async function addConversations(
  trx: Db,
  tenantId: number,
  month: string,
  shard: number,
  count: number,
  anyway: boolean,
): Promise<boolean> {
  const { rows } = await sql`
    update monthly_usage
    set conversations = conversations + ${count}::bigint,
        -- greatest() passes over null, which is unlimited and has to stay so.
        conversations_granted = case when conversations_granted is not null then greatest(conversations_granted, conversations + ${count}::bigint) end
    where tenant_id = ${tenantId} and month = ${month}::date and shard = ${shard}
      and (${anyway} or conversations_granted is null or conversations + ${count}::bigint <= conversations_granted)
    returning shard`.execute(trx);
  return rows.length > 0;
}

/** What a month has counted so far. */
export async function monthUsage(
  db: Db,
  tenantId: number,
  month: string,
): Promise<{ readonly messages: number; readonly conversations: number }> {
  const { rows } = await sql<{ messages: number; conversations: number }>`
    select coalesce(sum(messages), 0)::bigint as messages, coalesce(sum(conversations), 0)::bigint as conversations
    from monthly_usage where tenant_id = ${tenantId} and month = ${month}::date`.execute(db);
  return rows[0] ?? { messages: 0, conversations: 0 };
}
