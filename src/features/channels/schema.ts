import { lookupId } from '../../core/global-ids.ts';
import { tenantOf } from '../../core/principal.ts';
import { builder } from '../../schema/builder.ts';
import { databaseId } from '../../schema/database-id.ts';
import {
  BooleanFilter,
  connectionOf,
  DateTimeFilter,
  enumFilter,
  filterOf,
  IDFilter,
  listArgs,
  orderOf,
  StringFilter,
} from '../../schema/lists.ts';
import { nodesByNumber } from '../../schema/nodes.ts';
import type { ChannelRow } from './channel.ts';
import { channelPage } from './list.ts';
import { getChannels } from './store.ts';

const ID = 'Global id or databaseId of the channel.';

const ChannelStatus = builder.enumType('ChannelStatus', {
  description: 'Whether a channel sends messages.',
  values: {
    ACTIVE: { value: 'active', description: 'The channel sends messages.' },
    PAUSED: {
      value: 'paused',
      description:
        'Messages wait: somebody paused the channel, or the network rejected its credentials or restricted it; see `statusReason`. `resumeChannel` sends them.',
    },
    DISCONNECTED: { value: 'disconnected', description: 'The channel was disconnected from this gateway.' },
  } as const,
});

export const Channel = builder.objectRef<ChannelRow>('Channel');

builder.node(Channel, {
  name: 'Channel',
  description: 'A WhatsApp business phone number that sends and receives messages.',
  id: { resolve: channel => channel.id },
  brandLoadedObjects: true,
  loadMany: nodesByNumber('channels:read', getChannels),
  fields: t => ({
    databaseId: databaseId(t),
    name: t.exposeString('name', { description: 'Display name of the channel.' }),
    phoneNumberId: t.exposeString('phone_number_id', { description: 'Id of the phone number on the network.' }),
    wabaId: t.exposeString('waba_id', { description: 'Id of the WhatsApp Business Account (WABA) on the network.' }),
    portfolioId: t.exposeString('portfolio_id', {
      nullable: true,
      description:
        'Id of the business portfolio that owns the account. Business-scoped user ids are unique within one portfolio. Null if unknown.',
    }),
    displayPhoneNumber: t.exposeString('display_phone_number', {
      description: 'Phone number in the format that people see.',
    }),
    verifiedName: t.exposeString('verified_name', {
      description: 'Business name that people see, as verified by the network.',
    }),
    messagesPerSecond: t.exposeInt('messages_per_second', {
      description: 'Maximum sending rate in messages per second.',
    }),
    isDefault: t.exposeBoolean('is_default', {
      description: 'Whether this channel sends messages for which no channel is given.',
    }),
    isSandbox: t.exposeBoolean('is_sandbox', {
      description: 'Whether the channel is connected to the emulator instead of WhatsApp.',
    }),
    status: t.field({
      type: ChannelStatus,
      description: 'Whether the channel sends messages.',
      resolve: channel => channel.status,
    }),
    statusReason: t.exposeString('status_reason', {
      nullable: true,
      description: 'Why the channel does not send; null if it does.',
    }),
    createdAt: t.expose('created_at', { type: 'DateTime', description: 'Time at which the channel was connected.' }),
    updatedAt: t.expose('updated_at', { type: 'DateTime', description: 'Time of the last change.' }),
  }),
});

const ChannelFilter = filterOf('Channel', 'channels', t => ({
  id: t.field({ type: IDFilter, description: 'Id of the channel.' }),
  name: t.field({ type: StringFilter, description: 'Display name of the channel.' }),
  phoneNumberId: t.field({ type: StringFilter, description: 'Id of the phone number on the network.' }),
  wabaId: t.field({ type: StringFilter, description: 'Id of the WhatsApp Business Account (WABA) on the network.' }),
  status: t.field({ type: enumFilter(ChannelStatus), description: 'Whether the channel sends messages.' }),
  isDefault: t.field({ type: BooleanFilter, description: 'Whether it is the default channel.' }),
  createdAt: t.field({ type: DateTimeFilter, description: 'Time at which the channel was connected.' }),
  updatedAt: t.field({ type: DateTimeFilter, description: 'Time of the last change.' }),
}));
const ChannelOrder = orderOf('Channel', 'channels', {
  ID: { value: 'id', description: 'Order of connection.' },
  NAME: { value: 'name', description: 'Display name of the channel.' },
  CREATED_AT: { value: 'createdAt', description: 'Time at which the channel was connected.' },
  UPDATED_AT: { value: 'updatedAt', description: 'Time of the last change.' },
});

builder.queryFields(t => ({
  channels: t.field({
    type: connectionOf('Channel', Channel),
    description: "Lists the account's channels. `search` matches names and numbers.",
    authScopes: { scope: 'channels:read' },
    args: { ...listArgs(ChannelFilter, ChannelOrder) },
    resolve: (_root, args, context) => channelPage(context, args),
  }),
  channel: t.field({
    type: Channel,
    nullable: true,
    description: 'Returns one channel; null if there is none.',
    authScopes: { scope: 'channels:read' },
    args: { id: t.arg.id({ required: true, description: ID }) },
    resolve: async (_root, { id }, context) => {
      const key = lookupId(tenantOf(context), 'Channel', id);
      return (key !== undefined && (await getChannels(context.db.read, tenantOf(context), [key]))[0]) || null;
    },
  }),
}));
