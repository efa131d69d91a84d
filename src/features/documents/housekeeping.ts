import { DAY } from '../../platform/clock.ts';
import type { Resources } from '../../schema/context.ts';
import { deleteUnusedDocuments } from './store.ts';

const KEEP_UNUSED_MS = 180 * DAY;

/** Deletes documents that were neither used nor published for 180 days. */
export const cleanDocuments = ({ db }: Resources): Promise<void> => deleteUnusedDocuments(db.write, KEEP_UNUSED_MS);
