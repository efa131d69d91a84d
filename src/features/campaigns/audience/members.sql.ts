import { sql } from 'kysely';
import type { Filter } from '../../../core/list-args.ts';
import type { Db } from '../../../database/database.ts';
import { PLANNED_AT_EACH_CALL } from '../../../database/statements.ts';
import type { Audience } from './audience.ts';

/** A condition on contacts (`c`) with its parameters, of which `$1` is the tenant. */
export interface Condition {
  readonly text: string;
  readonly values: readonly unknown[];
}

/** The contacts of an audience, as parts of statements with common parameters, of which `$1` is the tenant. */
export interface Members {
  readonly values: readonly unknown[];
  /** Whether their statements are planned without the values; see `planMembers`. */
  readonly isPlannedForAll: boolean;
  /** After `from`: the contacts (`c`), each once. */
  readonly contacts: string;
  /** Selects ids after one, in ascending order; some twice. Reads no more than `limit` of each group. */
  idsAfter(after: string, limit: string): string;
}

/**
 * The contacts of an audience. Groups and lists are read by their own index, and contacts by key behind offset 0: as a semi-join, with
 * statistics that do not know the tenant's rows yet, all members were read again for each contact (20,000 members: 60 s).
 * @param filterOf the condition of a filter
 */
export function membersOf(tenantId: number, audience: Audience, filterOf: (filter: Filter) => Condition): Members {
  if ('filter' in audience) return membersWhere(filterOf(audience.filter));
  if ('contactIds' in audience)
    return membersIn(
      [tenantId, audience.contactIds],
      (after, limit) => `select c.id from unnest($2::bigint[]) as i (id)
        left join lateral (
          select m.contact_id from contact_merges m
          where m.tenant_id = $1 and m.former_id = i.id and m.undone_at is null offset 0) m on true
        cross join lateral (
          select c.id from contacts c where c.tenant_id = $1 and c.id = coalesce(m.contact_id, i.id) offset 0) c
        where c.id > ${after} order by c.id limit ${limit}`,
    );
  if ('groupIds' in audience)
    return membersIn(
      [tenantId, audience.groupIds],
      (after, limit) => `select m.id from unnest($2::bigint[]) as i (group_id)
        cross join lateral (
          select g.contact_id as id from contact_groups g
          where g.tenant_id = $1 and g.group_id = i.group_id and g.contact_id > ${after} order by g.contact_id limit ${limit}) m
        order by m.id limit ${limit}`,
    );
  return membersIn(
    [tenantId, audience.listId],
    (after, limit) => `select l.contact_id as id from campaign_list_rows l
      where l.tenant_id = $1 and l.list_id = $2::bigint and l.contact_id > ${after} order by l.contact_id limit ${limit}`,
  );
}

/** The contacts that meet a condition. */
export const membersWhere = ({ text, values }: Condition): Members => ({
  values,
  isPlannedForAll: !text.includes(PLANNED_AT_EACH_CALL),
  contacts: `contacts c where ${text}`,
  idsAfter: (after, limit) =>
    `select c.id from contacts c where ${text} and c.id > ${after} order by c.id limit ${limit}`,
});

const membersIn = (values: readonly unknown[], idsAfter: Members['idsAfter']): Members => ({
  values,
  isPlannedForAll: true,
  contacts: `(select distinct m.id from (${idsAfter('0', 'null')}) m) m
    cross join lateral (select * from contacts c where c.tenant_id = $1 and c.id = m.id offset 0) c`,
  idsAfter,
});

/**
 * Makes the transaction plan the statements of an audience for any tenant: for one of which statistics know no row, every index of contacts
 * costs the same, and a contact was found by reading all of the tenant's; a filter by group read all members for each contact. Only searches for
 * text depend on their values.
 */
export async function planMembers(trx: Db, { isPlannedForAll }: Members): Promise<void> {
  if (isPlannedForAll) await sql`select set_config('plan_cache_mode', 'force_generic_plan', true)`.execute(trx);
}
