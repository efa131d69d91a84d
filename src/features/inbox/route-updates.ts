import type { Db } from '../../database/database.ts';
import { channelsOfAddress } from '../../network/cloud-api/webhook/address.ts';
import { readWebhook } from '../../network/cloud-api/webhook.ts';
import type { NetworkUpdate } from '../../network/updates.ts';
import { parseStorable } from '../../platform/json.ts';
import type { PublicChannel } from '../channels/channel.ts';
import { type AddressableChannel, channelsWithIds } from '../channels/webhook-owners.ts';
import type { UnhandledChange } from './unhandled-changes.ts';
import type { WaitingWebhook } from './webhooks.sql.ts';

/** A webhook with its body parsed. */
export interface ReadableWebhook {
  readonly id: string;
  readonly receivedAt: Date;
  readonly body: unknown;
  /** The channels to which it may be applied; null: those that own their number. */
  readonly channelIds: readonly number[] | null;
}

/** An update with the tenant's channels that it concerns. */
export interface RoutedUpdate {
  readonly update: NetworkUpdate;
  readonly field: string;
  readonly channels: readonly PublicChannel[];
  readonly webhook: ReadableWebhook;
  /** The change that contains the update, as a webhook entry. */
  readonly raw: unknown;
}

export const readWaiting = ({
  id,
  body,
  channel_ids: channelIds,
  received_at: at,
}: WaitingWebhook): ReadableWebhook => ({
  id,
  receivedAt: new Date(at),
  body: parseStorable(body.toString('utf8')),
  channelIds,
});

/**
 * Reads the updates of webhooks and leaves out those of channels to which the webhook was not routed: of other tenants, and of channels whose
 * secret did not sign it.
 */
export async function routeUpdates(
  db: Db,
  tenantId: number,
  webhooks: readonly ReadableWebhook[],
): Promise<RoutedUpdate[]> {
  const addressable = await channelsWithIds(db, tenantId);
  return webhooks.flatMap(webhook => {
    const candidates = candidatesFor(webhook, addressable);
    return readWebhook(webhook.body, webhook.receivedAt).flatMap(({ field, address, updates, raw }) => {
      const channels = channelsOfAddress(address, candidates).map(({ channel }) => channel);
      // A body that is not JSON has no address, and stays with its tenant.
      if (channels.length === 0 && webhook.body !== undefined) return [];
      return updates.map(update => ({ update, field, channels, webhook, raw }));
    });
  });
}

const candidatesFor = (
  { channelIds }: ReadableWebhook,
  addressable: readonly AddressableChannel[],
): readonly AddressableChannel[] =>
  addressable.filter(({ channel, ownsNumber }) => (channelIds === null ? ownsNumber : channelIds.includes(channel.id)));

export const unhandledOf = (
  { field, channels, webhook }: RoutedUpdate,
  reason: UnhandledChange['reason'],
  error: string | null,
  raw: unknown,
): UnhandledChange => ({
  webhookId: webhook.id,
  channelId: singleChannelId(channels),
  field,
  reason,
  error,
  raw,
  receivedAt: webhook.receivedAt,
});

/** The changes that contain these updates, each once, as failed with an error. */
export const failedChanges = (routed: readonly RoutedUpdate[], error: string): UnhandledChange[] =>
  [...new Map(routed.map(entry => [entry.raw, entry])).values()].map(entry =>
    unhandledOf(entry, 'failed', error, entry.raw),
  );

const singleChannelId = (channels: readonly PublicChannel[]): number | null =>
  channels.length === 1 ? (channels[0]?.id ?? null) : null;
