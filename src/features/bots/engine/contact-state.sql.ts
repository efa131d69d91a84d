import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../../../database/database.ts';
import { phoneKey } from '../../../platform/phone.ts';
import { BOT_LIMITS, type BotRow } from '../bot.ts';
import { type ContactState, REMEMBERED_REPLIES } from './decide.ts';

export interface ContactStateRow {
  /** The database's clock. */
  readonly now_ms: number;
  readonly contact_id: number;
  /** Times of bot replies, latest first. ISO 8601. */
  readonly replied_at: readonly string[];
  /** Time of the last reply, by bot. */
  readonly last_by_bot: Readonly<Record<string, string>>;
  /** Time of the last message from a person of the tenant. */
  readonly person_at: string | null;
  /** The bots among the given ones that are enabled now. */
  readonly enabled_bots: readonly number[];
}

/**
 * The time of the last message that a person of the tenant sent to a contact within some minutes before an instant; of a scheduled
 * one the time it was scheduled for. It does not count what bots sent, templates, and what was not delivered.
 * @param instant a column of the past; then later messages of the contact are not read either
 * @param stable the same instant as a stable expression, if `instant` is volatile: an index condition cannot use a volatile one
 * @param minutes 0: always null, and no message is read
 */
export function personBefore(
  tenantId: number,
  contactId: RawBuilder<unknown>,
  { instant, stable }: { readonly instant: RawBuilder<unknown>; readonly stable?: RawBuilder<unknown> },
  minutes: number,
): RawBuilder<string | null> {
  if (minutes === 0) return sql`null::timestamptz`;
  const last = (time: RawBuilder<unknown>, range: RawBuilder<unknown>) => sql`(
    select max(${time}) from messages m
    join message_states s on s.tenant_id = ${tenantId} and s.message_id = m.id
    where m.tenant_id = ${tenantId} and m.contact_id = ${contactId} and m.direction = 'outbound' and ${range}
      and ${time} > ${instant} - make_interval(mins => ${minutes}) and ${time} <= ${instant}
      and m.type <> 'template' and s.status <> all('{scheduled,failed,cancelled}')
      and (select r.bot_id from bot_replies r where r.tenant_id = ${tenantId} and r.reply_message_id = m.id) is null
  )`;
  const since = sql`${stable ?? instant} - make_interval(mins => ${minutes + 1})`;
  const until = stable ? sql`` : idBefore(sql`m.id`, instant);
  // Looks up each message separately: as an anti-join, the planner may merge it with all replies of the tenant.
  // By the id as well, which the index has. Ids are made within a second of the time of creation.
  const sentAtOnce = last(sql`m.created_at`, sql`m.scheduled_at is null and m.id >= uuid_at(${since}) ${until}`);
  const scheduled = last(sql`m.scheduled_at`, sql`m.scheduled_at is not null and m.scheduled_at > ${since}`);
  return sql`greatest(${sentAtOnce}, ${scheduled})`;
}

/** Bounds an id by an instant: it may have been made up to a second after. */
export const idBefore = (id: RawBuilder<unknown>, instant: RawBuilder<unknown>): RawBuilder<unknown> =>
  sql`and ${id} < uuid_at(${instant} + interval '1 minute')`;

/**
 * Reads the state between bots and contacts. Refused replies do not count, so they trigger no cool-down.
 *
 * @param botIds bots whose last replies are read, with the number of seconds to look back
 * @param handOverMinutes how far back a person's message counts; 0: not read
 */
async function selectContactStates(
  db: Db,
  tenantId: number,
  contactIds: readonly number[],
  botIds: readonly number[],
  sinceSeconds: number,
  handOverMinutes: number,
  remembered: number,
): Promise<ContactStateRow[]> {
  const now = { instant: sql`clock_timestamp()`, stable: sql`now()` };
  const person = personBefore(tenantId, sql`c.id`, now, handOverMinutes);
  const { rows } = await sql<ContactStateRow>`
    select floor(extract(epoch from clock_timestamp()) * 1000)::float8 as now_ms, c.id as contact_id,
      array_to_json(array(
        select r.created_at from bot_replies r
        where r.tenant_id = ${tenantId} and r.contact_id = c.id and r.state <> 'refused'
        order by r.created_at desc limit ${remembered})) as replied_at,
      coalesce((select json_object_agg(bot_id, last) from (
        select r.bot_id, max(r.created_at) as last from bot_replies r
        where r.tenant_id = ${tenantId} and r.contact_id = c.id and r.created_at > clock_timestamp() - make_interval(secs => ${sinceSeconds})
          and r.bot_id = any(${botIds}::bigint[]) and r.state <> 'refused'
        group by r.bot_id) latest), '{}') as last_by_bot,
      ${person} as person_at,
      array_to_json(array(
        select b.id from bots b where b.tenant_id = ${tenantId} and b.id = any(${botIds}::bigint[]) and b.is_enabled)) as enabled_bots
    from unnest(${contactIds}::bigint[]) as c (id)`.execute(db);
  return rows;
}

