import type { Author } from '../../../core/author.ts';
import type { Db } from '../../../database/database.ts';
import { anyOf, bigints, timestamps, transactionTime, unnest } from '../../../database/expressions.ts';
import { COLUMNS_OF_C } from '../columns.ts';
import { CONTACT_COLUMNS, type ContactRow } from '../contact.ts';
import type { NewConsentEntry, PublicConsentEntry } from './consent.ts';

/** Locks contacts by id against changes; sends to them may go on, because they lock `for key share`. */
export const lockContacts = (trx: Db, tenantId: number, ids: readonly number[]): Promise<ContactRow[]> =>
  trx
    .selectFrom('contacts')
    .select(CONTACT_COLUMNS)
    .$narrowType<Pick<ContactRow, 'type'>>()
    .where('tenant_id', '=', tenantId)
    .where('id', '=', anyOf(ids))
    .orderBy('id')
    .forNoKeyUpdate()
    .execute();

/** Entries of a contact, latest first. */
export const listEntries = (
  db: Db,
  tenantId: number,
  contactId: number,
  limit: number,
): Promise<PublicConsentEntry[]> =>
  db
    .selectFrom('consent_entries')
    .select(['id', 'category', 'state', 'source', 'evidence', 'occurred_at'])
    .$narrowType<Pick<PublicConsentEntry, 'category' | 'state' | 'source'>>()
    .where('tenant_id', '=', tenantId)
    .where('contact_id', '=', contactId)
    .orderBy('occurred_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit)
    .execute();

/** An entry as the API shows it. */
export interface ConsentRow extends PublicConsentEntry {
  readonly contact_id: number;
  readonly author: Author | null;
}

export const CONSENT_COLUMNS = [
  'id',
  'contact_id',
  'category',
  'state',
  'source',
  'evidence',
  'author',
  'occurred_at',
] as const satisfies readonly (keyof ConsentRow)[];

type Typed = Pick<ConsentRow, 'category' | 'state' | 'source' | 'author'>;

export const getEntries = (db: Db, tenantId: number, ids: readonly number[]): Promise<ConsentRow[]> =>
  db
    .selectFrom('consent_entries')
    .select(CONSENT_COLUMNS)
    .$narrowType<Typed>()
    .where('tenant_id', '=', tenantId)
    .where('id', '=', anyOf(ids))
    .execute();

/** The latest entry with the same content. */
export const findEntry = (
  db: Db,
  tenantId: number,
  { contactId, category, state, source, occurredAt }: NewConsentEntry,
): Promise<ConsentRow | undefined> =>
  db
    .selectFrom('consent_entries')
    .select(CONSENT_COLUMNS)
    .$narrowType<Typed>()
    .where('tenant_id', '=', tenantId)
    .where('contact_id', '=', contactId)
    .where('category', '=', category)
    .where('occurred_at', '=', occurredAt)
    .where('state', '=', state)
    .where('source', '=', source)
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst();

/** Sets or clears the time at which contacts opted out of all messages. */
export const setOptedOut = (
  trx: Db,
  tenantId: number,
  changes: readonly { readonly id: number; readonly optedOutAt: string | null }[],
): Promise<ContactRow[]> => {
  const ids = changes.map(change => change.id);
  return trx
    .updateTable('contacts as c')
    .from(unnest('r', { id: bigints(ids), opted_out_at: timestamps(changes.map(change => change.optedOutAt)) }))
    .set(eb => ({ opted_out_at: eb.ref('r.opted_out_at'), updated_at: transactionTime }))
    .where('c.tenant_id', '=', tenantId)
    .whereRef('c.id', '=', 'r.id')
    .where('c.id', '=', anyOf(ids))
    .returning(COLUMNS_OF_C)
    .$narrowType<Pick<ContactRow, 'type'>>()
    .execute();
};
