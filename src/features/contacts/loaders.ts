import { rowLoader, valueLoader } from '../../schema/loaders.ts';
import type { LabelRow } from './labels/label.ts';
import { countMembers, getLabels } from './labels/store.ts';
import { getContacts, getGroupsOf } from './store.ts';

export const contactLoader = rowLoader(getContacts);
export const sourceLoader = rowLoader((db, tenantId, ids) => getLabels(db, tenantId, 'source', ids));
export const statusLoader = rowLoader((db, tenantId, ids) => getLabels(db, tenantId, 'status', ids));

/** The groups of each contact. */
export const groupsOfLoader = valueLoader<LabelRow[]>(getGroupsOf, []);

/** The number of contacts in each group. */
export const memberCountLoader = valueLoader(countMembers, 0);
