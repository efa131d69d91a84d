import type { Resources } from '../../../schema/context.ts';
import { deleteGone } from './presence.sql.ts';

/** Deletes what sessions that are gone have shown. */
export const cleanPresence = ({ db }: Pick<Resources, 'db'>): Promise<void> => deleteGone(db.write);
