import { tenantOf } from '../../core/principal.ts';
import type { Scope } from '../../core/scopes.ts';
import { builder } from '../../schema/builder.ts';
import { databaseUuid } from '../../schema/database-id.ts';
import {
  BooleanFilter,
  connectionOf,
  DateTimeFilter,
  filterOf,
  IDFilter,
  listArgs,
  orderOf,
  StringFilter,
} from '../../schema/lists.ts';
import { findByUuid, nodesByUuid } from '../../schema/nodes.ts';
import { channelLoader } from '../channels/loaders.ts';
import { Channel } from '../channels/schema.ts';
import { type ChangeRow, getChanges, listChanges } from './changes-store.ts';

/** A change may contain messages. */
const SCOPES = ['channels:read', 'messages:read'] as const satisfies readonly Scope[];

const Reason = builder.enumType('NetworkChangeReason', {
  description: 'Why a change was not applied when it arrived.',
  values: {
    UNKNOWN_FIELD: { value: 'unknown_field', description: 'Parley does not know the field.' },
    UNREADABLE: { value: 'unreadable', description: 'The field is known, its content is not understood.' },
    MALFORMED: { value: 'malformed', description: 'The change does not have the structure of a webhook.' },
    FAILED: { value: 'failed', description: 'The change was understood, but applying it failed; see `error`.' },
  } as const,
});

const NetworkChange = builder.objectRef<ChangeRow>('NetworkChange');

builder.node(NetworkChange, {
  name: 'NetworkChange',
  description:
    'A change that the network reported and that could not be applied when it arrived. Changes that were applied are events.',
  id: { resolve: change => change.id },
  brandLoadedObjects: true,
  loadManyWithoutCache: nodesByUuid(SCOPES, getChanges),
  fields: t => ({
    databaseId: databaseUuid(t),
    field: t.exposeString('field', { description: 'Field of the webhook; empty if it had none.' }),
    channel: t.field({
      type: Channel,
      nullable: true,
      description: 'The channel; null if the change concerns several.',
      authScopes: { scope: 'channels:read' },
      resolve: ({ channel_id }, _args, context) =>
        channel_id === null ? null : channelLoader(context).load(channel_id),
    }),
    reason: t.expose('reason', { type: Reason, description: 'Why it was not applied.' }),
    error: t.exposeString('error', { nullable: true, description: 'What failed; null if nothing did.' }),
    isHandled: t.boolean({
      description: 'Whether it was applied since, after an upgrade or `parley webhooks reprocess`.',
      resolve: ({ handled_at }) => handled_at !== null,
    }),
    raw: t.expose('raw', {
      type: 'JSON',
      nullable: true,
      description: 'An entry of a webhook with only this change, as the network wrote it; null if it is not JSON.',
    }),
    receivedAt: t.expose('received_at', { type: 'DateTime', description: 'When the webhook arrived.' }),
  }),
});

const Filter = filterOf('NetworkChange', 'changes', t => ({
  id: t.field({ type: IDFilter, description: 'Id of the change.' }),
  field: t.field({ type: StringFilter, description: 'Field of the webhook.' }),
  channelId: t.field({ type: IDFilter, description: 'Id of the channel.' }),
  isHandled: t.field({ type: BooleanFilter, description: 'Whether it was applied since.' }),
  receivedAt: t.field({ type: DateTimeFilter, description: 'When the webhook arrived.' }),
}));
const Order = orderOf('NetworkChange', 'changes', {
  ID: { value: 'id', description: 'Order of processing.' },
  RECEIVED_AT: { value: 'receivedAt', description: 'When the webhook arrived.' },
});

builder.queryFields(t => ({
  networkChanges: t.field({
    type: connectionOf('NetworkChange', NetworkChange),
    description: 'Lists changes of the network that were not applied when they arrived, the latest first by default.',
    authScopes: { scope: SCOPES },
    args: { ...listArgs(Filter, Order, { search: false }) },
    resolve: (_root, args, context) => listChanges(context.db.read, tenantOf(context), args),
  }),
  networkChange: t.field({
    type: NetworkChange,
    nullable: true,
    description: 'Returns one change of the network; null if there is none.',
    authScopes: { scope: SCOPES },
    args: { id: t.arg.id({ required: true, description: 'Global id or databaseId of the change.' }) },
    resolve: (_root, { id }, context) => findByUuid(context, 'NetworkChange', id, getChanges),
  }),
}));
