import { requireId } from '../../core/global-ids.ts';
import { tenantOf } from '../../core/principal.ts';
import { builder, IDEMPOTENCY_KEY, type InputFields } from '../../schema/builder.ts';
import { entityPayload, mutation, payloadOf } from '../../schema/payload.ts';
import { connectOnce, disconnectOnce, pauseOnce, updateChannel } from './change.ts';
import type { PublicChannel } from './channel.ts';
import { MAX_CHANNEL_NAME, MAX_MESSAGES_PER_SECOND } from './connect.ts';
import { Channel } from './schema.ts';
import { MAX_REASON, reasonOf } from './status-reason.ts';

export const ChannelPayload = entityPayload('channel', Channel, 'The channel after the mutation.');

const PAUSED = 'Paused by the account.';
const DISCONNECTED = 'Disconnected by the account.';

const NAME = `Display name, 1 to ${MAX_CHANNEL_NAME} characters.`;
const RATE = `Maximum sending rate in messages per second, 1 to ${MAX_MESSAGES_PER_SECOND}.`;
const PORTFOLIO = 'Id of the business portfolio that owns the account, in digits.';
const SECRET = 'Stored encrypted, and never shown.';

export const channelIdFields = (t: InputFields) => ({
  id: t.id({ required: true, description: 'Global id or databaseId of the channel.' }),
  idempotencyKey: t.string({ description: IDEMPOTENCY_KEY }),
});

mutation('connectChannel', {
  description:
    'Connects a business number, after its credentials were tried on the network. Connecting a number again replaces its credentials and resumes it, with its history.',
  scope: 'channels:write',
  input: builder.inputType('ConnectChannelInput', {
    description: 'A business number with its credentials.',
    fields: t => ({
      name: t.string({ required: true, description: NAME }),
      phoneNumberId: t.string({ required: true, description: 'Id of the phone number on the network, in digits.' }),
      wabaId: t.string({ required: true, description: 'Id of the WhatsApp Business Account (WABA), in digits.' }),
      portfolioId: t.string({ description: `${PORTFOLIO} Default: as the network reports it.` }),
      accessToken: t.string({ required: true, description: `Token of a system user on the network. ${SECRET}` }),
      appSecret: t.string({ required: true, description: `Secret of the app, which signs webhooks. ${SECRET}` }),
      verifyToken: t.string({
        required: true,
        description: 'Token with which the network verifies the webhook URL. Only its hash is stored.',
      }),
      messagesPerSecond: t.int({ description: `${RATE} Default: 80, the network's limit for a number.` }),
      idempotencyKey: t.string({ description: IDEMPOTENCY_KEY }),
    }),
  }),
  payload: ChannelPayload,
  resolve: async ({ portfolioId, messagesPerSecond, ...input }, context) => ({
    channel: await connectOnce(context, {
      ...input,
      portfolioId: portfolioId ?? undefined,
      messagesPerSecond: messagesPerSecond ?? undefined,
    }),
  }),
});

mutation('updateChannel', {
  description: 'Changes settings of a channel. To replace its credentials, connect its number again.',
  scope: 'channels:write',
  input: builder.inputType('UpdateChannelInput', {
    description: 'Changes to a channel. Omitted fields keep their values.',
    fields: t => ({
      ...channelIdFields(t),
      name: t.string({ description: NAME }),
      messagesPerSecond: t.int({ description: RATE }),
      isDefault: t.boolean({ description: 'True makes it the default channel, in place of the present one.' }),
      portfolioId: t.string({
        description: `${PORTFOLIO} It applies to all channels of the business account; contacts that then share a user id are merged.`,
      }),
    }),
  }),
  payload: ChannelPayload,
  resolve: async ({ id, ...input }, context) => ({
    channel: await updateChannel(context, requireId(tenantOf(context), 'Channel', id), input),
  }),
});

mutation('pauseChannel', {
  description: 'Pauses a channel: new messages are refused, and those in the queue wait.',
  scope: 'channels:write',
  input: builder.inputType('PauseChannelInput', {
    description: 'The channel to pause.',
    fields: t => ({
      ...channelIdFields(t),
      reason: t.string({ description: `Shown as \`statusReason\`; at most ${MAX_REASON} characters.` }),
    }),
  }),
  payload: ChannelPayload,
  resolve: async ({ id, reason, idempotencyKey }, context) => ({
    channel: await pauseOnce(
      context,
      requireId(tenantOf(context), 'Channel', id),
      reasonOf(reason, PAUSED),
      idempotencyKey,
    ),
  }),
});

mutation('resumeChannel', {
  description: 'Resumes a paused channel and sends its waiting messages. A disconnected channel is a CONFLICT.',
  scope: 'channels:write',
  input: builder.inputType('ResumeChannelInput', { description: 'The channel to resume.', fields: channelIdFields }),
  payload: ChannelPayload,
  resolve: async ({ id, idempotencyKey }, context) => ({
    channel: await pauseOnce(context, requireId(tenantOf(context), 'Channel', id), null, idempotencyKey),
  }),
});

mutation('disconnectChannel', {
  description:
    'Disconnects a business number. Messages in its queue are cancelled; its history is kept for when the number is connected again. Meanwhile another account may connect it.',
  scope: 'channels:write',
  input: builder.inputType('DisconnectChannelInput', {
    description: 'The channel to disconnect.',
    fields: t => ({
      ...channelIdFields(t),
      reason: t.string({ description: `Shown as \`statusReason\`; at most ${MAX_REASON} characters.` }),
    }),
  }),
  payload: payloadOf<{ channel: PublicChannel; cancelled: number }>(
    'DisconnectChannelPayload',
    'Result of disconnecting a channel.',
    t => ({
      channel: t.field({
        type: Channel,
        nullable: true,
        description: 'The channel after the mutation.',
        resolve: ({ channel }) => channel ?? null,
      }),
      cancelledCount: t.int({
        description: 'Number of messages in the queue that were cancelled.',
        resolve: ({ cancelled = 0 }) => cancelled,
      }),
    }),
  ),
  resolve: ({ id, reason, idempotencyKey }, context) =>
    disconnectOnce(
      context,
      requireId(tenantOf(context), 'Channel', id),
      reasonOf(reason, DISCONNECTED),
      idempotencyKey,
    ),
});
