import { loader } from '../../schema/loaders.ts';
import type { PublicOtp } from './otp.ts';
import { getOtps } from './store.ts';

/** One-time passwords by id, also those that are still being sent. */
export const otpLoader = loader<string, PublicOtp | undefined>(async (db, tenantId, ids) => {
  const byId = new Map((await getOtps(db, tenantId, ids)).map(row => [row.id, row]));
  return ids.map(id => byId.get(id));
});
