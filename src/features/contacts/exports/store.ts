import type { Filter } from '../../../core/list-args.ts';
import { compileOnce } from '../../../database/compile-once.ts';
import type { Db } from '../../../database/database.ts';
import { anyOf, clockTime } from '../../../database/expressions.ts';
import { EXPORT_COLUMNS, type ExportRow } from './export.ts';

type Typed = Pick<ExportRow, 'state' | 'resource' | 'file_type' | 'author'>;

export interface NewExport extends Pick<ExportRow, 'id' | 'resource' | 'file_type' | 'contact_id' | 'author'> {
  readonly filter: Filter | null;
}

export const insertExport = (trx: Db, tenantId: number, job: NewExport): Promise<ExportRow> =>
  trx
    .insertInto('exports')
    .values({
      tenant_id: tenantId,
      ...job,
      author: JSON.stringify(job.author),
      filter: job.filter && JSON.stringify(job.filter),
      due_at: clockTime,
    })
    .returning(EXPORT_COLUMNS)
    .$narrowType<Typed>()
    .executeTakeFirstOrThrow();

export const getExports = compileOnce((db, tenantId: number, ids: readonly string[]) =>
  db
    .selectFrom('exports')
    .select(EXPORT_COLUMNS)
    .$narrowType<Typed>()
    .where('tenant_id', '=', tenantId)
    .where('id', '=', anyOf(ids)),
);

/** Exports that are queued or running. */
export async function countUnfinished(db: Db, tenantId: number): Promise<number> {
  const { count } = await db
    .selectFrom('exports')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('tenant_id', '=', tenantId)
    .where('due_at', 'is not', null)
    .executeTakeFirstOrThrow();
  return count;
}

export interface ExportFile extends ExportRow {
  readonly storage_key: string | null;
  readonly size: number | null;
  readonly sha256: Buffer | null;
}

/** Locates the file of an export. */
export const findExportFile = (db: Db, tenantId: number, id: string): Promise<ExportFile | undefined> =>
  db
    .selectFrom('exports')
    .select([...EXPORT_COLUMNS, 'storage_key', 'size', 'sha256'])
    .$narrowType<Typed>()
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .where('expires_at', '>', clockTime)
    .executeTakeFirst();

/** Notes whose data the next part of a file has. */
export async function insertPeople(
  db: Db,
  tenantId: number,
  exportId: string,
  part: number,
  contactIds: readonly number[],
): Promise<void> {
  await db
    .insertInto('export_people')
    .values({ tenant_id: tenantId, export_id: exportId, part, contact_ids: [...contactIds] })
    .execute();
}
