import { notFound } from '../../core/errors.ts';
import { numericId } from '../../core/global-ids.ts';
import { tenantOf } from '../../core/principal.ts';
import { builder } from '../../schema/builder.ts';
import { laneOf, OUTBOX } from '../messages/dispatch/lane.ts';
import type { ChannelRow } from './channel.ts';
import { setPaused } from './pause.ts';
import { getChannels, listChannels } from './store.ts';

const ChannelStatus = builder.enumType('ChannelStatus', {
  description: 'Whether a channel sends messages.',
  values: {
    ACTIVE: { value: 'active', description: 'The channel sends messages.' },
    PAUSED: {
      value: 'paused',
      description:
        'Sending is paused because the network rejected its credentials or restricted it; see `statusReason`. Use resumeChannel once that is resolved.',
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
  loadMany: async (ids, context) => {
    if (!context.principal?.scopes.has('channels:read')) return ids.map(() => undefined);
    const rows = await getChannels(context.db.read, tenantOf(context), ids.map(Number).filter(Number.isSafeInteger));
    return ids.map(id => rows.find(row => row.id === Number(id)));
  },
  fields: t => ({
    databaseId: t.field({
      type: 'BigInt',
      description: 'Numeric id, as used by the REST API.',
      resolve: channel => channel.id,
    }),
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

builder.queryFields(t => ({
  channels: t.field({
    type: [Channel],
    description: "Lists the tenant's channels.",
    authScopes: { scope: 'channels:read' },
    resolve: (_root, _args, context) => listChannels(context.db.read, tenantOf(context)),
  }),
  channel: t.field({
    type: Channel,
    nullable: true,
    description: 'Returns one channel. Errors: NOT_FOUND.',
    authScopes: { scope: 'channels:read' },
    args: { id: t.arg.id({ required: true, description: 'Global id or databaseId of the channel.' }) },
    resolve: async (_root, { id }, context) => {
      const [channel] = await getChannels(context.db.read, tenantOf(context), [numericId('Channel', id)]);
      if (!channel) throw notFound('Channel');
      return channel;
    },
  }),
}));

builder.mutationField('resumeChannel', t =>
  t.field({
    type: Channel,
    description: 'Resumes a paused channel and sends its waiting messages. Errors: NOT_FOUND.',
    authScopes: { scope: 'channels:write' },
    args: { id: t.arg.id({ required: true, description: 'Global id or databaseId of the channel.' }) },
    resolve: async (_root, { id }, context) => {
      const channel = await setPaused(context, tenantOf(context), numericId('Channel', id), null);
      context.lanes.wake(OUTBOX, laneOf(tenantOf(context), channel.id));
      return channel;
    },
  }),
);
