import type { Filter } from '../../core/list-args.ts';
import type { Db } from '../../database/database.ts';
import { filterConditions } from '../../database/list-filter.ts';
import { Parameters } from '../../database/list-sql.ts';
import { raw } from '../../database/statements.ts';
import { CONVERSATIONS, withIndexed } from './list.ts';

/** The condition of the tenant and a filter. @throws VALIDATION_ERROR for a faulty filter */
function where(tenantId: number, filter: Filter) {
  const parameters = new Parameters([tenantId]);
  const conditions = filterConditions(CONVERSATIONS.filters, tenantId, withIndexed(filter), parameters);
  return { parameters, text: [`${CONVERSATIONS.tenantColumn} = $1`, ...conditions].join(' and ') };
}

export async function countMatching(db: Db, tenantId: number, filter: Filter): Promise<number> {
  const { parameters, text } = where(tenantId, filter);
  const { rows } = await db.executeQuery(
    raw<{ count: number }>(`select count(*) as count from ${CONVERSATIONS.from} where ${text}`, parameters.values),
  );
  return rows[0]?.count ?? 0;
}

/** Which part of the matching conversations: those after an id, up to another. */
export interface IdRange {
  readonly afterId: number;
  readonly maxId: number;
  readonly limit: number;
}

/** Locks conversations that match, in the order of their ids, and checks the filter again after the lock. @returns their ids */
export async function lockMatching(
  trx: Db,
  tenantId: number,
  filter: Filter,
  { afterId, maxId, limit }: IdRange,
): Promise<number[]> {
  const { parameters, text } = where(tenantId, filter);
  const after = parameters.add(afterId, 'bigint');
  const max = parameters.add(maxId, 'bigint');
  const size = parameters.add(limit, 'int');
  const { rows } = await trx.executeQuery(
    raw<{ id: number }>(
      `select v.id from ${CONVERSATIONS.from} where ${text} and v.id > ${after} and v.id <= ${max} order by v.id limit ${size} for no key update of v`,
      parameters.values,
    ),
  );
  return rows.map(({ id }) => id);
}