export const NEVER_ANSWERED: ContactState = {
  repliedAt: [],
  lastByBot: new Map(),
  personAt: undefined,
  enabled: undefined,
};

/**
 * Reads the state between bots and contacts, with the database's time. It does not change during a transaction that has locked the
 * contacts.
 */
export async function readContactStates(
  db: Db,
  tenantId: number,
  contactIds: readonly number[],
  bots: readonly Pick<BotRow, 'id' | 'hand_over_minutes'>[],
): Promise<{ readonly nowMs: number; readonly states: Map<number, ContactState> }> {
  const rows = await selectContactStates(
    db,
    tenantId,
    contactIds,
    bots.map(bot => bot.id),
    BOT_LIMITS.cooldownSeconds,
    Math.max(0, ...bots.map(bot => bot.hand_over_minutes)),
    REMEMBERED_REPLIES,
  );
  return { nowMs: rows[0]?.now_ms ?? 0, states: new Map(rows.map(row => [row.contact_id, contactStateOf(row)])) };
}

const contactStateOf = ({ replied_at, last_by_bot, person_at, enabled_bots }: ContactStateRow): ContactState => ({
  repliedAt: replied_at.map(Date.parse),
  lastByBot: new Map(Object.entries(last_by_bot).map(([id, at]) => [Number(id), Date.parse(at)])),
  personAt: person_at === null ? undefined : Date.parse(person_at),
  enabled: new Set(enabled_bots),
});

/** Returns the contacts that wrote before the given message. */
export async function haveWritten(db: Db, tenantId: number, contactIds: readonly number[]): Promise<Set<number>> {
  const { rows } = await sql<{ id: number }>`
    select c.id from unnest(${contactIds}::bigint[]) as c (id)
    where exists (select from messages m where m.tenant_id = ${tenantId} and m.contact_id = c.id and m.direction = 'inbound')`.execute(
    db,
  );
  return new Set(rows.map(row => row.id));
}

/** Returns the numbers (digits) that are connected as channels of any tenant. */
async function channelNumbers(db: Db, digits: readonly string[]): Promise<Set<string>> {
  const { rows } = await sql<{ digits: string }>`
    /* cross-tenant: two bots of this deployment must not answer each other endlessly, even across tenants */
    select distinct regexp_replace(display_phone_number, '\\D', '', 'g') as digits from channels
    where regexp_replace(display_phone_number, '\\D', '', 'g') = any(${digits}::text[])`.execute(db);
  return new Set(rows.map(row => row.digits));
}

/** The known numbers of a person. */
export interface PhoneNumbers {
  readonly phone: string | null;
  readonly phone_key: string | null;
  readonly wa_id: string | null;
}

/** Returns a predicate: whether a person's number, in any spelling, is that of a channel of this deployment. */
export async function connectedNumbers(
  db: Db,
  people: readonly PhoneNumbers[],
): Promise<(person: PhoneNumbers) => boolean> {
  const digits = [...new Set(people.flatMap(spellings))];
  const connected = digits.length === 0 ? new Set<string>() : await channelNumbers(db, digits);
  return person => spellings(person).some(digits => connected.has(digits));
}

function spellings({ phone, phone_key, wa_id }: PhoneNumbers): string[] {
  const digits = [phone, wa_id].flatMap(number =>
    number === null ? [] : [number.replace(/\D/g, ''), phoneKey(number)],
  );
  return [...new Set([...digits, ...(phone_key === null ? [] : [phone_key])])];
}
