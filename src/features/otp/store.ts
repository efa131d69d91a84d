import { sql } from 'kysely';
import type { Db } from '../../database/database.ts';
import { anyByUuid, clockTime } from '../../database/expressions.ts';
import { MAX_ATTEMPTS, OTP_COLUMNS, type OtpPlace, type OtpRow, type PublicOtp, ROW_COLUMNS } from './otp.ts';

// States stand as literals, which lets prepared statements use the partial indexes on otps.

type State = Pick<OtpRow, 'state'>;

export interface NewOtp extends OtpPlace {
  readonly id: string;
  readonly phone: string;
  readonly templateName: string;
  readonly language: string;
  readonly mac: Buffer;
  readonly expiryMinutes: number;
  /** ISO 8601. */
  readonly expiresAt: string;
  readonly createdAt: string;
  /** The caller's key, released if the code is not sent. */
  readonly idempotencyKey: string | null;
  /** The hour of the tenant's cap that counts this send. */
  readonly hour: string;
}

/** Inserts a code in the state `sending`, in which it cannot be verified. */
export async function insertSending(trx: Db, tenantId: number, otp: NewOtp): Promise<void> {
  await trx
    .insertInto('otps')
    .values({
      tenant_id: tenantId,
      id: otp.id,
      phone: otp.phone,
      phone_key: otp.phoneKey,
      purpose: otp.purpose,
      template_name: otp.templateName,
      language: otp.language,
      mac: otp.mac,
      state: 'sending',
      expiry_minutes: otp.expiryMinutes,
      expires_at: otp.expiresAt,
      created_at: otp.createdAt,
      idempotency_key: otp.idempotencyKey,
      hour: otp.hour,
    })
    .execute();
}

/** A message with its contact. */
export interface MessageOfContact {
  readonly id: string;
  readonly contactId: number;
}

/** Fails codes that have not ended. @returns the ids of those */
export async function endCodes(trx: Db, tenantId: number, ids: readonly string[]): Promise<string[]> {
  const rows = await trx
    .updateTable('otps')
    .set({ state: 'failed' })
    .where('tenant_id', '=', tenantId)
    .where('id', '=', anyByUuid(ids))
    .where('state', 'in', [sql.lit('live'), sql.lit('replaced')])
    .returning('id')
    .execute();
  return rows.map(({ id }) => id);
}

/**
 * Makes the code that a failed one replaced live again, if it is still valid and no other code is live; of several, the one that was sent
 * last.
 * @throws a unique violation of otps_live_key if another code became live concurrently
 */
export async function restoreReplaced(trx: Db, tenantId: number, failedId: string): Promise<void> {
  await trx
    .updateTable('otps')
    .set({ state: 'live', replaced_by: null })
    .where('tenant_id', '=', tenantId)
    .where('id', '=', eb =>
      eb
        .selectFrom('otps as o')
        .select('o.id')
        .where('o.tenant_id', '=', tenantId)
        .where('o.replaced_by', '=', failedId)
        .where('o.state', '=', 'replaced')
        .where('o.attempts', '<', MAX_ATTEMPTS)
        .where('o.expires_at', '>', clockTime)
        .where(({ exists, not, selectFrom }) =>
          not(
            exists(
              selectFrom('otps as l')
                .select('l.id')
                .where('l.tenant_id', '=', tenantId)
                .whereRef('l.phone_key', '=', 'o.phone_key')
                .whereRef('l.purpose', '=', 'o.purpose')
                .where('l.state', '=', sql.lit('live')),
            ),
          ),
        )
        .orderBy('o.message_id', 'desc')
        .limit(1),
    )
    .execute();
}

/**
 * Counts an attempt at the live code. Called before the comparison, so that concurrent attempts cannot exceed the maximum.
 * @returns undefined if there is no live code, or it has expired or has no attempts left
 */
