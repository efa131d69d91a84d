import { loader, rowLoader, valueLoader } from '../../schema/loaders.ts';
import { latestEntries } from './consent/consent.sql.ts';
import { type EffectiveConsent, effectiveConsents } from './consent/consent.ts';
import { getEntries } from './consent/store.ts';
import type { IdentityRow } from './contact.ts';
import { getReceipts } from './erasure/store.ts';
import { getExports } from './exports/store.ts';
import type { LabelRow } from './labels/label.ts';
import { countMembers, getLabels } from './labels/store.ts';
import { getFormerIds } from './merging/store.ts';
import { getContacts, getGroupsOf, getIdentitiesOf } from './store.ts';

export const contactLoader = rowLoader(getContacts);
export const groupLoader = rowLoader((db, tenantId, ids: readonly number[]) => getLabels(db, tenantId, 'group', ids));
export const sourceLoader = rowLoader((db, tenantId, ids: readonly number[]) => getLabels(db, tenantId, 'source', ids));
export const statusLoader = rowLoader((db, tenantId, ids: readonly number[]) => getLabels(db, tenantId, 'status', ids));

export const consentEntryLoader = rowLoader(getEntries);
/** Effective consents of contacts, by category. */
export const consentsLoader = loader<number, EffectiveConsent[]>(async (db, tenantId, contactIds) => {
  const latest = await latestEntries(db, tenantId, contactIds);
  return contactIds.map(id => effectiveConsents(latest.get(id) ?? {}));
});
/** Receipts of erasures, by their UUIDs. */
export const receiptLoader = rowLoader(getReceipts);
export const exportLoader = rowLoader(getExports);

/** The groups of each contact. */
export const groupsOfLoader = valueLoader<LabelRow[]>(getGroupsOf, []);

/** The identifiers of each contact. */
export const identitiesLoader = valueLoader<IdentityRow[]>(getIdentitiesOf, []);

/** The ids of the contacts that were merged into each. */
export const formerIdsLoader = valueLoader<number[]>(getFormerIds, []);

/** The number of contacts in each group. */
export const memberCountLoader = valueLoader(countMembers, 0);
