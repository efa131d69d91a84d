import { sql } from 'kysely';
import type { Db } from '../../platform/database.ts';
import { MAX_ATTEMPTS, OTP_COLUMNS, type OtpPlace, type OtpRow } from './otp.ts';

declare module '../../platform/database.ts' {
  interface Tables {
    otps: OtpRow & { tenant_id: number };
  }
}

const columnsOf = (alias: string) =>
  sql.raw([...OTP_COLUMNS, 'phone_key', 'mac'].map(column => `${alias}.${column}`).join(', '));

export interface NewOtp extends OtpPlace {
  readonly id: string;
  readonly phone: string;
  readonly templateName: string;
  readonly language: string;
  readonly mac: Uint8Array;
  readonly expiryMinutes: number;
  /** ISO 8601. */
  readonly expiresAt: string;
  readonly createdAt: string;
  /** The caller's, to be set free should nothing come of it. */
  readonly idempotencyKey: string | null;
  /** The hour that counts it. */
  readonly hour: string;
}

/** Writes down a code that is about to be sent. It cannot be verified yet. */
export async function insertSending(trx: Db, tenantId: number, otp: NewOtp): Promise<void> {
  await sql`
    insert into otps (tenant_id, id, phone, phone_key, purpose, template_name, language, mac, state, expiry_minutes, expires_at, created_at,
                      idempotency_key, hour)
    values (${tenantId}, ${otp.id}, ${otp.phone}, ${otp.phoneKey}, ${otp.purpose}, ${otp.templateName}, ${otp.language}, ${otp.mac}, 'sending',
            ${otp.expiryMinutes}, ${otp.expiresAt}::timestamptz, ${otp.createdAt}::timestamptz, ${otp.idempotencyKey}, ${otp.hour}::timestamptz)`.execute(
    trx,
  );
}

/**
 * Makes a code live whose message was accepted, in the place of the one before. People get messages in the order of their
 * ids, so of two codes that were sent at once the one with the later message stays.
 * @returns the code, live or replaced already; undefined when it is not sending any more
 * @throws a unique violation of otps_live_key when another one became live at the same moment
 */
export async function makeLive(
  trx: Db,
  tenantId: number,
  { phoneKey, purpose }: OtpPlace,
  id: string,
  message: { readonly id: string; readonly contactId: number },
): Promise<OtpRow | undefined> {
  const { rows } = await sql<OtpRow>`
    with later as materialized (
      select from otps o
      where o.tenant_id = ${tenantId} and o.phone_key = ${phoneKey} and o.purpose = ${purpose} and o.message_id > ${message.id}::uuid limit 1
    ), before as (
      update otps o set state = 'replaced', replaced_by = ${id}::uuid
      where o.tenant_id = ${tenantId} and o.phone_key = ${phoneKey} and o.purpose = ${purpose} and o.state = 'live'
        and o.message_id < ${message.id}::uuid
        and exists (select from otps s where s.tenant_id = ${tenantId} and s.id = ${id}::uuid and s.state = 'sending')
      returning o.id
    )
    update otps o set state = case when exists (select from later) then 'replaced' else 'live' end,
      message_id = ${message.id}::uuid, contact_id = ${message.contactId}::bigint
    where o.tenant_id = ${tenantId} and o.id = ${id}::uuid and o.state = 'sending' and (select count(*) from before) >= 0
    returning ${columnsOf('o')}`.execute(trx);
  return rows[0];
}

/** Takes a code that was never sent out of the way, with the idempotency key it was asked for under: that may be tried again. */
export async function deleteSending(trx: Db, tenantId: number, id: string): Promise<boolean> {
  const { rows } = await sql`
    with gone as (
      delete from otps o where o.tenant_id = ${tenantId} and o.id = ${id}::uuid and o.state = 'sending' returning o.id, o.idempotency_key
    ), key as (
      delete from idempotency_keys k using gone
      where k.tenant_id = ${tenantId} and k.key = gone.idempotency_key and k.result->>'id' = gone.id::text
    )
    select id from gone`.execute(trx);
  return rows.length > 0;
}

/** Ends a code whose message the network has refused, and gives its place back to the one before, if that is still good. */
export async function takeBack(db: Db, tenantId: number, id: string, nowIso: string): Promise<void> {
  await sql`
    with refused as (
      update otps o set state = 'failed' where o.tenant_id = ${tenantId} and o.id = ${id}::uuid and o.state = 'live' returning o.id
    )
    update otps o set state = 'live', replaced_by = null
    where o.tenant_id = ${tenantId} and o.replaced_by = ${id}::uuid and o.state = 'replaced' and o.attempts < ${MAX_ATTEMPTS}
      and o.expires_at > ${nowIso}::timestamptz and (select count(*) from refused) = 1`.execute(db);
}

/**
 * Counts a try of the live code, before anybody compares: however many come at once, no code is tried more often than it may be.
 * @returns undefined when there is none, or it has run out, or it was tried too often
 */
export async function countAttempt(
  trx: Db,
  tenantId: number,
  { phoneKey, purpose }: OtpPlace,
  nowIso: string,
): Promise<OtpRow | undefined> {
  const { rows } = await sql<OtpRow>`
    update otps o set attempts = o.attempts + 1
    where o.tenant_id = ${tenantId} and o.phone_key = ${phoneKey} and o.purpose = ${purpose} and o.state = 'live'
      and o.expires_at > ${nowIso}::timestamptz and o.attempts < ${MAX_ATTEMPTS}
    returning ${columnsOf('o')}`.execute(trx);
  return rows[0];
}

/** Ends a live code: it was verified, or tried too often. @returns it; undefined when it is not live any more */
export async function endLive(
  trx: Db,
  tenantId: number,
  id: string,
  state: 'verified' | 'exhausted',
  nowIso: string,
): Promise<OtpRow | undefined> {
  const { rows } = await sql<OtpRow>`
    update otps o set state = ${state}, verified_at = case when ${state} = 'verified' then ${nowIso}::timestamptz end
    where o.tenant_id = ${tenantId} and o.id = ${id}::uuid and o.state = 'live'
    returning ${columnsOf('o')}`.execute(trx);
  return rows[0];
}

/** The last code that could be verified, whatever became of it. */
export async function lastCode(db: Db, tenantId: number, { phoneKey, purpose }: OtpPlace): Promise<OtpRow | undefined> {
  const { rows } = await sql<OtpRow>`
    select ${columnsOf('o')} from otps o
    where o.tenant_id = ${tenantId} and o.phone_key = ${phoneKey} and o.purpose = ${purpose}
      and o.state = any('{live,verified,exhausted,expired}'::text[])
    order by o.message_id desc limit 1`.execute(db);
  return rows[0];
}

export async function getOtp(db: Db, tenantId: number, id: string): Promise<OtpRow | undefined> {
  const { rows } = await sql<OtpRow>`
    select ${columnsOf('o')} from otps o where o.tenant_id = ${tenantId} and o.id = ${id}::uuid`.execute(db);
  return rows[0];
}
