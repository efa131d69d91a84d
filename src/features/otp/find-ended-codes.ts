import type { Db } from '../../database/database.ts';
import { readEnded } from './codes.sql.ts';
import type { DeadCode } from './otp.ts';

/**
 * Finds messages that would be charged for nothing: their one-time code expired, was replaced, has ended otherwise, or is for another number.
 * @param messageIds of any type; those without a code are left out
 * @returns the state of the code, or `moved`, by message id
 */
export const findEndedCodes = (
  db: Db,
  tenantId: number,
  messageIds: readonly string[],
): Promise<Map<string, DeadCode>> => readEnded(db, tenantId, messageIds);
