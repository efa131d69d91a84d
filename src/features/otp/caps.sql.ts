import { sql } from 'kysely';
import type { Db } from '../../database/database.ts';
import { anyOf } from '../../database/expressions.ts';
import type { PhoneUse } from './caps.ts';

/**
 * The counters of the caps. Each is checked and incremented by one conditional statement on one row, so that concurrent requests
 * are serialized across processes.
 */

/** At most `max` in any period of `windowMs`. */
export interface Window {
  readonly windowMs: number;
  readonly max: number;
}

const none = sql`'{}'::timestamptz[]`;
/** The database's clock: the clocks of processes differ. */
const clock = sql`t as materialized (select clock_timestamp()::timestamptz(3) as now)`;
const start = ({ windowMs }: Window) => sql`(select now from t) - ${windowMs}::float8 * interval '1 millisecond'`;

/**
 * Locks the counters of numbers. Lock order: otp_phones before otps, as a verification takes them, to avoid deadlocks; several numbers
 * by key.
 */
export const lockPhones = (trx: Db, tenantId: number, phoneKeys: readonly string[]): Promise<unknown> =>
  trx
    .selectFrom('otp_phones')
    .select('phone_key')
    .where('tenant_id', '=', tenantId)
    .where('phone_key', '=', anyOf(phoneKeys))
    .orderBy('phone_key')
    .forUpdate()
    .execute();

/** Counts a send to a number. @returns its time; undefined if a cap is reached */
export async function takeSend(
  trx: Db,
  tenantId: number,
  phoneKey: string,
  sends: Window,
  /** Only for a resend. */
  resends: Window | undefined,
): Promise<string | undefined> {
  const { rows } = await sql<{ now: string }>`
    with ${clock}
    insert into otp_phones as p (tenant_id, phone_key, sends, resends, touched_at)
    select ${tenantId}::bigint, ${phoneKey}, array[now], ${resends ? sql`array[now]` : none}, now from t
    on conflict (tenant_id, phone_key) do update
    set sends = instants_after(p.sends, ${start(sends)}) || excluded.sends,
        ${resends ? sql`resends = instants_after(p.resends, ${start(resends)}) || excluded.resends,` : sql``}
        touched_at = greatest(p.touched_at, excluded.touched_at)
    where p.tenant_id = excluded.tenant_id and cardinality(instants_after(p.sends, ${start(sends)})) < ${sends.max}
      ${resends ? sql`and cardinality(instants_after(p.resends, ${start(resends)})) < ${resends.max}` : sql``}
    returning (select now from t) as now`.execute(trx);
  return rows[0]?.now;
}

/** Counts a send of a tenant in an hour. @returns false if the cap is reached */
export async function takeHour(trx: Db, tenantId: number, hour: string, max: number): Promise<boolean> {
  const { rows } = await sql`
    insert into otp_hours as h (tenant_id, hour, sends) values (${tenantId}, ${hour}::timestamptz, 1)
    on conflict (tenant_id, hour) do update set sends = h.sends + 1 where h.tenant_id = excluded.tenant_id and h.sends < ${max}
    returning h.sends`.execute(trx);
  return rows.length > 0;
}

/** Subtracts a send that failed from its caps. */
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
  await trx
    .updateTable('otp_hours')
    .set(eb => ({ sends: eb('sends', '-', 1) }))
    .where('tenant_id', '=', tenantId)
    .where('hour', '=', hour)
    .where('sends', '>', 0)
    .execute();
}

/**
 * Counts a verification of a number, whether or not it has a code. Locks the number's row until the transaction ends, so that
 * concurrent verifications of a number count failures exactly.
 * @returns false if a cap is reached
 */
export async function takeVerification(
  trx: Db,
  tenantId: number,
  phoneKey: string,
  verifications: Window,
  failures: Window,
): Promise<boolean> {
  const { rows } = await sql`
    with ${clock}
    insert into otp_phones as p (tenant_id, phone_key, verifications, touched_at)
    select ${tenantId}::bigint, ${phoneKey}, array[now], now from t
    on conflict (tenant_id, phone_key) do update
    set verifications = instants_after(p.verifications, ${start(verifications)}) || excluded.verifications,
        failures = instants_after(p.failures, ${start(failures)}), touched_at = greatest(p.touched_at, excluded.touched_at)
    where p.tenant_id = excluded.tenant_id
      and cardinality(instants_after(p.verifications, ${start(verifications)})) < ${verifications.max}
      and cardinality(instants_after(p.failures, ${start(failures)})) < ${failures.max}
    returning p.tenant_id`.execute(trx);
  return rows.length > 0;
}

export async function addFailure(trx: Db, tenantId: number, phoneKey: string): Promise<void> {
  await trx
    .updateTable('otp_phones')
    .set({ failures: sql<string[]>`failures || clock_timestamp()::timestamptz(3)` })
    .where('tenant_id', '=', tenantId)
    .where('phone_key', '=', phoneKey)
    .execute();
}

/** The recent use of a number. A number that was refused by a cap has a row. */
export async function readUse(db: Db, tenantId: number, phoneKey: string): Promise<PhoneUse> {
  const { rows } = await sql<PhoneUse>`
    select to_jsonb(sends) as sends, to_jsonb(resends) as resends, to_jsonb(verifications) as verifications, to_jsonb(failures) as failures,
      clock_timestamp() as now
    from otp_phones where tenant_id = ${tenantId} and phone_key = ${phoneKey}`.execute(db);
  return rows[0] ?? { sends: [], resends: [], verifications: [], failures: [], now: new Date(0).toISOString() };
}
