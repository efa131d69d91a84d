import type { Db } from '../../../database/database.ts';
import { type BlankedPage, blankKeys, blankKeysHolding, blankKeysOf, lockKeysNaming } from './keys.sql.ts';

/** The identifiers of people in idempotency keys. */
export interface PeopleInKeys {
  readonly contactIds: readonly number[];
  readonly otpIds: readonly string[];
  /** Numbers and e-mail addresses as answers spell them. */
  readonly texts: readonly string[];
}

/** Makes the idempotency keys of requests about erased contacts answer NOT_FOUND. @returns the number of keys by contact */
export const eraseKeys = (trx: Db, tenantId: number, contactIds: readonly number[]): Promise<Map<number, number>> =>
  blankKeysOf(trx, tenantId, contactIds);

/** Like `eraseKeys`, for one page of the requests about several contacts or none. @param after undefined: the first page */
export const eraseSharedKeys = (
  trx: Db,
  tenantId: number,
  { contactIds, otpIds, texts }: PeopleInKeys,
  limit: number,
  after = '',
): Promise<BlankedPage> =>
  blankKeysHolding(trx, tenantId, { ids: [...contactIds.map(String), ...otpIds], texts }, limit, after);

/** A number that belonged to the person for a time, and belongs to another person now. */
export interface LostNumber {
  /** Digits as answers spell them. */
  readonly spellings: readonly string[];
  belongsToContact(atMs: number): boolean;
}

/** Like `eraseSharedKeys`, for keys with numbers that the person has lost, created while they were the person's. */
export async function eraseKeysOfNumbers(
  trx: Db,
  tenantId: number,
  numbers: readonly LostNumber[],
  limit: number,
  after = '',
): Promise<BlankedPage> {
  const texts = numbers.flatMap(({ spellings }) => spellings);
  const page = await lockKeysNaming(trx, tenantId, texts, limit, after);
  const theirs = page.keys.filter(named =>
    numbers.some(
      number => number.spellings.some(text => named.texts.includes(text)) && number.belongsToContact(named.created_ms),
    ),
  );
  if (theirs.length > 0)
    await blankKeys(
      trx,
      tenantId,
      theirs.map(({ key }) => key),
    );
  return { count: theirs.length, after: page.after };
}
