import { sql } from 'kysely';
import { compileOnce } from '../../database/compile-once.ts';
import type { Db } from '../../database/database.ts';
import { anyOf, crossTenant, transactionTime, unnest } from '../../database/expressions.ts';

export interface DocumentRow {
  readonly id: number;
  readonly hash: Buffer;
  readonly name: string;
  readonly body: string;
  readonly last_used_at: string | null;
  readonly created_at: string;
}

export const DOCUMENT_COLUMNS = [
  'id',
  'hash',
  'name',
  'body',
  'last_used_at',
  'created_at',
] as const satisfies readonly (keyof DocumentRow)[];

export const getDocuments = compileOnce((db, tenantId: number, ids: readonly number[]) =>
  db
    .selectFrom('trusted_documents')
    .select(DOCUMENT_COLUMNS)
    .where('tenant_id', '=', tenantId)
    .where('id', '=', anyOf(ids)),
);

/** Finds published documents by their digests, in any order. */
export const findDocuments = compileOnce((db, tenantId: number, hashes: readonly Buffer[]) =>
  db
    .selectFrom('trusted_documents')
    .select(DOCUMENT_COLUMNS)
    .where('tenant_id', '=', tenantId)
    .where('hash', '=', anyOf(hashes)),
);

export const countDocuments = async (db: Db, tenantId: number): Promise<number> => {
  const { count } = await db
    .selectFrom('trusted_documents')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('tenant_id', '=', tenantId)
    .executeTakeFirstOrThrow();
  return count;
};

export interface NewDocument {
  readonly hash: Buffer;
  readonly name: string;
  readonly body: string;
}

/** Stores documents; those that exist count as published again. */
export async function insertDocuments(db: Db, tenantId: number, documents: readonly NewDocument[]): Promise<void> {
  await db
    .insertInto('trusted_documents')
    .columns(['tenant_id', 'hash', 'name', 'body'])
    .expression(eb =>
      eb
        .selectFrom(
          unnest('d', {
            hash: sql<Buffer>`${documents.map(({ hash }) => hash)}::bytea[]`,
            name: sql<string>`${documents.map(({ name }) => name)}::text[]`,
            body: sql<string>`${documents.map(({ body }) => body)}::text[]`,
          }),
        )
        .select([eb.val(tenantId).as('tenant_id'), 'd.hash', 'd.name', 'd.body']),
    )
    .onConflict(conflict => conflict.columns(['tenant_id', 'hash']).doUpdateSet({ published_at: transactionTime }))
    .execute();
}

/** Notes that a document is in use. */
export async function touchDocument(db: Db, tenantId: number, hash: Buffer): Promise<void> {
  await db
    .updateTable('trusted_documents')
    .set({ last_used_at: transactionTime })
    .where('tenant_id', '=', tenantId)
    .where('hash', '=', hash)
    .execute();
}

/** Deletes the documents of all tenants that were neither used nor published for this long. */
export async function deleteUnusedDocuments(db: Db, ageMs: number): Promise<void> {
  await db
    .deleteFrom('trusted_documents')
    // Not the clock, which is volatile and would keep the index from being used.
    .where(
      eb => eb.fn<string>('greatest', ['last_used_at', 'published_at']),
      '<',
      sql<string>`now() - ${ageMs}::float8 * interval '1 ms'`,
    )
    .modifyEnd(crossTenant('documents of all tenants fall out of use'))
    .execute();
}
