import type { Compilable, CompiledQuery } from 'kysely';
import type { Db } from './database.ts';

/** Placeholder for an argument while a statement is built. */
class Placeholder {
  readonly index: number;

  constructor(index: number) {
    this.index = index;
  }
}

/**
 * Builds a statement with kysely at the first call; later calls execute the same text with other values. For hot reads:
 * building takes 25 µs for one table and 100 µs for two joins at every call.
 *
 * @param build may use its arguments only as SQL parameters: the text must not depend on them
 * @example const getStaff = compileOnce((db, tenantId: number, ids: readonly number[]) =>
 *   db.selectFrom('staff').selectAll().where('tenant_id', '=', tenantId).where('id', '=', anyOf(ids)));
 */
export function compileOnce<Args extends readonly unknown[], Row>(
  build: (db: Db, ...args: Args) => Compilable<Row>,
): (db: Db, ...args: Args) => Promise<Row[]> {
  let compiled: CompiledQuery<Row> | undefined;
  return async (db, ...args) => {
    compiled ??= build(db, ...(args.map((_, index) => new Placeholder(index)) as unknown as Args)).compile();
    const parameters = compiled.parameters.map(value => (value instanceof Placeholder ? args[value.index] : value));
    const { rows } = await db.executeQuery<Row>({ ...compiled, parameters });
    return rows;
  };
}
