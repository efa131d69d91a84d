import type { CodedError } from '../../errors.ts';
import type { Db } from '../../platform/database.ts';
import { limitExceeded } from './create.ts';
import { lockRoom } from './store.ts';

/** The refusal of a contact beyond the plan, with the counts as they are now: for verbs of other features that make contacts. */
export async function limitRefusal(db: Db, tenantId: number): Promise<CodedError> {
  const { used, maximum } = await lockRoom(db, tenantId);
  return limitExceeded(used, maximum);
}
