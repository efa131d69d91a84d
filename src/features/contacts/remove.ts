import { notFound } from '../../core/errors.ts';
import { tenantOf } from '../../core/principal.ts';
import type { Context } from '../../schema/context.ts';
import { authorOf } from '../tenancy/audit/author.ts';
import { once } from '../tenancy/idempotency/once.ts';
import type { ContactRow } from './contact.ts';
import { type Erasure, eraseContacts, type Removal } from './erasure/erase.ts';
import type { ErasureReason } from './erasure/receipt.ts';
import { getReceipts } from './erasure/store.ts';
import { requireUnchanged } from './update.ts';

export interface RemovalRequest {
  /** The mutation that idempotency keys belong to. */
  readonly operation: string;
  readonly ids: readonly number[];
  readonly reason: ErasureReason;
  readonly idempotencyKey: string | null | undefined;
  /** Throws, before anything is erased, if the contacts that were found may not be. */
  readonly check?: (found: ReadonlyMap<number, ContactRow>) => void;
}

/** Which contacts were erased, and how. A repeated request has the same, without the contacts as they were. */
export type RemovedContacts = Pick<Erasure, 'found' | 'receipts'> & { readonly ids: ReadonlyMap<number, number> };

/**
 * Erases contacts, as `eraseContacts` does, once per idempotency key.
 * @returns `ids`: the id of the erased contact by requested id, which may be a former one
 */
export async function removeContacts(
  context: Context,
  { operation, ids, reason, idempotencyKey, check }: RemovalRequest,
): Promise<RemovedContacts> {
  const tenantId = tenantOf(context);
  const requested = [...new Set(ids)];
  let idOf = new Map<number, number>();
  const request = {
    contactIds: requested,
    reason,
    author: authorOf(context),
    check(found: ReadonlyMap<number, ContactRow>) {
      check?.(found);
      idOf = new Map([...found].map(([id, contact]) => [id, contact.id]));
    },
  };
  const keyed = { operation, key: idempotencyKey, input: { ids: requested, reason } };
  let repeated: { readonly ids: [number, number][]; readonly receiptIds: readonly string[] } | undefined;
  const { found, receipts } = await eraseContacts(context, tenantId, request, undefined, work =>
    once<Removal>(context, keyed, {
      run: work,
      store: ({ receiptIds }) => ({ ids: [...idOf], receiptIds }),
      rebuild: async stored => {
        repeated = stored as typeof repeated;
        return { contacts: [], found: new Set(), receiptIds: [] };
      },
    }),
  );
  if (repeated)
    return {
      ids: new Map(repeated.ids),
      found: new Set(repeated.ids.map(([id]) => id)),
      receipts: await getReceipts(context.db.write, tenantId, repeated.receiptIds),
    };
  return { ids: new Map([...idOf].filter(([id]) => found.has(id))), found, receipts };
}

/**
 * Erases one contact.
 * @param unchangedSince the `updated_at` that the caller has read
 * @returns the id of the contact, and its receipt
 * @throws NOT_FOUND; CONFLICT if it changed since
 */
export async function removeContact(
  context: Context,
  id: number,
  request: Omit<RemovalRequest, 'ids' | 'check'> & { readonly unchangedSince?: string | null | undefined },
) {
  const { ids, receipts } = await removeContacts(context, {
    ...request,
    ids: [id],
    check(found) {
      const contact = found.get(id);
      if (!contact) throw notFound('Contact');
      requireUnchanged(contact, request.unchangedSince);
    },
  });
  const erased = ids.get(id);
  if (erased === undefined) throw notFound('Contact');
  return { id: erased, receipt: receipts[0] };
}
