import { CodedError } from '../../core/errors.ts';
import { EVENT_RESOURCES, EVENT_TYPES, type EventType, resourceOf } from '../../core/events.ts';
import { inputId, requireUuid } from '../../core/global-ids.ts';
import { callerOf } from '../../core/principal.ts';
import type { Scope } from '../../core/scopes.ts';
import type { Db } from '../../database/database.ts';
import type { EventFilter } from '../../events/bus.ts';
import type { Facet, FacetName } from '../../events/facets.sql.ts';
import { builder } from '../../schema/builder.ts';
import type { Context } from '../../schema/context.ts';
import { EventTypeEnum } from '../../schema/event-types.ts';
import { survivorIds } from '../contacts/merging/former-ids.ts';
import { currentConversationIds } from '../conversations/former-ids.ts';

/** A global id or bare key; null if no object has it. */
type Id = string | number | null | undefined;

interface EventFilterInput extends Partial<Record<FacetName, readonly Id[] | null | undefined>> {
  readonly types?: readonly EventType[] | null | undefined;
}

/** The type whose ids a facet takes. */
const NODES: Readonly<Record<FacetName, string>> = {
  contactIds: 'Contact',
  conversationIds: 'Conversation',
  channelIds: 'Channel',
  messageIds: 'Message',
  campaignIds: 'Campaign',
  endpointIds: 'WebhookEndpoint',
  assigneeIds: 'StaffMember',
};

export const EventFilterType = builder.inputRef<EventFilterInput>('EventFilter').implement({
  description: 'Events that meet all of these conditions, by what an object was before or after the change.',
  fields: t => ({
    types: t.field({
      type: [EventTypeEnum],
      description:
        'Of one of these types. Requires the scope of each. Without them: all types that the token may read, which requires `events:read`.',
    }),
    contactIds: t.idList({
      description:
        'About one of these contacts. The id of one that was merged away also selects events of the contact that it is part of when the list or stream begins.',
    }),
    conversationIds: t.idList({
      description:
        'In one of these conversations. The id of one that a merge folded into another one also selects events of that one.',
    }),
    channelIds: t.idList({ description: 'On one of these channels.' }),
    messageIds: t.idList({ description: 'About one of these messages.' }),
    campaignIds: t.idList({ description: 'About one of these campaigns.' }),
    endpointIds: t.idList({ description: 'About one of these webhook endpoints, or deliveries to them.' }),
    assigneeIds: t.field({
      type: t.listRef('ID', { required: false }),
      description:
        'About conversations and contacts that are or were assigned to one of these staff members; null: unassigned.',
    }),
  }),
});

/** Any of these scopes allows reading events; which types are delivered depends on the scopes. */
export const EVENT_SCOPES: readonly Scope[] = [...new Set<Scope>(['events:read', ...Object.values(EVENT_RESOURCES)])];

/** What merges have made of former ids. These stay in the facet, because the event of the merge has them. */
const CURRENT_IDS: Partial<
  Record<FacetName, (db: Db, tenantId: number, ids: readonly number[]) => Promise<readonly number[]>>
> = {
  contactIds: survivorIds,
  conversationIds: currentConversationIds,
};

/** @throws INSUFFICIENT_SCOPE, VALIDATION_ERROR for text that is no id */
export async function eventFilter(context: Context, input: EventFilterInput | null | undefined): Promise<EventFilter> {
  const { tenant, scopes } = callerOf(context);
  const requested = (Object.keys(NODES) as FacetName[]).flatMap((name): Facet[] => {
    const ids = input?.[name];
    return ids ? [{ name, ids: new Set(ids.map(id => keyOf(tenant.id, name, id))) }] : [];
  });
  const types = readableTypes(scopes, input?.types);
  const facets = requested.map(async ({ name, ids }): Promise<Facet> => {
    const current = await CURRENT_IDS[name]?.(context.db.read, tenant.id, [...ids].map(Number));
    return { name, ids: new Set([...ids, ...(current ?? []).map(String)]) };
  });
  return { types, facets: await Promise.all(facets) };
}

/** The same for the events of one contact, whatever contacts the input names. */
export async function eventFilterOf(
  context: Context,
  contactId: number,
  input: EventFilterInput | null | undefined,
): Promise<EventFilter> {
  const { types, facets = [] } = await eventFilter(context, { ...input, contactIds: null });
  return { types, facets: [...facets, { name: 'contactIds', ids: new Set([String(contactId)]) }] };
}

function keyOf(tenantId: number, name: FacetName, id: Id): string | null {
  if (id == null) return null;
  if (name === 'messageIds') return requireUuid(tenantId, NODES[name], String(id));
  return String(inputId(tenantId, NODES[name], String(id), `filter.${name}`));
}

const scopeOf = (type: EventType): Scope => EVENT_RESOURCES[resourceOf(type)];

/** Named types that the token may not read are an error, not silence. */
export function readableTypes(
  scopes: ReadonlySet<string>,
  types: readonly EventType[] | null | undefined,
): ReadonlySet<EventType> {
  const required = types ? [...new Set(types.map(scopeOf))].sort() : (['events:read'] as const);
  const readable = EVENT_TYPES.filter(type => scopes.has(scopeOf(type)));
  const lacks = required.filter(scope => !scopes.has(scope));
  if (lacks.length > 0 || readable.length === 0)
    throw new CodedError('INSUFFICIENT_SCOPE', `These events need the scope ${required.join(', ')}.`, {
      details: { required: lacks.length > 0 ? lacks : [...new Set(EVENT_TYPES.map(scopeOf))], granted: [...scopes] },
    });
  return new Set(types ?? readable);
}
