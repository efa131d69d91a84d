import { DAY, MINUTE } from '../../platform/clock.ts';
import type { Resources } from '../../schema/context.ts';
import type { ChannelRef } from './channel.ts';
import { askHealth } from './check.ts';
import { credentialsOf } from './credentials.ts';
import { claimUnchecked } from './health.sql.ts';
import { knownHealth, recordCheck } from './record-check.ts';
import { getChannels } from './store.ts';

const CHECK_EVERY_MS = DAY;
/** After a check that the network did not answer, or during which the process stopped. */
const RETRY_MS = 15 * MINUTE;
/** Consecutive failures after which the run ends: the network is down, and each request would take its full timeout. */
const MAX_FAILURES = 3;

type Needs = Pick<Resources, 'db' | 'network' | 'secrets' | 'clock' | 'signals' | 'log'>;

/**
 * Asks the network for the health of numbers that were never checked, or not for a day. One after the other, so that the checks leave
 * connections to the sends of the worker.
 */
export async function checkChannels(needs: Needs): Promise<void> {
  let failures = 0;
  while (failures < MAX_FAILURES) {
    const now = needs.clock.now();
    const channel = await claimUnchecked(needs.db.write, {
      now: new Date(now).toISOString(),
      checkedBefore: new Date(now - CHECK_EVERY_MS).toISOString(),
      askedBefore: new Date(now - RETRY_MS).toISOString(),
    });
    if (!channel) return;
    try {
      await check(needs, channel);
      failures = 0;
    } catch (error) {
      failures += 1;
      needs.log.warn(
        { err: error, ...channel },
        'the health of a number could not be read from the network; it is read again later',
      );
    }
  }
}

async function check(needs: Needs, { tenantId, channelId }: ChannelRef): Promise<void> {
  const credentials = await credentialsOf(needs, tenantId, channelId);
  if (!credentials) return;
  const known = await knownHealth(needs.db.write, tenantId, channelId);
  const health = await askHealth(needs, credentials);
  await needs.db.transaction(async trx => {
    const [channel] = await getChannels(trx, tenantId, [channelId]);
    if (channel) await recordCheck(trx, tenantId, channel, health, needs.clock.now(), known);
  });
  needs.signals.send('events');
}
