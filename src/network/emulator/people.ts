import { createHash } from 'node:crypto';
import { parsePhoneNumberFromString } from 'libphonenumber-js/min';

/** Who is who: the business-scoped user id of each number, and back. */
export interface People {
  /** The user id of a number; the same for the same number, also after a restart. */
  userIdOf(waId: string): string;
  /** The number of a user id, when it was shown to the business once. */
  waIdOf(userId: string): string | undefined;
  /** Learns that a number and a user id are one person. */
  introduce(waId: string, userId: string): void;
}

export function createPeople(): People {
  const byUserId = new Map<string, string>();
  const byWaId = new Map<string, string>();
  return {
    userIdOf(waId) {
      const known = byWaId.get(waId);
      if (known !== undefined) return known;
      const userId = derivedUserId(waId);
      byWaId.set(waId, userId);
      byUserId.set(userId, waId);
      return userId;
    },
    waIdOf: userId => byUserId.get(userId),
    introduce(waId, userId) {
      byWaId.set(waId, userId);
      byUserId.set(userId, waId);
    },
  };
}

/** `CC.` and up to 128 alphanumerics (Meta, 2026-04): country of the number, then digits that tell nothing about it. */
function derivedUserId(waId: string): string {
  const country = parsePhoneNumberFromString(`+${waId}`)?.country ?? 'US';
  const digits = BigInt(`0x${createHash('sha256').update(waId).digest('hex').slice(0, 16)}`)
    .toString()
    .padStart(20, '1');
  return `${country}.${digits}`;
}
