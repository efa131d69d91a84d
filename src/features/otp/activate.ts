import { violationOf } from '../../database/violations.ts';
import { append } from '../../events/append.ts';
import type { Resources } from '../../schema/context.ts';
import { makeLive } from './codes.sql.ts';
import type { OtpPlace, OtpRow } from './otp.ts';
import { eventOtp } from './otp.ts';

/** Another code of the same place may become live concurrently. Of concurrent transactions, at least one succeeds in every round. */
const MAX_TRIES = 20;

/**
 * Makes a code live after its message was accepted, and appends `otp.sent`. If the message failed or was cancelled, the code fails.
 * @returns undefined if it is no longer `sending`: another process was first
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
        const makeIt = (): Promise<OtpRow | undefined> => makeLive(trx, tenantId, place, id, message);
        // The first call finds nothing if it waited for a merge of the contact; the second sees the merged contact.
        const live = (await makeIt()) ?? (await makeIt());
        if (live && live.state !== 'failed')
          await append(trx, tenantId, [{ type: 'otp.sent', payload: { otp: eventOtp(live) } }]);
        return live;
      });
      signals.send('events');
      return row;
    } catch (error) {
      if (violationOf(error)?.constraint !== 'otps_live_key' || attempt === MAX_TRIES) throw error;
    }
  }
}
