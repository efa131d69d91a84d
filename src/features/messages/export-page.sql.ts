import { NIL_UUID } from '../../core/ids.ts';
import type { Filter } from '../../core/list-args.ts';
import type { Db } from '../../database/database.ts';
import { raw } from '../../database/statements.ts';
import { messagesWhere } from './list.ts';

/**
 * The messages that meet a filter, among the next `limit` after an id: a statement examines as many as that, however few meet the
 * filter.
 * @returns their ids, and the last id that was examined; null at the end
 */
export async function examineMessages(
  db: Db,
  tenantId: number,
  filter: Filter,
  after: string | null,
  limit: number,
): Promise<{ readonly ids: readonly string[]; readonly last: string | null }> {
  const { text, values } = messagesWhere(tenantId, filter);
  const [from, size] = [`$${values.length + 1}::uuid`, `$${values.length + 2}::int`];
  const { rows } = await db.executeQuery(
    raw<{ last: string | null; size: number; ids: string[] }>(
      `with page as materialized (
         select * from messages where tenant_id = $1 and id > ${from} order by id limit ${size}
       )
       select (select p.id from page p order by p.id desc limit 1) as last, (select count(*) from page) as size,
         array(select m.id from page m where ${text} order by m.id) as ids`,
      [...values, after ?? NIL_UUID, limit],
    ),
  );
  const [page] = rows;
  return { ids: page?.ids ?? [], last: page && page.size === limit ? page.last : null };
}
