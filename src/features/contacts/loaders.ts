import { loader, rowLoader, valueLoader } from '../../schema/loaders.ts';
import { getEntries } from './consent/store.ts';
import type { IdentityRow } from './contact.ts';
import type { ReceiptRow } from './erasure/receipt.ts';
import { getReceipts } from './erasure/store.ts';
import type { LabelRow } from './labels/label.ts';
import { countMembers, getLabels } from './labels/store.ts';
import { getFormerIds } from './merging/store.ts';
import { getContacts, getGroupsOf, getIdentitiesOf } from './store.ts';

export const contactLoader = rowLoader(getContacts);
export const groupLoader = rowLoader((db, tenantId, ids) => getLabels(db, tenantId, 'group', ids));
export const sourceLoader = rowLoader((db, tenantId, ids) => getLabels(db, tenantId, 'source', ids));
export const statusLoader = rowLoader((db, tenantId, ids) => getLabels(db, tenantId, 'status', ids));

export const consentEntryLoader = rowLoader(getEntries);
/** Receipts of erasures, by their UUIDs. */
export const receiptLoader = loader<string, ReceiptRow | undefined>(async (db, tenantId, ids) => {
  const byId = new Map((await getReceipts(db, tenantId, ids)).map(row => [row.id, row]));
  return ids.map(id => byId.get(id));
});

/** The groups of each contact. */
export const groupsOfLoader = valueLoader<LabelRow[]>(getGroupsOf, []);

/** The identifiers of each contact. */
export const identitiesLoader = valueLoader<IdentityRow[]>(getIdentitiesOf, []);

/** The ids of the contacts that were merged into each. */
export const formerIdsLoader = valueLoader<number[]>(getFormerIds, []);

/** The number of contacts in each group. */
export const memberCountLoader = valueLoader(countMembers, 0);
