import type { Db } from '../../../database/database.ts';
import { anyOf, transactionTime } from '../../../database/expressions.ts';
import type { NoteRow } from './note.ts';

export const NOTE_COLUMNS = [
  'id',
  'contact_id',
  'conversation_id',
  'body',
  'author',
  'created_at',
  'updated_at',
] as const satisfies readonly (keyof NoteRow)[];

type Typed = Pick<NoteRow, 'author'>;

export const getNotes = (db: Db, tenantId: number, ids: readonly number[]): Promise<NoteRow[]> =>
  db
    .selectFrom('notes')
    .select(NOTE_COLUMNS)
    .where('tenant_id', '=', tenantId)
    .where('id', '=', anyOf(ids))
    .$narrowType<Typed>()
    .execute();

export const insertNote = (
  trx: Db,
  tenantId: number,
  { author, ...note }: Pick<NoteRow, 'contact_id' | 'conversation_id' | 'body' | 'author'>,
): Promise<NoteRow> =>
  trx
    .insertInto('notes')
    .values({ tenant_id: tenantId, ...note, author: JSON.stringify(author) })
    .returning(NOTE_COLUMNS)
    .$narrowType<Typed>()
    .executeTakeFirstOrThrow();

export const updateNote = (trx: Db, tenantId: number, id: number, body: string): Promise<NoteRow | undefined> =>
  trx
    .updateTable('notes')
    .set({ body, updated_at: transactionTime })
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .returning(NOTE_COLUMNS)
    .$narrowType<Typed>()
    .executeTakeFirst();

/** @returns whether it existed */
export async function deleteNote(trx: Db, tenantId: number, id: number): Promise<boolean> {
  const { numDeletedRows } = await trx
    .deleteFrom('notes')
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
  return numDeletedRows > 0n;
}
