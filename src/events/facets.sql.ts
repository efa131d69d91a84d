import { type RawBuilder, sql } from 'kysely';

/*
 * Facets: the objects that an event concerns. Each is declared once and evaluated both in memory, on the events that the tailer fans
 * out, and in the statements that read the log, because a stream starts with the log and continues with the tailer.
 */

export const FACET_NAMES = [
  'contactIds',
  'conversationIds',
  'channelIds',
  'messageIds',
  'campaignIds',
  'endpointIds',
  'assigneeIds',
] as const;
export type FacetName = (typeof FACET_NAMES)[number];

/** Where the payload of an event names objects of a facet; `previous` holds the values before the change. */
const PATHS: Readonly<Record<FacetName, readonly (readonly string[])[]>> = {
  // Subscribers to a contact that was merged away still receive the event; `contact_id` is that of the survivor.
  contactIds: [['former_id']],
  conversationIds: [],
  channelIds: [
    ['channel', 'id'],
    ['message', 'channel_id'],
    ['conversation', 'channel_id'],
    ['group_chat', 'channel_id'],
    ['previous', 'channel_id'],
  ],
  messageIds: [['message', 'id'], ['chat_message_id'], ['reply_chat_message_id'], ['otp', 'chat_message_id']],
  campaignIds: [['campaign', 'id']],
  endpointIds: [
    ['webhook', 'id'],
    ['delivery', 'endpoint_id'],
  ],
  assigneeIds: [
    ['contact', 'assigned_id'],
    ['conversation', 'assignee_id'],
    ['previous', 'assigned_id'],
    ['previous', 'assignee_id'],
  ],
};

/** Columns of the log, which follow merges of contacts and conversations. */
const COLUMNS: Partial<Record<FacetName, 'contact_id' | 'conversation_id'>> = {
  contactIds: 'contact_id',
  conversationIds: 'conversation_id',
};

/** The ids of a facet, as text, any of which an event must have; null: the object has none, for example no assignee. */
export interface Facet {
  readonly name: FacetName;
  readonly ids: ReadonlySet<string | null>;
}

interface FacetedEvent {
  readonly contact_id: number | null;
  readonly conversation_id: number | null;
  readonly payload: Readonly<Record<string, unknown>>;
}

/** Whether an event has one of the ids of each facet. */
export const hasFacets = (event: FacetedEvent, facets: readonly Facet[]): boolean =>
  facets.every(({ name, ids }) => {
    const column = COLUMNS[name];
    if (column !== undefined && event[column] !== null && ids.has(String(event[column]))) return true;
    return PATHS[name].some(path => {
      const value = valueAt(event.payload, path);
      return value !== undefined && ids.has(value === null ? null : String(value));
    });
  });

function valueAt(payload: FacetedEvent['payload'], path: readonly string[]): unknown {
  let value: unknown = payload;
  for (const key of path) {
    if (value === null || typeof value !== 'object') return undefined;
    value = (value as Readonly<Record<string, unknown>>)[key];
  }
  return value;
}

/** The condition of `hasFacets` in SQL, on events (`e`). */
export const facetConditions = (facets: readonly Facet[]): RawBuilder<boolean>[] => facets.map(conditionOf);

function conditionOf({ name, ids }: Facet): RawBuilder<boolean> {
  const known = [...ids].filter(id => id !== null);
  const column = COLUMNS[name];
  const conditions: RawBuilder<unknown>[] = PATHS[name].map(path => atPath(path, known, ids.has(null)));
  if (name === 'contactIds') {
    // With its type, so that both the index of merges and that of contacts can be used.
    const [former] = conditions;
    conditions.splice(0, 1, sql`(e.type = 'contact.merged' and ${former})`);
  }
  if (column !== undefined) conditions.unshift(sql`${sql.ref(`e.${column}`)} = any(${known}::bigint[])`);
  return sql`(${sql.join(conditions, sql` or `)})`;
}

function atPath(path: readonly string[], ids: readonly string[], orNull: boolean): RawBuilder<unknown> {
  const keys = sql.lit(`{${path.join(',')}}`);
  const isKnown = sql`e.payload #>> ${keys} = any(${ids}::text[])`;
  return orNull ? sql`${isKnown} or e.payload #> ${keys} = 'null'::jsonb` : isKnown;
}
