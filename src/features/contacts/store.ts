import { type ExpressionBuilder, sql } from 'kysely';
import { compileOnce } from '../../database/compile-once.ts';
import type { Db, Schema } from '../../database/database.ts';
import { anyByKey, anyIn, anyOf, bigints, transactionTime, unnest } from '../../database/expressions.ts';
import { identitySpellings, phoneKey } from '../../platform/phone.ts';
import { COLUMNS_OF_C, currentContactId } from './columns.ts';
import {
  CONTACT_COLUMNS,
  type ContactFields,
  type ContactRow,
  type ContactType,
  FIELD_COLUMNS,
  type IdentityRow,
  type PublicContact,
} from './contact.ts';
import type { LabelRow } from './labels/label.ts';

/** In the table the type of a contact is a plain text. */
type Typed = { readonly type: ContactType };

/** Counts contacts by the tenant's counter. */
export async function countContacts(db: Db, tenantId: number): Promise<number> {
  const usage = await db
    .selectFrom('tenant_usage')
    .select('contacts')
    .where('tenant_id', '=', tenantId)
    .executeTakeFirst();
  return usage?.contacts ?? 0;
}

export const getContacts = compileOnce((db, tenantId: number, ids: readonly number[]) =>
  db
    .selectFrom('contacts')
    .select(CONTACT_COLUMNS)
    .$narrowType<Typed>()
    .where('tenant_id', '=', tenantId)
    .where('id', '=', anyByKey(ids)),
);

/** Each by its keys: without statistics, PostgreSQL reads all merges of a tenant for one contact, and for a thousand all of its contacts. */
const selectRequested = compileOnce((db, tenantId: number, ids: readonly number[]) =>
  db
    .selectFrom(unnest('r', { id: bigints(ids) }))
    .innerJoinLateral(
      eb =>
        eb
          .selectFrom('contacts as k')
          .select(CONTACT_COLUMNS)
          .where('k.tenant_id', '=', tenantId)
          .where('k.id', '=', currentContactId(tenantId, 'r.id'))
          .offset(sql.lit(0))
          .as('c'),
      join => join.onTrue(),
    )
    .select('r.id as requested_id')
    .select(COLUMNS_OF_C)
    .$narrowType<Typed>(),
);

/** Finds contacts by requested id. The id of a merged contact resolves to the survivor. */
export async function findContacts(db: Db, tenantId: number, ids: readonly number[]): Promise<Map<number, ContactRow>> {
  const rows = await selectRequested(db, tenantId, ids);
  return new Map(rows.map(({ requested_id, ...row }) => [requested_id, row]));
}

const selectGroups = compileOnce((db, tenantId: number, contactIds: readonly number[]) =>
  db
    .selectFrom('contact_groups as cg')
    .innerJoin('groups as g', join => join.onRef('g.tenant_id', '=', 'cg.tenant_id').onRef('g.id', '=', 'cg.group_id'))
    .select(['cg.contact_id', 'g.id', 'g.name', 'g.created_at', 'g.updated_at'])
    .where('cg.tenant_id', '=', tenantId)
    .where('cg.contact_id', '=', anyByKey(contactIds))
    .orderBy('g.name'),
);

/** The groups of several contacts, by name. */
export async function getGroupsOf(
  db: Db,
  tenantId: number,
  contactIds: readonly number[],
): Promise<Map<number, LabelRow[]>> {
  return Map.groupBy(await selectGroups(db, tenantId, contactIds), row => row.contact_id);
}

/** Returns the contacts that have these numbers as current identities, by phone key. */
export async function findNumberHolders(
  db: Db,
  tenantId: number,
  phoneKeys: readonly string[],
): Promise<Map<string, number>> {
  if (phoneKeys.length === 0) return new Map();
  const { rows } = await sql<{ number: string; contact_id: number }>`
    select number, contact_id from number_holders(${tenantId}, ${phoneKeys.flatMap(identitySpellings)}::text[])`.execute(
    db,
  );
  return new Map(rows.map(row => [phoneKey(row.number), row.contact_id]));
}

