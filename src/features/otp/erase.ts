import type { Db } from '../../database/database.ts';
import { anyIn, anyOf } from '../../database/expressions.ts';
import { lockPhones } from './caps.sql.ts';
import type { OtpRow } from './otp.ts';

/**
 * Deletes the codes of people, and the counters of the caps on their numbers. Lock order: otp_phones, otps by id.
 * @returns the deleted codes
 */
export async function eraseOtps(
  trx: Db,
  tenantId: number,
  contactIds: readonly number[],
  phoneKeys: readonly string[],
): Promise<Pick<OtpRow, 'id' | 'phone_key' | 'contact_id'>[]> {
  await lockPhones(trx, tenantId, phoneKeys);
  const codes = await trx
    .deleteFrom('otps')
    .where('tenant_id', '=', tenantId)
    .where('id', '=', eb =>
      anyIn(
        eb
          .selectFrom('otps')
          .select('id')
          .where('tenant_id', '=', tenantId)
          .where(on => on.or([on('phone_key', '=', anyOf(phoneKeys)), on('contact_id', '=', anyOf(contactIds))]))
          .orderBy('id')
          .forUpdate(),
      ),
    )
    .returning(['id', 'phone_key', 'contact_id'])
    .execute();
  await trx
    .deleteFrom('otp_phones')
    .where('tenant_id', '=', tenantId)
    .where('phone_key', '=', anyOf(phoneKeys))
    .execute();
  return codes;
}
