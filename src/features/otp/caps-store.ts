import { sql } from 'kysely';
import type { Db } from '../../platform/database.ts';
import type { PhoneUse } from './caps.ts';

declare module '../../platform/database.ts' {
  interface Tables {
    otp_phones: { tenant_id: number; phone_key: string };
    otp_hours: { tenant_id: number; hour: string; sends: number };
  }
}

/**
 * The caps. Each is taken by one conditional statement on one row: of two that come at once, the second waits for the row
 * and is decided on what the first has made of it, in whatever process they run.
 */

/** A cap as a statement needs it: what counts begins at `since` (ISO 8601). */
export interface Window {
  readonly since: string;
  readonly max: number;
}

const none = sql`'{}'::timestamptz[]`;

/** Counts a send to a number. @returns whether there was room under both caps */
export async function takeSend(
  trx: Db,
  tenantId: number,
  phoneKey: string,
  nowIso: string,
  sends: Window,
  /** Of a send that is a resend. */
  resends: Window | undefined,
): Promise<boolean> {
  const now = sql`array[${nowIso}::timestamptz]`;
  const { rows } = await sql`
    insert into otp_phones as p (tenant_id, phone_key, sends, resends, touched_at)
    values (${tenantId}, ${phoneKey}, ${now}, ${resends ? now : none}, ${nowIso}::timestamptz)
    on conflict (tenant_id, phone_key) do update
    set sends = instants_after(p.sends, ${sends.since}::timestamptz) || excluded.sends,
        ${resends ? sql`resends = instants_after(p.resends, ${resends.since}::timestamptz) || excluded.resends,` : sql``}
        touched_at = greatest(p.touched_at, excluded.touched_at)
    where p.tenant_id = excluded.tenant_id and cardinality(instants_after(p.sends, ${sends.since}::timestamptz)) < ${sends.max}
      ${resends ? sql`and cardinality(instants_after(p.resends, ${resends.since}::timestamptz)) < ${resends.max}` : sql``}
    returning p.tenant_id`.execute(trx);
  return rows.length > 0;
}

/** Counts a send of a tenant. @returns whether there was room in this hour */
export async function takeHour(trx: Db, tenantId: number, hour: string, max: number): Promise<boolean> {
  const { rows } = await sql`
    insert into otp_hours as h (tenant_id, hour, sends) values (${tenantId}, ${hour}::timestamptz, 1)
    on conflict (tenant_id, hour) do update set sends = h.sends + 1 where h.tenant_id = excluded.tenant_id and h.sends < ${max}
    returning h.sends`.execute(trx);
  return rows.length > 0;
}

/** Takes back what a send was counted by that came to nothing. */
export async function giveBackSend(
  trx: Db,
  tenantId: number,
  phoneKey: string,
  atIso: string,
  isResend: boolean,
  hour: string,
): Promise<void> {
  await sql`
    update otp_phones set sends = without_one(sends, ${atIso}::timestamptz),
      resends = case when ${isResend} then without_one(resends, ${atIso}::timestamptz) else resends end
    where tenant_id = ${tenantId} and phone_key = ${phoneKey}`.execute(trx);
  await sql`
    update otp_hours set sends = sends - 1 where tenant_id = ${tenantId} and hour = ${hour}::timestamptz and sends > 0`.execute(
    trx,
  );
}

/**
 * Counts a verification of a number, whether there is a code for it or not. The number's row stays locked until the
 * transaction ends: whoever verifies the same number waits, so that failures are counted exactly.
 * @returns whether there was room under both caps
 */
export async function takeVerification(
  trx: Db,
  tenantId: number,
  phoneKey: string,
  nowIso: string,
  verifications: Window,
  failures: Window,
): Promise<boolean> {
  const { rows } = await sql`
    insert into otp_phones as p (tenant_id, phone_key, verifications, touched_at)
    values (${tenantId}, ${phoneKey}, array[${nowIso}::timestamptz], ${nowIso}::timestamptz)
    on conflict (tenant_id, phone_key) do update
    set verifications = instants_after(p.verifications, ${verifications.since}::timestamptz) || excluded.verifications,
        failures = instants_after(p.failures, ${failures.since}::timestamptz), touched_at = greatest(p.touched_at, excluded.touched_at)
    where p.tenant_id = excluded.tenant_id
      and cardinality(instants_after(p.verifications, ${verifications.since}::timestamptz)) < ${verifications.max}
      and cardinality(instants_after(p.failures, ${failures.since}::timestamptz)) < ${failures.max}
    returning p.tenant_id`.execute(trx);
  return rows.length > 0;
}

export async function addFailure(trx: Db, tenantId: number, phoneKey: string, nowIso: string): Promise<void> {
  await sql`
    update otp_phones set failures = failures || ${nowIso}::timestamptz where tenant_id = ${tenantId} and phone_key = ${phoneKey}`.execute(
    trx,
  );
}

/** What was lately done with a number, as it is now. */
export async function readUse(db: Db, tenantId: number, phoneKey: string): Promise<PhoneUse> {
  const { rows } = await sql<PhoneUse>`
    select to_jsonb(sends) as sends, to_jsonb(resends) as resends, to_jsonb(verifications) as verifications, to_jsonb(failures) as failures
    from otp_phones where tenant_id = ${tenantId} and phone_key = ${phoneKey}`.execute(db);
  return rows[0] ?? { sends: [], resends: [], verifications: [], failures: [] };
}