/** The contact with an e-mail address, ignoring case. */
export async function findEmailHolder(db: Db, tenantId: number, email: string): Promise<number | undefined> {
  const row = await db
    .selectFrom('contacts')
    .select('id')
    .where('tenant_id', '=', tenantId)
    .where(eb => eb(eb.fn<string>('lower', ['email']), '=', email.toLowerCase()))
    .executeTakeFirst();
  return row?.id;
}

/** The contact who has a business-scoped user id now; the latest one where portfolios have the same. */
export const findUserIdHolder = async (db: Db, tenantId: number, userId: string): Promise<number | undefined> =>
  (await selectUserIdHolder(db, tenantId, userId))[0]?.contact_id;

const selectUserIdHolder = compileOnce((db, tenantId: number, userId: string) =>
  db
    .selectFrom('contact_identities')
    .select('contact_id')
    .where('tenant_id', '=', tenantId)
    .where('kind', '=', sql.lit('user_id'))
    .where('value', '=', userId)
    .where('ended_at', 'is', null)
    .orderBy('started_at', 'desc')
    .orderBy('id', 'desc')
    .limit(sql.lit(1)),
);

/** The identifiers of several contacts, present ones first, then the latest. */
export async function getIdentitiesOf(
  db: Db,
  tenantId: number,
  contactIds: readonly number[],
): Promise<Map<number, IdentityRow[]>> {
  const rows = await selectIdentities(db, tenantId, contactIds);
  return Map.groupBy(rows, row => row.contact_id);
}

const selectIdentities = compileOnce((db, tenantId: number, contactIds: readonly number[]) =>
  db
    .selectFrom('contact_identities')
    .select(['contact_id', 'kind', 'value', 'started_at', 'ended_at'])
    .$narrowType<Pick<IdentityRow, 'kind'>>()
    .where('tenant_id', '=', tenantId)
    .where('contact_id', '=', anyByKey(contactIds))
    .orderBy('ended_at', order => order.desc().nullsFirst())
    .orderBy('id', 'desc'),
);

/**
 * The phone keys and lower-case e-mail addresses that contacts of the tenant already use: numbers as phone or as another current
 * identity.
 */
export async function findTaken(
  db: Db,
  tenantId: number,
  phoneKeys: readonly string[],
  emails: readonly string[],
): Promise<{ phoneKeys: Set<string>; emails: Set<string> }> {
  const lowerEmail = (eb: ExpressionBuilder<Schema, 'contacts'>) => eb.fn<string | null>('lower', ['email']);
  const rows = await db
    .selectFrom('contacts')
    .select(eb => ['phone_key', eb.lit(null).$castTo<string | null>().as('email')])
    .where('tenant_id', '=', tenantId)
    .where('phone_key', '=', anyOf(phoneKeys))
    .unionAll(
      db
        .selectFrom('contacts')
        .select(eb => [eb.lit(null).$castTo<string | null>().as('phone_key'), lowerEmail(eb).as('email')])
        .where('tenant_id', '=', tenantId)
        .where(eb => eb(lowerEmail(eb), '=', anyOf(emails))),
    )
    .execute();
  const held = await findNumberHolders(db, tenantId, phoneKeys);
  return {
    phoneKeys: new Set([...rows.flatMap(row => row.phone_key ?? []), ...held.keys()]),
    emails: new Set(rows.flatMap(row => row.email ?? [])),
  };
}

/**
 * Locks the tenant's contact counter and returns what the plan leaves (`null`: unlimited). Lock order: tenant_usage before
 * contacts, to avoid deadlocks.
 */
export async function lockContactQuota(trx: Db, tenantId: number): Promise<ContactQuota> {
  return quotaOf(tenantId, await selectQuota(trx, tenantId).forUpdate().executeTakeFirst());
}

