import type { Db } from '../../platform/database.ts';
import { findReferences, type References } from './store.ts';

/** Which of the ids that a new contact refers to are rows of the tenant: for verbs of other features that make contacts. */
export const findContactReferences = (db: Db, tenantId: number, wanted: References): Promise<References> =>
  findReferences(db, tenantId, wanted);
