import { randomBytes } from 'node:crypto';
import {
  createSecretBox,
  fingerprintOf,
  type SecretBox,
  type SecretKeys,
  UnknownKeyError,
} from '../platform/crypto.ts';
import { UserError } from '../platform/user-error.ts';
import type { Database, Db } from './database.ts';
import { transactionTime } from './expressions.ts';
import { readSamples, SEALED_COLUMNS } from './sealed-values.sql.ts';

const DIGEST_KEY_BYTES = 32;

/**
 * Checks the secret keys against the database and returns the box that encrypts and decrypts with them. The database stores a key
 * for permanent MACs, sealed under PARLEY_SECRET_KEY: a process that cannot open it has the wrong secret key. A database
 * without that key (new, or older than this check) gets one if samples of all sealed columns can be opened.
 *
 * @throws UserError with the variable to set and the fingerprint of the required key
 */
export async function openSecretBox({ write }: Pick<Database, 'write'>, keys: SecretKeys): Promise<SecretBox> {
  const box = createSecretBox(keys);
  const open = (sealed: Uint8Array): string => {
    try {
      return box.open(sealed);
    } catch (error) {
      throw wrongKey(keys, error);
    }
  };
  let sealed = await readDigestKey(write);
  if (!sealed) {
    for (const { table, columns } of SEALED_COLUMNS)
      for (const column of columns) (await readSamples(write, table, column)).map(open);
    await storeDigestKey(write, box.seal(randomBytes(DIGEST_KEY_BYTES).toString('base64')));
    sealed = await readDigestKey(write);
  }
  if (!sealed) throw emptyDeployment();
  return createSecretBox({ ...keys, permanent: Buffer.from(open(sealed), 'base64') });
}

function wrongKey({ current, previous }: SecretKeys, cause: unknown): UserError {
  const needed = cause instanceof UnknownKeyError ? cause.fingerprint : undefined;
  const given = [
    `PARLEY_SECRET_KEY (fingerprint ${fingerprintOf(current)})`,
    ...(previous ? [`PARLEY_PREVIOUS_SECRET_KEY (fingerprint ${fingerprintOf(previous)})`] : []),
  ];
  return new UserError(
    `${given.join(' and ')} cannot open the secrets of this database${needed === undefined ? '' : `, which are sealed under the key with the fingerprint ${needed}`}. Set the key that they were sealed under as PARLEY_SECRET_KEY; to change the key, set the old one as PARLEY_PREVIOUS_SECRET_KEY and run \`parley rotate-secrets\`.`,
    { cause },
  );
}

async function readDigestKey(db: Db): Promise<Buffer | null | undefined> {
  const row = await db.selectFrom('deployment').select('digest_key_sealed').executeTakeFirst();
  return row?.digest_key_sealed;
}

/** Does nothing if another process has stored a key since. */
const storeDigestKey = (db: Db, sealed: Buffer): Promise<unknown> =>
  db.updateTable('deployment').set({ digest_key_sealed: sealed }).where('digest_key_sealed', 'is', null).execute();

/** What the database records of the deployment's file store. */
export interface MediaMark {
  readonly deploymentId: string;
  /** Whether a marker with this id has been written to a store of this kind. */
  readonly isMarked: boolean;
}

const MARKED_AT = { directory: 'media_marked_at', bucket: 'bucket_marked_at' } as const;

/** @throws UserError if the database is not one of Parley */
export async function readMediaMark(db: Db, kind: keyof typeof MARKED_AT): Promise<MediaMark> {
  const row = await db
    .selectFrom('deployment')
    .select(['deployment_id', 'media_marked_at', 'bucket_marked_at'])
    .executeTakeFirst();
  if (!row) throw emptyDeployment();
  return { deploymentId: row.deployment_id, isMarked: row[MARKED_AT[kind]] !== null };
}

/** Records that a directory or bucket has the marker, with the time of the first one. */
export const markMedia = (db: Db, kind: keyof typeof MARKED_AT): Promise<unknown> =>
  db
    .updateTable('deployment')
    .set({ [MARKED_AT[kind]]: transactionTime })
    .where(MARKED_AT[kind], 'is', null)
    .execute();

const emptyDeployment = (): UserError =>
  new UserError(
    'The table deployment is empty. Check that DATABASE_URL is that of the database of Parley, and run `parley migrate`.',
  );