/** Remaining quota of the plan. */
export async function readContactQuota(db: Db, tenantId: number): Promise<ContactQuota> {
  return quotaOf(tenantId, await selectQuota(db, tenantId).executeTakeFirst());
}

/** Contacts that exist, that may exist, and what is left (`null`: unlimited). */
export interface ContactQuota {
  readonly used: number;
  readonly remaining: number | null;
  readonly maximum: number | null;
}

const selectQuota = (db: Db, tenantId: number) =>
  db
    .selectFrom('tenant_usage')
    .select(['contacts as used', 'contacts_maximum as maximum'])
    .where('tenant_id', '=', tenantId);

function quotaOf(tenantId: number, usage: Omit<ContactQuota, 'remaining'> | undefined): ContactQuota {
  if (!usage) throw new Error(`The tenant ${tenantId} has no row in tenant_usage.`);
  const { used, maximum } = usage;
  return { used, maximum, remaining: maximum === null ? null : Math.max(maximum - used, 0) };
}

/** Locks contacts in the order of their ids. Nothing writes to them, merges or changes them until the transaction ends. */
export async function lockContactRows(trx: Db, tenantId: number, ids: readonly number[]): Promise<void> {
  await trx
    .selectFrom('contacts')
    .select('id')
    .where('tenant_id', '=', tenantId)
    .where('id', '=', anyByKey(ids))
    .orderBy('id')
    .forUpdate()
    .execute();
}

/** Locks a contact by its id or the id of a contact merged into it. */
export async function lockContact(trx: Db, tenantId: number, id: number): Promise<ContactRow | undefined> {
  const selectForUpdate = () =>
    trx
      .selectFrom('contacts')
      .select(CONTACT_COLUMNS)
      .$narrowType<Typed>()
      .where('tenant_id', '=', tenantId)
      .where('id', '=', eb =>
        eb.fn.coalesce(
          eb
            .selectFrom('contact_merges as m')
            .select('m.contact_id')
            .where('m.tenant_id', '=', tenantId)
            .where('m.former_id', '=', id)
            .where('m.undone_at', 'is', null),
          eb.val(id),
        ),
      )
      .forUpdate()
      .executeTakeFirst();
  // A concurrent merge may have removed it; the second statement sees the survivor.
  return (await selectForUpdate()) ?? (await selectForUpdate());
}

export type ContactUpdate = ContactFields &
  Partial<Pick<PublicContact, 'source_id' | 'status_id' | 'assigned_id' | 'opted_out_at'>>;

/** The columns that an update may set: a caller's object may have more. */
const UPDATABLE = [...FIELD_COLUMNS, 'phone_key', 'opted_out_at'] as const;

/** Sets the columns that are not undefined. */
export const updateContact = (
  trx: Db,
  tenantId: number,
  id: number,
  fields: ContactUpdate,
): Promise<ContactRow | undefined> =>
  trx
    .updateTable('contacts')
    .set(Object.fromEntries(UPDATABLE.map(column => [column, fields[column]])))
    .set({ updated_at: transactionTime })
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .returning(CONTACT_COLUMNS)
    .$narrowType<Typed>()
    .executeTakeFirst();

/** Unassigns a staff member from at most `limit` contacts. */
export const unassignSome = (trx: Db, tenantId: number, staffId: number, limit: number): Promise<ContactRow[]> =>
  trx
    .updateTable('contacts as c')
    .set({ assigned_id: null, updated_at: transactionTime })
    .where('c.tenant_id', '=', tenantId)
    .where('c.id', '=', eb =>
      anyIn(
        eb
          .selectFrom('contacts')
          .select('id')
          .where('tenant_id', '=', tenantId)
          .where('assigned_id', '=', staffId)
          .orderBy('id')
          .limit(limit)
          .forUpdate(),
      ),
    )
    .returning(COLUMNS_OF_C)
    .$narrowType<Typed>()
    .execute();
