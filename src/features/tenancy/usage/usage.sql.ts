import { sql } from 'kysely';
import type { Db } from '../../../database/database.ts';
import { SHARDS } from './month.ts';

/** Creates the counter rows of a month that are missing. */
export async function insertShards(trx: Db, tenantId: number, month: string): Promise<void> {
  await sql`
    insert into monthly_usage (tenant_id, month, shard, messages_granted, conversations_granted)
    select ${tenantId}::bigint, ${month}::date, shard, 0, 0 from generate_series(0, ${SHARDS - 1}::integer) as shard
    on conflict do nothing`.execute(trx);
}

/** Sets what each row may count up to, by shard; null: unlimited. */
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
 * Counts conversations that people started.
 * @param beyondPlan raises the grant with the count if the plan has nothing left, because inbound messages are never rejected
 * @returns false if the row does not exist or its grant is used up
 */
export async function addConversations(
  trx: Db,
  tenantId: number,
  month: string,
  shard: number,
  count: number,
  beyondPlan: boolean,
): Promise<boolean> {
  const { rows } = await sql`
    update monthly_usage
    set conversations = conversations + ${count}::bigint,
        -- greatest() ignores null, which means unlimited and must stay null.
        conversations_granted = case when conversations_granted is not null
          then greatest(conversations_granted, conversations + ${count}::bigint) end
    where tenant_id = ${tenantId} and month = ${month}::date and shard = ${shard}
      and (${beyondPlan} or conversations_granted is null or conversations + ${count}::bigint <= conversations_granted)
    returning shard`.execute(trx);
  return rows.length > 0;
}
