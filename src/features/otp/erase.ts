import type { Db } from '../../database/database.ts';
import type { OtpRow } from './otp.ts';

/** Deletes the codes of people, and the counters of the caps on their numbers. @returns the deleted codes */
export const eraseOtps = (
  trx: Db,
  tenantId: number,
  contactIds: readonly number[],
  phoneKeys: readonly string[],
): Promise<Pick<OtpRow, 'id' | 'phone_key' | 'contact_id'>[]> =>
  trx
    .with('caps', db =>
      db
        .deleteFrom('otp_phones')
        .where('tenant_id', '=', tenantId)
        .where('phone_key', '=', eb => eb.fn.any(eb.val(phoneKeys))),
    )
    .deleteFrom('otps')
    .where('tenant_id', '=', tenantId)
    .where(eb =>
      eb.or([eb('phone_key', '=', eb.fn.any(eb.val(phoneKeys))), eb('contact_id', '=', eb.fn.any(eb.val(contactIds)))]),
    )
    .returning(['id', 'phone_key', 'contact_id'])
    .execute();
