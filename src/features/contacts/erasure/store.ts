import type { NotNull } from 'kysely';
import type { Db } from '../../../database/database.ts';
import { anyOf, crossTenant } from '../../../database/expressions.ts';
import type { ErasedIdentity } from './erasure.sql.ts';
import type { ReceiptRow } from './receipt.ts';

/** A receipt of an erasure in progress, with the sealed subject. */
export interface PendingReceipt extends ReceiptRow {
  readonly pending: Buffer;
}

/** The columns of a receipt that the API shows. */
export const RECEIPT_COLUMNS = [
  'id',
  'contact_id',
  'subject_digest',
  'reason',
  'author',
  'requested_at',
  'completed_at',
  'erased',
  'retained',
  'signature',
] as const satisfies readonly (keyof ReceiptRow)[];

type Typed = Pick<ReceiptRow, 'reason' | 'author' | 'erased' | 'retained'>;

export async function insertReceipts(trx: Db, tenantId: number, receipts: readonly PendingReceipt[]): Promise<void> {
  await trx
    .insertInto('erasure_receipts')
    .values(
      receipts.map(({ id, contact_id, subject_digest, reason, author, requested_at, erased, retained, pending }) => ({
        tenant_id: tenantId,
        id,
        contact_id,
        subject_digest,
        reason,
        author: JSON.stringify(author),
        requested_at,
        erased: JSON.stringify(erased),
        retained: JSON.stringify(retained),
        pending,
      })),
    )
    .execute();
}

export async function completeReceipt(trx: Db, tenantId: number, row: ReceiptRow): Promise<void> {
  await trx
    .updateTable('erasure_receipts')
    .set({ completed_at: row.completed_at, signature: row.signature, pending: null })
    .where('tenant_id', '=', tenantId)
    .where('id', '=', row.id)
    .execute();
}

/** Stores digests of numbers that erased people had lost before, until late webhooks can no longer arrive. Existing digests stay. */
export async function storeFormerDigests(
  trx: Db,
  tenantId: number,
  identities: readonly ErasedIdentity[],
  expiresAt: string,
): Promise<void> {
  if (identities.length === 0) return;
  await trx
    .insertInto('erased_identities')
    .values(
      identities.map(({ digest, erased_at }) => ({ tenant_id: tenantId, digest, erased_at, expires_at: expiresAt })),
    )
    .onConflict(conflict => conflict.columns(['tenant_id', 'digest']).doNothing())
    .execute();
}

/** Locks receipts of incomplete erasures by id. @returns without those that another process has completed */
export const lockPending = (trx: Db, tenantId: number, ids: readonly string[]): Promise<PendingReceipt[]> =>
  trx
    .selectFrom('erasure_receipts')
    .select([...RECEIPT_COLUMNS, 'pending'])
    .$narrowType<Typed & { pending: NotNull }>()
    .where('tenant_id', '=', tenantId)
    .where('id', '=', anyOf(ids))
    .where('completed_at', 'is', null)
    .orderBy('id')
    .forUpdate()
    .execute();

export const getReceipts = (db: Db, tenantId: number, ids: readonly string[]): Promise<ReceiptRow[]> =>
  db
    .selectFrom('erasure_receipts')
    .select(RECEIPT_COLUMNS)
    .$narrowType<Typed>()
    .where('tenant_id', '=', tenantId)
    .where('id', '=', anyOf(ids))
    .orderBy('id')
    .execute();

/** Erasures that a process started before an instant and did not complete. */
export const findInterrupted = (
  db: Db,
  beforeIso: string,
  limit: number,
): Promise<{ readonly tenant_id: number; readonly id: string }[]> =>
  db
    .selectFrom('erasure_receipts')
    .select(['tenant_id', 'id'])
    .where('completed_at', 'is', null)
    .where('requested_at', '<', beforeIso)
    .orderBy('requested_at')
    .limit(limit)
    .modifyEnd(crossTenant('housekeeping, by age alone'))
    .execute();

export const findDigests = (db: Db, tenantId: number, digests: readonly Buffer[]): Promise<ErasedIdentity[]> =>
  db
    .selectFrom('erased_identities')
    .select(['digest', 'erased_at', 'opted_out'])
    .where('tenant_id', '=', tenantId)
    .where('digest', '=', anyOf(digests))
    .execute();

/** Finds the contacts that have these identities now: numbers normalised by `phoneKey`, and user ids. */
export async function findContactsByIdentity(
  db: Db,
  tenantId: number,
  identities: readonly string[],
): Promise<Map<string, number>> {
  const rows = await db
    .selectFrom('contacts')
    .select(eb => [eb.ref('phone_key').$notNull().as('identity'), 'id as contact_id'])
    .where('tenant_id', '=', tenantId)
    .where('phone_key', '=', anyOf(identities))
    .union(
      db
        .selectFrom('contact_identities')
        .select(['value as identity', 'contact_id'])
        .where('tenant_id', '=', tenantId)
        .where('kind', '=', 'user_id')
        .where('value', '=', anyOf(identities)),
    )
    .execute();
  return new Map(rows.map(row => [row.identity, row.contact_id]));
}

export async function deleteExpiredDigests(db: Db, nowIso: string): Promise<void> {
  await db
    .deleteFrom('erased_identities')
    .where('expires_at', '<', nowIso)
    .modifyEnd(crossTenant('housekeeping, by age alone'))
    .execute();
}
