import type { Db } from '../../../database/database.ts';
import { anyOf, transactionTime } from '../../../database/expressions.ts';
import type { CannedReplyRow } from './canned-reply.ts';

export const CANNED_REPLY_COLUMNS = [
  'id',
  'shortcut',
  'title',
  'content',
  'created_at',
  'updated_at',
] as const satisfies readonly (keyof CannedReplyRow)[];

type Typed = Pick<CannedReplyRow, 'content'>;
type Fields = Pick<CannedReplyRow, 'shortcut' | 'title' | 'content'>;

export const getCannedReplies = (db: Db, tenantId: number, ids: readonly number[]): Promise<CannedReplyRow[]> =>
  db
    .selectFrom('canned_replies')
    .select(CANNED_REPLY_COLUMNS)
    .where('tenant_id', '=', tenantId)
    .where('id', '=', anyOf(ids))
    .$narrowType<Typed>()
    .execute();

export const insertCannedReply = (trx: Db, tenantId: number, { content, ...texts }: Fields): Promise<CannedReplyRow> =>
  trx
    .insertInto('canned_replies')
    .values({ tenant_id: tenantId, ...texts, content: JSON.stringify(content) })
    .returning(CANNED_REPLY_COLUMNS)
    .$narrowType<Typed>()
    .executeTakeFirstOrThrow();

export const updateCannedReply = (
  trx: Db,
  tenantId: number,
  id: number,
  { content, ...texts }: Partial<Fields>,
): Promise<CannedReplyRow | undefined> =>
  trx
    .updateTable('canned_replies')
    .set({ ...texts, ...(content && { content: JSON.stringify(content) }), updated_at: transactionTime })
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .returning(CANNED_REPLY_COLUMNS)
    .$narrowType<Typed>()
    .executeTakeFirst();

/** @returns whether it existed */
export async function deleteCannedReply(trx: Db, tenantId: number, id: number): Promise<boolean> {
  const { numDeletedRows } = await trx
    .deleteFrom('canned_replies')
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
  return numDeletedRows > 0n;
}
