import type { Resources } from '../../context.ts';
import { append, type NewEvent } from '../../events.ts';
import { DAY, HOUR, MINUTE } from '../../platform/clock.ts';
import { activate } from './activate.ts';
import { LONGEST_WINDOW_MS } from './caps.ts';
import {
  deleteExpired,
  deleteHours,
  deletePhones,
  expireLive,
  findInterrupted,
  type Interrupted,
} from './clean-store.ts';
import { AS_OTP, MESSAGE_KEY_PREFIX } from './send.ts';
import { deleteSending } from './store.ts';

/** In small batches, so that nobody waits for a lock. */
const BATCH = 500;
/** A living process has long made its code live by then. */
const INTERRUPTED_AFTER_MS = MINUTE / 2;
/** No message is accepted so late for a code of that age. */
const ABANDONED_AFTER_MS = 5 * MINUTE;
/** So long one is told that a code has expired, and not that there is none; it is no shorter than idempotency keys are kept. */
const KEPT_MS = DAY;

/**
 * Tidies up: codes whose sender died become live or go, codes that ran out are told as expired and removed a day later, and
 * what no cap looks at any more is forgotten.
 */
export async function cleanOtps(resources: Resources): Promise<void> {
  const { db, clock, log } = resources;
  const now = clock.now();
  const before = (ms: number): string => new Date(now - ms).toISOString();
  const interrupted = await findInterrupted(
    db.write,
    before(INTERRUPTED_AFTER_MS),
    AS_OTP.operation,
    MESSAGE_KEY_PREFIX,
    BATCH,
  );
  for (const code of interrupted)
    await resume(resources, code, before(ABANDONED_AFTER_MS)).catch(error =>
      log.warn({ err: error, otpId: code.id }, 'an interrupted one-time password could not be resumed'),
    );
  while ((await expire(resources, before(0))) === BATCH);
  while ((await deleteExpired(db.write, before(KEPT_MS), BATCH)) === BATCH);
  while ((await deletePhones(db.write, before(LONGEST_WINDOW_MS), BATCH)) === BATCH);
  await deleteHours(db.write, before(2 * HOUR));
}

async function resume(resources: Resources, code: Interrupted, abandonedBefore: string): Promise<void> {
  const { tenant_id: tenantId, id, phone_key: phoneKey, purpose, message_id: messageId, contact_id: contactId } = code;
  if (messageId !== null && contactId !== null)
    await activate(resources, tenantId, { phoneKey, purpose }, id, { id: messageId, contactId });
  else if (code.created_at < abandonedBefore) await deleteSending(resources.db.write, tenantId, id);
}

/** @returns how many have expired */
async function expire({ db, signals }: Resources, nowIso: string): Promise<number> {
  const expired = await db.transaction(async trx => {
    const rows = await expireLive(trx, nowIso, BATCH);
    for (const [tenantId, codes] of Map.groupBy(rows, row => row.tenant_id)) {
      const events = codes.map(
        ({ tenant_id: _tenant, ...otp }): NewEvent => ({ type: 'otp.expired', payload: { otp } }),
      );
      await append(trx, tenantId, events);
    }
    return rows.length;
  });
  if (expired > 0) signals.send('events');
  return expired;
}
