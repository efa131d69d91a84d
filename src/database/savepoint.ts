import { sql } from 'kysely';
import type { Db } from './database.ts';

/** Runs part of a transaction in a savepoint: if it fails, the transaction can continue without it. @throws the error of `part` */
export async function withSavepoint<T>(trx: Db, part: () => Promise<T>): Promise<T> {
  await sql`savepoint part`.execute(trx);
  try {
    const result = await part();
    await sql`release savepoint part`.execute(trx);
    return result;
  } catch (error) {
    await sql`rollback to savepoint part`.execute(trx);
    await sql`release savepoint part`.execute(trx);
    throw error;
  }
}
