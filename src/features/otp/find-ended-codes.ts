import type { Db } from '../../database/database.ts';
import { readEnded } from './codes.sql.ts';
import type { EndedState } from './otp.ts';

/**
 * Finds messages that would be charged for nothing: their one-time code expired, was replaced, or has ended otherwise.
 * @param messageIds of any type; those without a code are left out
 * @returns the state of the code by message id
 */
export const findEndedCodes = (
  db: Db,
  tenantId: number,
  messageIds: readonly string[],
): Promise<Map<string, EndedState>> => readEnded(db, tenantId, messageIds);
