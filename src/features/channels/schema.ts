import { tenantOf } from '../../core/principal.ts';
import { type ListDefinition, listColumns, readPage } from '../../database/list.ts';
import { builder } from '../../schema/builder.ts';
import { databaseId } from '../../schema/database-id.ts';
import { DATES, listQueries } from '../../schema/list-queries.ts';
import { BooleanFilter, enumFilter, StringFilter } from '../../schema/lists.ts';
import { nodesByNumber } from '../../schema/nodes.ts';
import type { PublicChannel } from './channel.ts';
import { CHANNEL_COLUMNS, getChannels } from './store.ts';

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

export const Channel = builder.objectRef<PublicChannel>('Channel');

builder.node(Channel, {
  name: 'Channel',
  description: 'A WhatsApp business phone number that sends and receives messages.',
  id: { resolve: channel => channel.id },
  brandLoadedObjects: true,
  loadManyWithoutCache: nodesByNumber('channels:read', getChannels),
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
    status: t.expose('status', {
      type: ChannelStatus,
      description: 'Whether the channel sends messages.',
    }),
    statusReason: t.exposeString('status_reason', {
      nullable: true,
      description: 'Why the channel does not send; null if it does.',
    }),
    createdAt: t.expose('created_at', { type: 'DateTime', description: 'Time at which the channel was connected.' }),
    updatedAt: t.expose('updated_at', { type: 'DateTime', description: 'Time of the last change.' }),
  }),
});

const column = listColumns('channels', 'c');
const id = column('id', 'bigint');
const name = column('name', 'text');
const dates = { createdAt: column('created_at', 'timestamptz'), updatedAt: column('updated_at', 'timestamptz') };

const CHANNELS: ListDefinition = {
  from: 'channels c',
  tenantColumn: 'c.tenant_id',
  filters: {
    id: { ...id, node: 'Channel' },
    name,
    phoneNumberId: column('phone_number_id', 'text'),
    wabaId: column('waba_id', 'text'),
    status: column('status', 'text'),
    isDefault: column('is_default', 'boolean'),
    ...dates,
  },
  sorts: { id, name, ...dates },
  id,
  defaultOrder: [{ column: id, descending: false }],
  search: `search_fold(c.name || ' ' || c.verified_name || ' ' || c.display_phone_number)`,
};

const COLUMNS = CHANNEL_COLUMNS.map(one => `c.${one}` as const);

listQueries(Channel, {
  list: 'channels',
  one: 'channel',
  noun: 'channel',
  plural: 'channels',
  description: "Lists the account's channels. `search` matches names and numbers.",
  scope: 'channels:read',
  filter: t => ({
    name: t.field({ type: StringFilter, description: 'Display name of the channel.' }),
    phoneNumberId: t.field({ type: StringFilter, description: 'Id of the phone number on the network.' }),
    wabaId: t.field({ type: StringFilter, description: 'Id of the WhatsApp Business Account (WABA) on the network.' }),
    status: t.field({ type: enumFilter(ChannelStatus), description: 'Whether the channel sends messages.' }),
    isDefault: t.field({ type: BooleanFilter, description: 'Whether it is the default channel.' }),
  }),
  order: {
    NAME: { value: 'name', description: 'Display name of the channel.' },
  },
  idOrder: 'Order of connection.',
  dates: { createdAt: 'Time at which the channel was connected.', updatedAt: DATES.updatedAt },
  page: (context, args) => readPage<PublicChannel>(context.db.read, CHANNELS, tenantOf(context), args, COLUMNS),
  get: getChannels,
});
