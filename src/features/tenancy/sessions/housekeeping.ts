import { DAY } from '../../../platform/clock.ts';
import type { Resources } from '../../../schema/context.ts';
import { deleteExpiredSessions } from './store.ts';

/** Longer than an idempotency key, which finds the session it created. */
const KEEP_MS = 2 * DAY;

/** Deletes expired sessions. */
export const cleanSessions = ({ db }: Resources): Promise<void> => deleteExpiredSessions(db.write, KEEP_MS);
