import { sql } from 'kysely';
import type { Db } from '../../platform/database.ts';

export interface StandingRow {
  readonly contact_id: number;
  /** When bots answered, latest first. ISO 8601. */
  readonly replied_at: readonly string[];
  /** By bot: when it last answered. */
  readonly last_by_bot: Readonly<Record<string, string>>;
  /** When a person of the tenant last wrote. */
  readonly person_at: string | null;
  /** Those of the bots that are enabled at this moment. */
  readonly enabled_bots: readonly number[];
}

/**
 * How it stands between bots and some contacts. Refused replies do not count: a cool-down that brought nobody an answer is
 * given back by that.
 *
 * @param botIds whose last replies are asked for, and how far back
 * @param handOverMinutes how far back a person's message counts; 0: nobody asks
 */
export async function standings(
  db: Db,
  tenantId: number,
  contactIds: readonly number[],
  botIds: readonly number[],
  sinceIso: string,
  handOverMinutes: number,
  remembered: number,
  nowIso: string,
): Promise<StandingRow[]> {
  // Each message is looked up by itself: as an anti-join it may be merged with all replies of the tenant.
  // By the id as well, which the index has. Ids are made by the clock on the wall, whatever clock the rest goes by.
  const person =
    handOverMinutes === 0
      ? sql`null::timestamptz`
      : sql`(
          select max(m.created_at) from messages m
          where m.tenant_id = ${tenantId} and m.contact_id = c.id and m.direction = 'outbound'
            and m.id >= uuid_at(now() - make_interval(mins => ${handOverMinutes + 1}))
            and m.created_at > ${nowIso}::timestamptz - make_interval(mins => ${handOverMinutes})
            and m.type <> 'template' and m.status <> 'failed'
            and (select r.bot_id from bot_replies r where r.tenant_id = ${tenantId} and r.reply_message_id = m.id) is null
        )`;
  const { rows } = await sql<StandingRow>`
    select c.id as contact_id,
      array_to_json(array(
        select r.created_at from bot_replies r
        where r.tenant_id = ${tenantId} and r.contact_id = c.id and r.state <> 'refused'
        order by r.created_at desc limit ${remembered})) as replied_at,
      coalesce((select json_object_agg(bot_id, last) from (
        select r.bot_id, max(r.created_at) as last from bot_replies r
        where r.tenant_id = ${tenantId} and r.contact_id = c.id and r.created_at > ${sinceIso}::timestamptz
          and r.bot_id = any(${botIds}::bigint[]) and r.state <> 'refused'
        group by r.bot_id) latest), '{}') as last_by_bot,
      ${person} as person_at,
      array_to_json(array(
        select b.id from bots b where b.tenant_id = ${tenantId} and b.id = any(${botIds}::bigint[]) and b.is_enabled)) as enabled_bots
    from unnest(${contactIds}::bigint[]) as c (id)`.execute(db);
  return rows;
}

/** Those of some contacts who have written before a message of theirs. */
export async function haveWritten(db: Db, tenantId: number, contactIds: readonly number[]): Promise<Set<number>> {
  const { rows } = await sql<{ id: number }>`
    select c.id from unnest(${contactIds}::bigint[]) as c (id)
    where exists (select from messages m where m.tenant_id = ${tenantId} and m.contact_id = c.id and m.direction = 'inbound')`.execute(
    db,
  );
  return new Set(rows.map(row => row.id));
}

/** Those of some numbers (digits) that are connected here as channels, of any tenant. */
export async function channelNumbers(db: Db, digits: readonly string[]): Promise<Set<string>> {
  const { rows } = await sql<{ digits: string }>`
    /* cross-tenant: two bots of this deployment must not talk to each other for ever, whoever they belong to */
    select distinct regexp_replace(display_phone_number, '\\D', '', 'g') as digits from channels
    where regexp_replace(display_phone_number, '\\D', '', 'g') = any(${digits}::text[])`.execute(db);
  return new Set(rows.map(row => row.digits));
}
