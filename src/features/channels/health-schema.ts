import { requireId } from '../../core/global-ids.ts';
import { tenantOf } from '../../core/principal.ts';
import { builder } from '../../schema/builder.ts';
import { loader } from '../../schema/loaders.ts';
import { mutation } from '../../schema/payload.ts';
import { Quality } from '../../schema/quality.ts';
import { backlogLoader } from '../messages/dispatch/loaders.ts';
import { MessageErrorType } from '../messages/schema.ts';
import { QUALITIES, wordOf } from '../templates/template.ts';
import { ChannelPayload, channelIdFields } from './change-schema.ts';
import { checkChannel } from './check.ts';
import { findHealth, type StoredHealth } from './health.sql.ts';
import type { PublicRestriction } from './health.ts';
import { Channel } from './schema.ts';

const AVAILABILITY = ['AVAILABLE', 'LIMITED', 'BLOCKED'] as const;

const Availability = builder.enumType('Availability', {
  description: 'Whether the network lets a number send.',
  values: {
    AVAILABLE: { description: 'Messages can be sent.' },
    LIMITED: { description: 'Messages can be sent, with restrictions.' },
    BLOCKED: { description: 'No messages can be sent; `lastError` says why.' },
    UNKNOWN: { description: 'The network has not answered yet: see `checkChannel`.' },
  } as const,
});

const ChannelRestriction = builder.objectRef<PublicRestriction>('ChannelRestriction').implement({
  description: 'A temporary restriction of an account by the network.',
  fields: t => ({
    type: t.exposeString('type', {
      description: "The restriction in the network's word, for example `RESTRICTED_BIZ_INITIATED_MESSAGING`.",
    }),
    remediation: t.exposeString('remediation', { nullable: true, description: 'What to do; null if not given.' }),
    expiresAt: t.expose('expires_at', {
      type: 'DateTime',
      nullable: true,
      description: 'When it ends; null if not given.',
    }),
  }),
});

interface HealthShape {
  readonly channelId: number;
  /** Undefined if the network never reported anything. */
  readonly stored: StoredHealth | undefined;
}

const healthLoader = loader<number, StoredHealth | undefined>(async (db, tenantId, channelIds) => {
  const rows = new Map((await findHealth(db, tenantId, channelIds)).map(row => [row.channel_id, row]));
  return channelIds.map(id => rows.get(id));
});

const ChannelHealth = builder.objectRef<HealthShape>('ChannelHealth').implement({
  description: 'State of a number in the network, from webhooks and regular checks, and the queue of the channel.',
  fields: t => ({
    canSend: t.field({
      type: Availability,
      description: 'Whether the network lets the number send, at `checkedAt`.',
      resolve: ({ stored }) => wordOf(AVAILABILITY, 'UNKNOWN', stored?.can_send ?? ''),
    }),
    quality: t.field({
      type: Quality,
      description: 'Rating of the number.',
      resolve: ({ stored }) => wordOf(QUALITIES, 'UNKNOWN', stored?.quality ?? ''),
    }),
    messagingLimit: t.int({
      nullable: true,
      description: 'People per day who can be written to outside service windows; null: no limit, or not known.',
      resolve: ({ stored }) => stored?.messaging_limit ?? null,
    }),
    isMessagingLimitKnown: t.boolean({
      description: 'Whether the network has reported the limit: if so, a null is no limit.',
      resolve: ({ stored }) => stored?.is_messaging_limit_known ?? false,
    }),
    restrictions: t.field({
      type: [ChannelRestriction],
      description: 'Present restrictions of the account.',
      resolve: ({ stored }, _args, { clock }) =>
        (stored?.restrictions ?? []).filter(
          ({ expires_at }) => expires_at === null || Date.parse(expires_at) > clock.now(),
        ),
    }),
    queuedCount: t.int({
      description: 'Number of messages in the queue, including scheduled ones.',
      resolve: async ({ channelId }, _args, context) => (await backlogLoader(context).load(channelId))?.count ?? 0,
    }),
    oldestQueuedAt: t.field({
      type: 'DateTime',
      nullable: true,
      description:
        'When the oldest message of the queue, including scheduled ones, was accepted; null if the queue is empty.',
      resolve: async ({ channelId }, _args, context) =>
        (await backlogLoader(context).load(channelId))?.oldest_at ?? null,
    }),
    lastWebhookAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When the last webhook about the channel arrived, to ten seconds; null if none did.',
      resolve: ({ stored }) => stored?.last_webhook_at ?? null,
    }),
    lastError: t.field({
      type: MessageErrorType,
      nullable: true,
      description: 'The last error of the number or account, as opposed to one of a message; null if there is none.',
      resolve: ({ stored }) => stored?.last_error ?? null,
    }),
    checkedAt: t.field({
      type: 'DateTime',
      nullable: true,
      description:
        'When the network answered last: on connecting, to `checkChannel`, or to the daily check; null if it never did.',
      resolve: ({ stored }) => stored?.checked_at ?? null,
    }),
  }),
});

builder.objectField(Channel, 'health', t =>
  t.field({
    type: ChannelHealth,
    nullable: true,
    description: 'Whether the channel works. Changes are reported by `channel.health_changed`.',
    resolve: async ({ id }, _args, context) => ({ channelId: id, stored: await healthLoader(context).load(id) }),
  }),
);

mutation('checkChannel', {
  description:
    'Asks the network for the health of the number now. A number whose credentials the network refuses is BLOCKED.',
  scope: 'channels:write',
  input: builder.inputType('CheckChannelInput', { description: 'The channel to check.', fields: channelIdFields }),
  payload: ChannelPayload,
  resolve: async ({ id, idempotencyKey }, context) => ({
    channel: await checkChannel(context, requireId(tenantOf(context), 'Channel', id), idempotencyKey),
  }),
});
