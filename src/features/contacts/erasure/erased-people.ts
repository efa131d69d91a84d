import type { Db } from '../../../database/database.ts';
import type { SecretBox } from '../../../platform/crypto.ts';
import { phoneKey } from '../../../platform/phone.ts';
import type { ConsentCategory } from '../consent/consent.ts';
import { recordConsent } from '../consent/record.ts';
import type { ContactRow } from '../contact.ts';
import { getContacts } from '../store.ts';
import { lockErasures } from './erasure.sql.ts';
import { findContactsByIdentity, findDigests } from './store.ts';
import { identityDigest } from './subject.ts';

/** An identity of a person who was erased. */
export interface ErasedPerson {
  readonly identity: string;
  readonly erasedAtMs: number;
  /** Categories that the person had opted out of. */
  readonly optedOut: readonly ConsentCategory[];
}

/** The identities of recently erased people, and of erased people who had opted out at any time. */
export async function findErased(
  db: Db,
  secrets: Pick<SecretBox, 'permanentMac'>,
  tenantId: number,
  identities: Iterable<string>,
): Promise<ErasedPerson[]> {
  const digests = new Map(
    [...identities].map(identity => [identityDigest(secrets, tenantId, identity).toString('hex'), identity] as const),
  );
  if (digests.size === 0) return [];
  const rows = await findDigests(
    db,
    tenantId,
    [...digests.keys()].map(hex => Buffer.from(hex, 'hex')),
  );
  return rows.map(row => ({
    identity: digests.get(row.digest.toString('hex')) ?? '',
    erasedAtMs: Date.parse(row.erased_at),
    optedOut: row.opted_out as readonly ConsentCategory[],
  }));
}

/**
 * Restores opt-outs of erased people on the contacts that have their identities now, dated at the erasure, so that later consent
 * takes precedence.
 */
export async function restoreOptOuts(trx: Db, tenantId: number, erased: readonly ErasedPerson[]): Promise<void> {
  const outs = erased.filter(({ optedOut }) => optedOut.length > 0);
  if (outs.length === 0) return;
  const contacts = await findContactsByIdentity(
    trx,
    tenantId,
    outs.map(({ identity }) => identity),
  );
  await recordConsent(
    trx,
    tenantId,
    outs.flatMap(({ identity, optedOut, erasedAtMs }) => {
      const contactId = contacts.get(identity);
      if (contactId === undefined) return [];
      const categories: readonly ConsentCategory[] = optedOut.includes('all') ? ['all'] : optedOut;
      return categories.map(category => ({
        contactId,
        category,
        state: 'opted_out' as const,
        source: 'import' as const,
        evidence: 'opted out before an erasure',
        occurredAt: new Date(erasedAtMs).toISOString(),
      }));
    }),
  );
}

/** Like `restoreOptOuts`, for contacts that were just created. @returns the contacts with restored opt-outs */
export async function restoreOptOutsOf(
  trx: Db,
  secrets: Pick<SecretBox, 'permanentMac'>,
  tenantId: number,
  contacts: readonly ContactRow[],
): Promise<readonly ContactRow[]> {
  const identities = contacts.flatMap(({ phone }) => (phone === null ? [] : [phoneKey(phone)]));
  const erased = (await findErased(trx, secrets, tenantId, identities)).filter(({ optedOut }) => optedOut.length > 0);
  if (erased.length === 0) return contacts;
  await restoreOptOuts(trx, tenantId, erased);
  const ids = contacts.map(({ id }) => id);
  const now = new Map((await getContacts(trx, tenantId, ids)).map(contact => [contact.id, contact]));
  return contacts.map(contact => now.get(contact.id) ?? contact);
}

/**
 * Excludes erasures of the tenant until this transaction ends, because a webhook applied during an erasure would restore the
 * person. Lock order: call it before locking anything that an erasure locks.
 */
export const waitForErasures = (trx: Db, tenantId: number): Promise<void> => lockErasures(trx, tenantId, 'shared');

/** @returns those of the identities that a contact has now */
export const findCurrentIdentities = async (
  db: Db,
  tenantId: number,
  identities: readonly string[],
): Promise<Set<string>> => new Set((await findContactsByIdentity(db, tenantId, identities)).keys());
