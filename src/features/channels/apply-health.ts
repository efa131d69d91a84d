import { isDeepStrictEqual } from 'node:util';
import type { NewEvent } from '../../core/events.ts';
import type { Db } from '../../database/database.ts';
import { append } from '../../events/append.ts';
import type { NetworkUpdate } from '../../network/updates.ts';
import type { PublicChannel } from './channel.ts';
import { lockHealth, writeHealth } from './health.sql.ts';
import {
  type HealthChange,
  healthAfter,
  newestOf,
  type PublicHealth,
  previousHealth,
  type ToldAt,
  toldAtAfter,
} from './health.ts';

/** A health update with the channels that it concerns. */
export interface ChannelHealthUpdate {
  readonly channels: readonly PublicChannel[];
  readonly update: Extract<NetworkUpdate, { kind: 'health' }>;
}

/**
 * Updates the health of channels, with one event per change. Repeated changes are ignored; one that a later change has overtaken is an
 * event, and sets nothing that the later one has set.
 */
export async function applyHealth(
  trx: Db,
  tenantId: number,
  updates: readonly ChannelHealthUpdate[],
  nowMs: number,
): Promise<void> {
  if (updates.length === 0) return;
  const channelIds = [...new Set(updates.flatMap(update => update.channels.map(({ id }) => id)))];
  const known = new Map((await lockHealth(trx, tenantId, channelIds)).map(one => [one.health.channel_id, one]));
  const changed = new Map<number, PublicHealth & { readonly told_at: ToldAt }>();
  const events: NewEvent[] = [];
  for (const { channels, update } of updates) {
    for (const channel of channels) {
      const locked = known.get(channel.id);
      if (!locked) continue;
      const { health: before, toldAt } = locked;
      const change: HealthChange = {
        field: update.field,
        event: update.event ?? null,
        occurred_at: new Date(Math.min(update.at.getTime(), nowMs)).toISOString(),
        ...(update.at.getTime() > nowMs && { reported_at: update.at.toISOString() }),
        details: update.details,
      };
      if (isRepeated(before.last_change, change, update.isTimeEstimated ?? false)) continue;
      const patch = newestOf(update.patch, toldAt, change.occurred_at);
      const health = { ...healthAfter(before, patch, change, toldAt), updated_at: new Date(nowMs).toISOString() };
      const told_at = toldAtAfter(toldAt, patch, change.occurred_at);
      known.set(channel.id, { health, toldAt: told_at });
      changed.set(channel.id, { ...health, told_at });
      events.push({
        type: 'channel.health_changed',
        payload: { channel, health, previous: previousHealth(before, health) },
      });
    }
  }
  if (changed.size > 0) await writeHealth(trx, tenantId, [...changed.values()]);
  await append(trx, tenantId, events);
}

/**
 * Whether the network has sent a change again in another body; repetitions with the same bytes are not read at all. With another time,
 * the same change has happened again: a number that recovered was flagged once more. Without a time of the network, it counts as repeated.
 */
const isRepeated = (last: HealthChange | null, change: HealthChange, isTimeEstimated: boolean): boolean =>
  last !== null &&
  (isTimeEstimated || reportedAt(last) === reportedAt(change)) &&
  last.field === change.field &&
  last.event === change.event &&
  isDeepStrictEqual(last.details, change.details);

/** The time as the network gave it: `occurred_at` of a change ahead of our clock is when it arrived. */
const reportedAt = ({ occurred_at, reported_at }: HealthChange): string => reported_at ?? occurred_at;
