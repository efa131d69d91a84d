import type { Filter } from '../../../core/list-args.ts';
import type { Audience } from './audience.ts';

/** A condition on contacts (`c`) with its parameters, of which `$1` is the tenant. */
export interface Condition {
  readonly text: string;
  readonly values: readonly unknown[];
}

/**
 * The contacts (`c`) of an audience.
 * @param filterOf the condition of a filter
 */
export function membersOf(tenantId: number, audience: Audience, filterOf: (filter: Filter) => Condition): Condition {
  if ('filter' in audience) return filterOf(audience.filter);
  const tenant = 'c.tenant_id = $1';
  if ('groupIds' in audience)
    return {
      text: `${tenant} and exists (select from contact_groups g where g.tenant_id = $1 and g.contact_id = c.id and g.group_id = any($2::bigint[]))`,
      values: [tenantId, audience.groupIds],
    };
  if ('contactIds' in audience)
    return {
      text: `${tenant} and c.id = any(array(select coalesce(m.contact_id, i.id) from unnest($2::bigint[]) as i (id)
        left join contact_merges m on m.tenant_id = $1 and m.former_id = i.id and m.undone_at is null))`,
      values: [tenantId, audience.contactIds],
    };
  return {
    text: `${tenant} and exists (select from campaign_list_rows l where l.tenant_id = $1 and l.list_id = $2::bigint and l.contact_id = c.id)`,
    values: [tenantId, audience.listId],
  };
}
