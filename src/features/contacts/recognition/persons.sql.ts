import { sql } from 'kysely';
import type { Db } from '../../../database/database.ts';
import { ALL_COLUMNS, WEIGHT } from '../columns.ts';
import type { ContactRow } from '../contact.ts';
import type { UserId } from './evidence.ts';
import type { IdentityKind } from './person.ts';

export interface StoredPerson {
  readonly id: number;
  readonly phone: string | null;
  readonly phone_key: string | null;
  readonly is_nameless: boolean;
  readonly weight: number;
  readonly identities: readonly StoredIdentity[] | null;
  /** Other numbers that the tenant knows the contact by: those of contacts that were merged into it. */
  readonly second_phones: readonly string[] | null;
  /** Contacts whose merge with this one an operator has undone. */
  readonly apart: readonly number[] | null;
}

export interface StoredIdentity {
  readonly id: number;
  readonly kind: IdentityKind;
  readonly portfolio: string;
  readonly value: string;
  readonly wa_id: string | null;
  readonly started_ms: number;
  readonly ended_ms: number | null;
}

/**
 * Loads the contacts that have or had any of the identities, each with all identities that the network reported, and locks them
 * against merging and deletion. The plan does not depend on statistics: the lateral joins have one by key (`value = any(…)` read all
 * 100,000 identities of a tenant with the statistics of an empty table), and the tenant is no constant to the planner, which expects
 * no rows of one that is newer than the statistics, and then takes any index that begins with it (50 ms for 20 persons among 1,000).
 */
export async function loadPersons(
  db: Db,
  tenantId: number,
  wanted: {
    readonly userIds: readonly UserId[];
    readonly waIds: readonly string[];
    readonly phoneKeys: readonly string[];
    readonly phones: readonly string[];
  },
): Promise<StoredPerson[]> {
  const { rows } = await sql<StoredPerson>`
    with t as materialized (
      select ${tenantId}::bigint as tenant_id
    ), wanted as materialized (
      select i.contact_id as id
      from t cross join unnest(${wanted.userIds.map(id => id.value)}::text[], ${wanted.userIds.map(id => id.portfolio)}::text[]) as u (value, portfolio)
      cross join lateral (
        select i.contact_id from contact_identities i
        where i.tenant_id = t.tenant_id and i.value = u.value and i.kind = 'user_id' and i.portfolio = u.portfolio offset 0) i
      union
      select i.contact_id from t cross join unnest(${wanted.waIds}::text[]) as n (value)
      cross join lateral (
        select i.contact_id from contact_identities i
        where i.tenant_id = t.tenant_id and i.value = n.value and i.kind = 'wa_id' offset 0) i
      union
      select c.id from t cross join unnest(${wanted.phoneKeys}::text[]) as k (key)
      cross join lateral (
        select c.id from contacts c where c.tenant_id = t.tenant_id and c.phone_key = k.key offset 0) c
      union
      select i.contact_id from t cross join unnest(${wanted.phones}::text[]) as p (value)
      cross join lateral (
        select i.contact_id from contact_identities i
        where i.tenant_id = t.tenant_id and i.value = p.value and i.kind = 'phone' and i.ended_at is null offset 0) i
    )
    select c.id, c.phone, c.phone_key, c.firstname = '' and c.lastname = '' as is_nameless, ${sql.raw(WEIGHT)} as weight,
      (select json_agg(json_build_object('id', i.id, 'kind', i.kind, 'portfolio', i.portfolio, 'value', i.value, 'wa_id', i.wa_id,
         'started_ms', extract(epoch from i.started_at) * 1000, 'ended_ms', extract(epoch from i.ended_at) * 1000) order by i.id)
       from contact_identities i where i.tenant_id = c.tenant_id and i.contact_id = c.id and i.kind <> 'phone') as identities,
      (select json_agg(i.value) from contact_identities i
       where i.tenant_id = c.tenant_id and i.contact_id = c.id and i.kind = 'phone' and i.ended_at is null and i.value <> c.phone) as second_phones,
      (select json_agg(m.former_id) from contact_merges m
       where m.tenant_id = c.tenant_id and m.contact_id = c.id and m.undone_at is not null) as apart
    from t cross join contacts c where c.tenant_id = t.tenant_id and c.id = any(array(select w.id from wanted w))
    order by c.id for key share of c`.execute(db);
  return rows;
}

/**
 * Each by its key: without statistics the planner expects so few contacts of a tenant that it reads all of them (3.8 instead of 0.04 ms).
 * @returns those of the contacts that exist
 */
