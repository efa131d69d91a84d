import { sql } from 'kysely';
import type { Db } from '../../../database/database.ts';
import type { ConsentCategory, ConsentState, LatestEntries, NewConsentEntry, PublicConsentEntry } from './consent.ts';

/** The latest entry of each category, by contact. Reads one row of the index per category. */
export async function latestEntries(
  db: Db,
  tenantId: number,
  contactIds: readonly number[],
): Promise<Map<number, LatestEntries>> {
  const { rows } = await sql<{
    contact_id: number;
    category: ConsentCategory;
    id: number;
    state: ConsentState;
    occurred_at: string;
  }>`
    select p.contact_id, k.category, e.id, e.state, e.occurred_at
    from unnest(${contactIds}::bigint[]) as p (contact_id)
    cross join (values ('all'), ('marketing'), ('utility')) as k (category)
    cross join lateral (
      select e.id, e.state, e.occurred_at from consent_entries e
      where e.tenant_id = ${tenantId} and e.contact_id = p.contact_id and e.category = k.category
      order by e.occurred_at desc, e.id desc limit 1) e`.execute(db);
  const latest = new Map<number, LatestEntries>();
  for (const { contact_id, category, ...entry } of rows)
    latest.set(contact_id, { ...latest.get(contact_id), [category]: entry });
  return latest;
}

/** Appends entries in the order given, without those that exist already, because the network delivers at least once. */
export async function insertEntries(
  trx: Db,
  tenantId: number,
  entries: readonly NewConsentEntry[],
): Promise<(PublicConsentEntry & { readonly contact_id: number })[]> {
  const values = entries.map(entry => ({
    contact_id: entry.contactId,
    category: entry.category,
    state: entry.state,
    source: entry.source,
    evidence: entry.evidence ?? null,
    author: entry.author ?? null,
    occurred_at: entry.occurredAt,
    is_undated: entry.isUndated ?? false,
  }));
  const { rows } = await sql<PublicConsentEntry & { contact_id: number }>`
    insert into consent_entries (tenant_id, contact_id, category, state, source, evidence, author, occurred_at)
    select ${tenantId}::bigint, r.contact_id, r.category, r.state, r.source, r.evidence, r.author, r.occurred_at
    from rows from (jsonb_to_recordset(${JSON.stringify(values)}::jsonb) as (contact_id bigint, category text, state text,
      source text, evidence text, author jsonb, occurred_at timestamptz, is_undated boolean))
      with ordinality as r (contact_id, category, state, source, evidence, author, occurred_at, is_undated, position)
    where not exists (
      select from consent_entries e
      where e.tenant_id = ${tenantId} and e.contact_id = r.contact_id and e.category = r.category
        and (r.is_undated or e.occurred_at = r.occurred_at::timestamptz(3)) and e.state = r.state and e.source = r.source
        and e.evidence is not distinct from r.evidence)
    order by r.position
    returning id, contact_id, category, state, source, evidence, occurred_at`.execute(trx);
  return rows.toSorted((a, b) => a.id - b.id);
}
