import type { Db } from '../../../../../database/database.ts';
import { dropKeys, reserveKey, takeKey } from './contents.sql.ts';
import { RESERVED_MS } from './sweep.ts';

/** Reserves a key of the file store before bytes are written under it: the sweep deletes them unless `useFileKey` follows. */
export const reserveFileKey = (db: Db, tenantId: number, key: string): Promise<void> =>
  reserveKey(db, tenantId, key, RESERVED_MS);

/** Takes a reserved key into use, in the transaction that stores it. @returns false if the sweep has deleted its bytes */
export const useFileKey = (trx: Db, tenantId: number, key: string): Promise<boolean> => takeKey(trx, tenantId, key);

/** Has the sweep delete the bytes under keys, reserved or in use. */
export const releaseFileKeys = (trx: Db, tenantId: number, keys: readonly string[]): Promise<void> =>
  dropKeys(trx, tenantId, keys);