export const countAttempt = (trx: Db, tenantId: number, { phoneKey, purpose }: OtpPlace): Promise<OtpRow | undefined> =>
  trx
    .updateTable('otps')
    .set(eb => ({ attempts: eb('attempts', '+', 1) }))
    .where('tenant_id', '=', tenantId)
    .where('phone_key', '=', phoneKey)
    .where('purpose', '=', purpose)
    .where('state', '=', sql.lit('live'))
    .where('expires_at', '>', clockTime)
    .where('attempts', '<', MAX_ATTEMPTS)
    .returning(ROW_COLUMNS)
    .$narrowType<State>()
    .executeTakeFirst();

/** Ends a live code: verified, or without attempts left. @returns undefined if it is no longer live */
export const endLive = (
  trx: Db,
  tenantId: number,
  id: string,
  state: 'verified' | 'exhausted',
): Promise<OtpRow | undefined> =>
  trx
    .updateTable('otps')
    .set({ state, verified_at: state === 'verified' ? clockTime : null })
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .where('state', '=', 'live')
    .returning(ROW_COLUMNS)
    .$narrowType<State>()
    .executeTakeFirst();

/** A code with its age, by the database's clock. */
export interface AgedOtp extends OtpRow {
  /** Milliseconds until it expires; 0 or less: expired. */
  readonly left_ms: number;
  /** Seconds since the request. */
  readonly age: number;
}

const AGE = [
  sql<number>`extract(epoch from expires_at - clock_timestamp())::float8 * 1000`.as('left_ms'),
  sql<number>`extract(epoch from clock_timestamp() - created_at)::float8`.as('age'),
] as const;

/** The last code that was ever live and not replaced or failed. */
export const lastCode = (db: Db, tenantId: number, { phoneKey, purpose }: OtpPlace): Promise<AgedOtp | undefined> =>
  db
    .selectFrom('otps')
    .select(ROW_COLUMNS)
    .select(AGE)
    .where('tenant_id', '=', tenantId)
    .where('phone_key', '=', phoneKey)
    .where('purpose', '=', purpose)
    .where('state', 'in', ['live', 'verified', 'exhausted', 'expired'])
    .orderBy('message_id', 'desc')
    .limit(1)
    .$narrowType<State>()
    .executeTakeFirst();

/** Codes that were sent: not those whose message is not accepted yet. */
export const getSentOtps = (db: Db, tenantId: number, ids: readonly string[]): Promise<PublicOtp[]> =>
  db
    .selectFrom('otps')
    .select(OTP_COLUMNS)
    .where('tenant_id', '=', tenantId)
    .where('id', '=', anyByUuid(ids))
    .where('state', '<>', sql.lit('sending'))
    .$narrowType<State>()
    .execute();

export const getOtp = (db: Db, tenantId: number, id: string): Promise<AgedOtp | undefined> =>
  db
    .selectFrom('otps')
    .select(ROW_COLUMNS)
    .select(AGE)
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .$narrowType<State>()
    .executeTakeFirst();

/** Codes by their ids, as events and webhooks carry them. */
export const getOtps = (db: Db, tenantId: number, ids: readonly string[]): Promise<PublicOtp[]> =>
  db
    .selectFrom('otps')
    .select(OTP_COLUMNS)
    .where('tenant_id', '=', tenantId)
    .where('id', '=', anyByUuid(ids))
    .$narrowType<State>()
    .execute();

/** The message that was accepted under an idempotency key; undefined also if it was deleted with its contact. */
export const findAcceptedMessage = (
  db: Db,
  tenantId: number,
  operation: string,
  key: string,
): Promise<MessageOfContact | undefined> =>
  db
    .selectFrom('idempotency_keys as k')
    .innerJoin('messages as m', join =>
      join.onRef('m.tenant_id', '=', 'k.tenant_id').on('m.id', '=', sql<string>`(k.result->>'id')::uuid`),
    )
    .select(['m.id', 'm.contact_id as contactId'])
    .where('k.tenant_id', '=', tenantId)
    .where('k.operation', '=', operation)
    .where('k.key', '=', key)
    .executeTakeFirst();
