import { type RawBuilder, sql } from 'kysely';
import { eventValue } from '../../database/expressions.ts';
import { CONVERSATION_COLUMNS } from './conversation.ts';

/** The tags of a conversation `v`. `float8`: the driver parses arrays of bigint as text. */
export const TAG_IDS = `array(
    select t.tag_id::float8 from conversation_tags t where t.tenant_id = v.tenant_id and t.conversation_id = v.id order by t.tag_id) as tag_ids`;

/** The columns of `PublicConversation` of a conversation `v`, for `select` and `returning`. */
export const PUBLIC_CONVERSATION = sql.raw(
  `${CONVERSATION_COLUMNS.map(column => `v.${column}`).join(', ')}, ${TAG_IDS}`,
);

/** A new conversation `v` as its events show it. */
export const NEW_CONVERSATION_JSON = sql`jsonb_build_object(${sql.join(
  CONVERSATION_COLUMNS.map(column => sql`${sql.lit(column)}, ${eventValue('v', column)}`),
)}, 'tag_ids', '[]'::jsonb)`;

/** The columns that `NEW_CONVERSATION_JSON` reads. */
export const CONVERSATION_ROW = sql.raw(CONVERSATION_COLUMNS.map(column => `v.${column}`).join(', '));

/** First assignee of a conversation: the staff member of its contact, else the account's default. */
export const firstAssignee = (tenantId: number, ofContact: RawBuilder<number | null>): RawBuilder<number | null> =>
  sql`coalesce(${ofContact}, (select n.default_assignee_id from tenants n where n.tenant_id = ${tenantId}))`;

/**
 * The id of a conversation, or of the one that merges have folded it into. The lateral join has one plan: a hash join would read all
 * merges of the tenant where statistics are of an empty table.
 * @param tag makes the SQL of the template
 */
const currentId = <Made>(
  tag: (texts: TemplateStringsArray, ...values: readonly unknown[]) => Made,
  tenantId: unknown,
  id: unknown,
): Made => tag`(
  with recursive f (id, depth) as (
    select ${id}::bigint, 0
    union all
    select n.kept_id, f.depth + 1 from f cross join lateral (
      select c.kept_id from conversation_merges c where c.tenant_id = ${tenantId} and c.former_id = f.id offset 0) n
  )
  select f.id from f order by f.depth desc limit 1)`;

/** The current id of a conversation, for kysely. */
export const currentConversationId = (tenantId: number, id: number | RawBuilder<number>): RawBuilder<number> =>
  currentId<RawBuilder<number>>(sql, tenantId, id);

/** The same as the text of a list, whose tenant is `$1`. */
export const currentConversation = (id: string): string => currentId(String.raw, '$1', id);
