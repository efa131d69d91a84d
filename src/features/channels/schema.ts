import { builder } from '../../builder.ts';
import { notFound } from '../../errors.ts';
import { numericId } from '../../global-ids.ts';
import { tenantOf } from '../caller.ts';
import { laneOf, OUTBOX } from '../messages/lane.ts';
import type { ChannelRow } from './channel.ts';
import { setPaused } from './pause.ts';
import { getChannels, listChannels } from './store.ts';

const ChannelStatus = builder.enumType('ChannelStatus', {
  description: 'Whether a channel sends.',
  values: {
    ACTIVE: { value: 'active', description: 'It sends.' },
    PAUSED: {
      value: 'paused',
      description: 'It waits for a person: the network refused its credentials or restricted it. See statusReason.',
    },
    DISCONNECTED: { value: 'disconnected', description: 'It was taken off.' },
  } as const,
});

export const Channel = builder.objectRef<ChannelRow>('Channel');

builder.node(Channel, {
  name: 'Channel',
  description: 'A business number on the messaging network.',
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
      description: 'The number that REST knows it by.',
      resolve: channel => channel.id,
    }),
    name: t.exposeString('name', { description: 'Its name.' }),
    phoneNumberId: t.exposeString('phone_number_id', { description: "The network's id of the number." }),
    wabaId: t.exposeString('waba_id', { description: "The network's id of the business account." }),
    displayPhoneNumber: t.exposeString('display_phone_number', { description: 'The number as people see it.' }),
    verifiedName: t.exposeString('verified_name', { description: 'The name that people see.' }),
    messagesPerSecond: t.exposeInt('messages_per_second', { description: 'How fast it sends at the most.' }),
    isDefault: t.exposeBoolean('is_default', { description: 'Used where no channel is named.' }),
    isSandbox: t.exposeBoolean('is_sandbox', { description: 'Talks to an emulator, not to people.' }),
    status: t.field({ type: ChannelStatus, description: 'Whether it sends.', resolve: channel => channel.status }),
    statusReason: t.exposeString('status_reason', { nullable: true, description: 'Why it does not send.' }),
    createdAt: t.expose('created_at', { type: 'DateTime', description: 'When it was connected.' }),
    updatedAt: t.expose('updated_at', { type: 'DateTime', description: 'When it was last changed.' }),
  }),
});

builder.queryFields(t => ({
  channels: t.field({
    type: [Channel],
    description: 'The channels of the tenant.',
    authScopes: { scope: 'channels:read' },
    resolve: (_root, _args, context) => listChannels(context.db.read, tenantOf(context)),
  }),
  channel: t.field({
    type: Channel,
    nullable: true,
    description: 'One channel, by global id or databaseId.',
    authScopes: { scope: 'channels:read' },
    args: { id: t.arg.id({ required: true, description: 'Its global id or databaseId.' }) },
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
    description: 'Lets a paused channel go on, with all that waits for it.',
    authScopes: { scope: 'channels:write' },
    args: { id: t.arg.id({ required: true, description: 'Its global id or databaseId.' }) },
    resolve: async (_root, { id }, context) => {
      const channel = await setPaused(context, tenantOf(context), numericId('Channel', id), null);
      context.jobs.wake(OUTBOX, laneOf(tenantOf(context), channel.id));
      return channel;
    },
  }),
);
