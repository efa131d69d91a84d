import type { Db } from '../../platform/database.ts';
import { raw } from '../../platform/raw-query.ts';
import type { ListStatement } from './list.ts';

/** How many rows a list has, all its pages together. */
export async function countList(db: Db, { count }: ListStatement): Promise<number> {
  const { rows } = await db.executeQuery(raw<{ total: number }>(count.text, count.values));
  return rows[0]?.total ?? 0;
}
