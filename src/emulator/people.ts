import { createHash } from 'node:crypto';
import { parsePhoneNumberFromString } from 'libphonenumber-js/min';
import { DEFAULT_PORTFOLIO } from './options.ts';

/** Maps numbers to business-scoped user ids of a portfolio, and back. */
export interface People {
  /** The user id of a number; stable for a number and portfolio across restarts. */
  userIdOf(waId: string, portfolioId: string): string;
  /** The number of a user id, if it was ever shown to the business. */
  waIdOf(userId: string): string | undefined;
  /** Records that a number and a user id belong to the same person. */
  introduce(waId: string, userId: string, portfolioId: string): void;
  /** Whether a user id belongs to another portfolio. */
  isForeign(userId: string, portfolioId: string): boolean;
}

export function createPeople(): People {
  const byUserId = new Map<string, { readonly waId: string; readonly portfolioId: string }>();
  const byWaId = new Map<string, string>();
  const introduce: People['introduce'] = (waId, userId, portfolioId) => {
    byWaId.set(`${portfolioId} ${waId}`, userId);
    byUserId.set(userId, { waId, portfolioId });
  };
  return {
    userIdOf(waId, portfolioId) {
      const known = byWaId.get(`${portfolioId} ${waId}`);
      if (known !== undefined) return known;
      const userId = derivedUserId(waId, portfolioId);
      introduce(waId, userId, portfolioId);
      return userId;
    },
    waIdOf: userId => byUserId.get(userId)?.waId,
    introduce,
    isForeign: (userId, portfolioId) => (byUserId.get(userId)?.portfolioId ?? portfolioId) !== portfolioId,
  };
}

/** `CC.` and up to 128 alphanumerics (Meta, 2026-04): country of the number, then digits derived by a hash. */
function derivedUserId(waId: string, portfolioId: string): string {
  const country = parsePhoneNumberFromString(`+${waId}`)?.country ?? 'US';
  const salt = portfolioId === DEFAULT_PORTFOLIO ? '' : `${portfolioId} `;
  const digits = BigInt(`0x${createHash('sha256').update(`${salt}${waId}`).digest('hex').slice(0, 16)}`)
    .toString()
    .padStart(20, '1');
  return `${country}.${digits}`;
}
