import type { Resources } from '../../context.ts';
import { append } from '../../events.ts';
import { violationOf } from '../../platform/violations.ts';
import type { OtpPlace, OtpRow } from './otp.ts';
import { publicOtp } from './otp.ts';
import { makeLive } from './store.ts';

/** Another code of the same person and purpose may become live at the same moment. Of many at once one succeeds in every round. */
const MAX_TRIES = 20;

/**
 * Makes a code live whose message was accepted, and tells that it was sent.
 * @returns undefined when it is not sending any more: somebody else has done so
 */
export async function activate(
  { db, signals }: Pick<Resources, 'db' | 'signals'>,
  tenantId: number,
  place: OtpPlace,
  id: string,
  message: { readonly id: string; readonly contactId: number },
): Promise<OtpRow | undefined> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      const row = await db.transaction(async trx => {
        const live = await makeLive(trx, tenantId, place, id, message);
        if (live) await append(trx, tenantId, [{ type: 'otp.sent', payload: { otp: publicOtp(live) } }]);
        return live;
      });
      signals.send('events');
      return row;
    } catch (error) {
      if (violationOf(error)?.constraint !== 'otps_live_key' || attempt === MAX_TRIES) throw error;
    }
  }
}
