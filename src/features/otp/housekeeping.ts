import type { NewEvent } from '../../core/events.ts';
import { append } from '../../events/append.ts';
import { DAY, HOUR, MINUTE } from '../../platform/clock.ts';
import type { Resources } from '../../schema/context.ts';
import { LONGEST_WINDOW_MS } from './caps.ts';
import { deleteExpired, deleteHours, deletePhones, expireLive, findInterrupted } from './housekeeping-store.ts';
import { eventOtp } from './otp.ts';
import { settle } from './settle.ts';

/** Small, to keep locks short. */
const BATCH = 500;
/** Longer than a live process needs to make a code live. */
const INTERRUPTED_AFTER_MS = MINUTE / 2;
/** Retention of expired codes, in which a verification answers OTP_EXPIRED; at least that of idempotency keys. */
const RETENTION_MS = DAY;

/**
 * Settles codes whose process died, expires codes with an event and deletes them a day later, and deletes outdated counters of
 * caps. Times are by the database's clock.
 */
export async function cleanOtps(resources: Resources): Promise<void> {
  const { db, log } = resources;
  for (const code of await findInterrupted(db.write, INTERRUPTED_AFTER_MS, BATCH))
    await settle(resources, code.tenant_id, code).catch(error =>
      log.warn({ err: error, otpId: code.id }, 'settling an interrupted one-time password failed'),
    );
  while ((await expire(resources)) === BATCH);
  while ((await deleteExpired(db.write, RETENTION_MS, BATCH)) === BATCH);
  while ((await deletePhones(db.write, LONGEST_WINDOW_MS, BATCH)) === BATCH);
  await deleteHours(db.write, 2 * HOUR);
}

/** @returns how many have expired */
async function expire({ db, signals }: Resources): Promise<number> {
  const expired = await db.transaction(async trx => {
    const rows = await expireLive(trx, BATCH);
    for (const [tenantId, codes] of Map.groupBy(rows, row => row.tenant_id)) {
      const events = codes.map((code): NewEvent => ({ type: 'otp.expired', payload: { otp: eventOtp(code) } }));
      await append(trx, tenantId, events);
    }
    return rows.length;
  });
  if (expired > 0) signals.send('events');
  return expired;
}
