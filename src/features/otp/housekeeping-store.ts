import { sql } from 'kysely';
import type { Db } from '../../database/database.ts';
import { clockTime, clockTimeIn, crossTenant } from '../../database/expressions.ts';
import { OTP_COLUMNS, type OtpRow, type PublicOtp } from './otp.ts';

/** Statements of the clean-up job, for all tenants in small batches. States stand as literals, for the partial indexes. */

const CROSS_TENANT = crossTenant('housekeeping, by age alone');

/** Codes that have been `sending` for longer than `ms`: their process died between the message and the code. */
export const findInterrupted = (
  db: Db,
  ms: number,
  limit: number,
): Promise<(Pick<OtpRow, 'id' | 'phone_key' | 'purpose'> & { readonly tenant_id: number })[]> =>
  db
    .selectFrom('otps')
    .modifyFront(CROSS_TENANT)
    .select(['tenant_id', 'id', 'phone_key', 'purpose'])
    .where('state', '=', sql.lit('sending'))
    .where('created_at', '<', clockTimeIn(-ms))
    .orderBy('created_at')
    .limit(limit)
    .execute();

/** Expires live codes. @returns the expired codes, with their tenants */
export const expireLive = (trx: Db, limit: number): Promise<(PublicOtp & { readonly tenant_id: number })[]> =>
  trx
    .updateTable('otps')
    .set({ state: 'expired' })
    .where(({ eb, refTuple, selectFrom }) =>
      eb(
        refTuple('tenant_id', 'id'),
        'in',
        selectFrom('otps')
          .select(['tenant_id', 'id'])
          .where('state', '=', sql.lit('live'))
          .where('expires_at', '<=', clockTime)
          .orderBy('expires_at')
          .limit(limit)
          .forUpdate()
          .skipLocked()
          .$asTuple('tenant_id', 'id'),
      ),
    )
    .returning(['tenant_id', ...OTP_COLUMNS])
    .modifyEnd(CROSS_TENANT)
    .$narrowType<Pick<PublicOtp, 'state'>>()
    .execute();

/** Deletes codes that expired more than `ms` ago. @returns their number */
export async function deleteExpired(db: Db, ms: number, limit: number): Promise<number> {
  const { numDeletedRows } = await db
    .deleteFrom('otps')
    .where(({ eb, refTuple, selectFrom }) =>
      eb(
        refTuple('tenant_id', 'id'),
        'in',
        selectFrom('otps')
          .select(['tenant_id', 'id'])
          .where('expires_at', '<', clockTimeIn(-ms))
          .where('state', '<>', sql.lit('live'))
          .orderBy('expires_at')
          .limit(limit)
          .forUpdate()
          .skipLocked()
          .$asTuple('tenant_id', 'id'),
      ),
    )
    .modifyEnd(CROSS_TENANT)
    .executeTakeFirst();
  return Number(numDeletedRows);
}

/** Deletes the counters of numbers that were not used for `ms`. @returns their number */
export async function deletePhones(db: Db, ms: number, limit: number): Promise<number> {
  const { numDeletedRows } = await db
    .deleteFrom('otp_phones')
    .where(({ eb, refTuple, selectFrom }) =>
      eb(
        refTuple('tenant_id', 'phone_key'),
        'in',
        selectFrom('otp_phones')
          .select(['tenant_id', 'phone_key'])
          .where('touched_at', '<', clockTimeIn(-ms))
          .orderBy('touched_at')
          .limit(limit)
          .forUpdate()
          .skipLocked()
          .$asTuple('tenant_id', 'phone_key'),
      ),
    )
    .modifyEnd(CROSS_TENANT)
    .executeTakeFirst();
  return Number(numDeletedRows);
}

export async function deleteHours(db: Db, ms: number): Promise<void> {
  await db.deleteFrom('otp_hours').where('hour', '<', clockTimeIn(-ms)).modifyEnd(CROSS_TENANT).execute();
}
