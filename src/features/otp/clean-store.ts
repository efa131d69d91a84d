import { sql } from 'kysely';
import type { Db } from '../../platform/database.ts';
import { OTP_COLUMNS, type PublicOtp } from './otp.ts';

/** The statements of the job that tidies up: it works on all tenants, a few rows at a time. */

/** A code whose sender died between the message and the code. */
export interface Interrupted {
  readonly tenant_id: number;
  readonly id: string;
  readonly phone_key: string;
  readonly purpose: string;
  readonly created_at: string;
  /** The message, where it was accepted. */
  readonly message_id: string | null;
  readonly contact_id: number | null;
}

/** Codes that have been sending since before `untilIso`. What their messages became stands under their idempotency keys. */
export async function findInterrupted(
  db: Db,
  untilIso: string,
  operation: string,
  keyPrefix: string,
  limit: number,
): Promise<Interrupted[]> {
  const { rows } = await sql<Interrupted>`
    /* cross-tenant: housekeeping, by age alone */
    select o.tenant_id, o.id, o.phone_key, o.purpose, o.created_at, m.id as message_id, m.contact_id
    from otps o
    left join idempotency_keys k on k.tenant_id = o.tenant_id and k.operation = ${operation} and k.key = ${keyPrefix}::text || o.id::text
    left join messages m on m.tenant_id = o.tenant_id and m.id = (k.result->>'id')::uuid
    where o.state = 'sending' and o.created_at < ${untilIso}::timestamptz order by o.created_at limit ${limit}`.execute(
    db,
  );
  return rows;
}

/** Ends codes that ran out without being verified. @returns them, with their tenants */
export async function expireLive(
  trx: Db,
  nowIso: string,
  limit: number,
): Promise<(PublicOtp & { readonly tenant_id: number })[]> {
  const { rows } = await sql<PublicOtp & { readonly tenant_id: number }>`
    /* cross-tenant: housekeeping, by age alone */
    update otps o set state = 'expired'
    where (o.tenant_id, o.id) in (
      select tenant_id, id from otps where state = 'live' and expires_at <= ${nowIso}::timestamptz
      order by expires_at limit ${limit} for update skip locked)
    returning o.tenant_id, ${sql.raw(OTP_COLUMNS.map(column => `o.${column}`).join(', '))}`.execute(trx);
  return rows;
}

/** Removes codes that ran out before `beforeIso`. @returns how many */
export async function deleteExpired(db: Db, beforeIso: string, limit: number): Promise<number> {
  const { numAffectedRows } = await sql`
    /* cross-tenant: housekeeping, by age alone */
    delete from otps where (tenant_id, id) in (
      select tenant_id, id from otps where expires_at < ${beforeIso}::timestamptz and state <> 'live'
      order by expires_at limit ${limit} for update skip locked)`.execute(db);
  return Number(numAffectedRows ?? 0);
}

/** Forgets numbers with which nothing was done since `beforeIso`. @returns how many */
export async function deletePhones(db: Db, beforeIso: string, limit: number): Promise<number> {
  const { numAffectedRows } = await sql`
    /* cross-tenant: housekeeping, by age alone */
    delete from otp_phones where (tenant_id, phone_key) in (
      select tenant_id, phone_key from otp_phones where touched_at < ${beforeIso}::timestamptz
      order by touched_at limit ${limit} for update skip locked)`.execute(db);
  return Number(numAffectedRows ?? 0);
}

export async function deleteHours(db: Db, beforeIso: string): Promise<void> {
  await sql`
    /* cross-tenant: housekeeping, by age alone */
    delete from otp_hours where hour < ${beforeIso}::timestamptz`.execute(db);
}
