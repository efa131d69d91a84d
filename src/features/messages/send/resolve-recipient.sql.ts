import { sql } from 'kysely';
import { compileOnce } from '../../../database/compile-once.ts';
import type { Db } from '../../../database/database.ts';

/**
 * The person and the channel of a conversation; of one that merges have folded into another, of that one. The lateral join has one
 * plan: a hash join would read all merges of the tenant where statistics are of an empty table.
 */
const readConversation = compileOnce((db, tenantId: number, id: number) => ({
  compile: () =>
    sql<{ contact_id: number; channel_id: number }>`
      with recursive f (id, depth) as (
        select ${id}::bigint, 0
        union all
        select n.kept_id, f.depth + 1 from f cross join lateral (
          select c.kept_id from conversation_merges c where c.tenant_id = ${tenantId} and c.former_id = f.id offset 0) n
      )
      select v.contact_id, v.channel_id from conversations v
      where v.tenant_id = ${tenantId} and v.id = (select f.id from f order by f.depth desc limit 1)`.compile(db),
}));

export const conversationOf = async (
  db: Db,
  tenantId: number,
  id: number,
): Promise<{ readonly contact_id: number; readonly channel_id: number } | undefined> =>
  (await readConversation(db, tenantId, id))[0];