export async function listExisting(db: Db, tenantId: number, ids: readonly number[]): Promise<ReadonlySet<number>> {
  const { rows } = await sql<{ id: number }>`
    select c.id from unnest(${ids}::bigint[]) as r (id)
    cross join lateral (select c.id from contacts c where c.tenant_id = ${tenantId} and c.id = r.id offset 0) c`.execute(
    db,
  );
  return new Set(rows.map(({ id }) => id));
}

export interface PersonUpdate {
  readonly id: number;
  readonly phone: string | null;
  readonly phone_key: string | null;
  /** Written if the contact still has no name; null: none. */
  readonly firstname: string | null;
  readonly lastname: string | null;
  /** Whether the change gets an event; its row is then returned. */
  readonly is_reported: boolean;
}

/** Writes numbers and names of contacts, with the plan of `loadPersons`. @returns those with `is_reported` */
export async function updatePersons(
  trx: Db,
  tenantId: number,
  persons: readonly PersonUpdate[],
): Promise<ContactRow[]> {
  if (persons.length === 0) return [];
  const { rows } = await sql<ContactRow>`
    with t as materialized (
      select ${tenantId}::bigint as tenant_id
    ), r as materialized (
      select * from jsonb_to_recordset(${JSON.stringify(persons)}::jsonb) as r (id bigint, phone text, phone_key text,
        firstname text, lastname text, is_reported boolean)
    ), after as (
      update contacts c set phone = r.phone, phone_key = r.phone_key,
        firstname = case when c.firstname = '' and c.lastname = '' then coalesce(r.firstname, '') else c.firstname end,
        lastname = case when c.firstname = '' and c.lastname = '' then coalesce(r.lastname, '') else c.lastname end,
        updated_at = case when r.is_reported then now() else c.updated_at end
      from t, r where c.tenant_id = t.tenant_id and c.id = r.id and c.id = any(${persons.map(person => person.id)}::bigint[])
      returning c.*, r.is_reported
    )
    select ${sql.raw(ALL_COLUMNS)} from after c where c.is_reported order by c.id`.execute(trx);
  return rows;
}

export interface IdentityWrite {
  readonly id: number | null;
  readonly contact_id: number;
  readonly kind: IdentityKind;
  readonly portfolio: string;
  readonly value: string;
  readonly wa_id: string | null;
  readonly started_at: string;
  readonly ended_at: string | null;
}

/** Updates stored identities, then adds new ones, because an identity that one contact loses may be added to another. */
export async function writeIdentities(trx: Db, tenantId: number, rows: readonly IdentityWrite[]): Promise<void> {
  const [stored, added] = [rows.filter(row => row.id !== null), rows.filter(row => row.id === null)];
  if (stored.length > 0)
    await sql`
      update contact_identities i set contact_id = r.contact_id, wa_id = r.wa_id, ended_at = r.ended_at
      from jsonb_to_recordset(${JSON.stringify(stored)}::jsonb) as r (id bigint, contact_id bigint, wa_id text, ended_at timestamptz)
      where i.tenant_id = ${tenantId} and i.id = r.id`.execute(trx);
  if (added.length > 0)
    await sql`
      insert into contact_identities (tenant_id, contact_id, kind, portfolio, value, wa_id, started_at, ended_at)
      select ${tenantId}::bigint, r.contact_id, r.kind, r.portfolio, r.value, r.wa_id, r.started_at, r.ended_at
      from jsonb_to_recordset(${JSON.stringify(added)}::jsonb) as r (contact_id bigint, kind text, portfolio text, value text, wa_id text,
        started_at timestamptz, ended_at timestamptz)
      order by r.contact_id, r.kind, r.value`.execute(trx);
}

interface SharedUserId {
  readonly one: number;
  readonly other: number;
}

/** Pairs of contacts that have the same user id in two portfolios, without those that an operator has separated. */
export async function findShared(db: Db, tenantId: number, from: string, to: string): Promise<SharedUserId[]> {
  const { rows } = await sql<SharedUserId>`
    select distinct a.contact_id as one, b.contact_id as other
    from contact_identities a
    join contact_identities b on b.tenant_id = ${tenantId} and b.kind = 'user_id' and b.value = a.value and b.portfolio = ${to}
    where a.tenant_id = ${tenantId} and a.kind = 'user_id' and a.portfolio = ${from} and a.contact_id <> b.contact_id
      and not exists (
        select from contact_merges m
        where m.tenant_id = ${tenantId} and m.undone_at is not null
          and (m.contact_id, m.former_id) in ((a.contact_id, b.contact_id), (b.contact_id, a.contact_id)))
    order by one, other`.execute(db);
  return rows;
}
