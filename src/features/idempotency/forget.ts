import type { Context } from '../../context.ts';
import { tenantOf } from '../caller.ts';
import { deleteExpiredKey } from './store.ts';

/** Takes a key out of the way whose 24 hours are over, and leaves one that still counts. */
export const forgetExpiredKey = (context: Context, key: string): Promise<void> =>
  deleteExpiredKey(context.db.write, tenantOf(context), key);
