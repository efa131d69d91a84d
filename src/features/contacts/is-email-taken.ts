import type { Db } from '../../database/database.ts';
import { findEmailHolder, findNumberHolders } from './store.ts';

/**
 * Whether the e-mail address of a person whom a send creates belongs to somebody else. The insert would leave such a send out, whenever
 * it is tried again. A contact with this number was created by a concurrent send: the next attempt finds it.
 */
export async function isEmailTaken(
  db: Db,
  tenantId: number,
  {
    email,
    phone_key: key,
  }: { readonly email?: string | null | undefined; readonly phone_key?: string | null | undefined },
): Promise<boolean> {
  const holder = email ? await findEmailHolder(db, tenantId, email) : undefined;
  if (holder === undefined) return false;
  return !key || (await findNumberHolders(db, tenantId, [key])).get(key) !== holder;
}
