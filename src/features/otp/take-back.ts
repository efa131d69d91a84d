import type { Db } from '../../database/database.ts';
import { giveBackSend, lockPhones } from './caps.sql.ts';
import { deleteSending } from './codes.sql.ts';
import type { SendKind } from './request.ts';
import type { NewOtp } from './store.ts';

/** Deletes a code whose message was refused, and subtracts its send from the caps. Does nothing if it is no longer `sending`. */
export async function takeBack(
  trx: Db,
  tenantId: number,
  { id, phoneKey, createdAt, hour }: Pick<NewOtp, 'id' | 'phoneKey' | 'createdAt' | 'hour'>,
  kind: SendKind,
): Promise<void> {
  await lockPhones(trx, tenantId, [phoneKey]);
  if (await deleteSending(trx, tenantId, id))
    await giveBackSend(trx, tenantId, phoneKey, createdAt, kind === 'resend', hour);
}
