import { sql } from 'kysely';
import type { Db } from '../../../database/database.ts';
import { presentIdentity } from '../../contacts/columns.ts';
import { idBefore, personBefore } from '../engine/contact-state.sql.ts';

/** A past message, with the state of its sender when it arrived. */
export interface PastMessage {
  readonly id: string;
  readonly contact_id: number;
  readonly type: string;
  readonly body: string | null;
  readonly content: Readonly<Record<string, unknown>>;
  /** Milliseconds. */
  readonly at_ms: number;
  /** Whether it was the contact's first message; false if not queried. */
  readonly is_first: boolean;
  /** Time of the last message from a person of the tenant before it, within the hand-over. */
  readonly person_at: string | null;
  /** Whether the contact had opted out, as far as its state of today tells. */
  readonly is_opted_out: boolean;
  readonly phone: string | null;
  readonly phone_key: string | null;
  readonly wa_id: string | null;
}

export interface PastRange {
  /** ISO 8601. */
  readonly since: string;
  /** Id of the last message that was tried already. */
  readonly after: string | undefined;
}

/**
 * Returns inbound messages of a period that bots may answer, in the order of their arrival.
 * @param types of messages that bots answer
 */
export async function listPast(
  db: Db,
  tenantId: number,
  { since, after }: PastRange,
  types: readonly string[],
  { askWhetherFirst, handOverMinutes }: { readonly askWhetherFirst: boolean; readonly handOverMinutes: number },
  limit: number,
): Promise<PastMessage[]> {
  const isFirst = askWhetherFirst
    ? sql`not exists (
        select from messages p
        where p.tenant_id = ${tenantId} and p.contact_id = m.contact_id and p.direction = 'inbound'
          and (p.created_at, p.id) < (m.created_at, m.id) ${idBefore(sql`p.id`, sql`m.created_at`)})`
    : sql`false`;
  const person = personBefore(tenantId, sql`m.contact_id`, { instant: sql`m.created_at` }, handOverMinutes);
  const beyond = after === undefined ? sql`true` : sql`m.id > ${after}::uuid`;
  const { rows } = await sql<PastMessage>`
    select m.id, m.contact_id, m.type, m.body, m.content,
      floor(extract(epoch from m.created_at) * 1000)::float8 as at_ms,
      ${isFirst} as is_first, ${person} as person_at,
      coalesce(c.opted_out_at < m.created_at, false) as is_opted_out,
      c.phone, c.phone_key, ${presentIdentity(tenantId, 'wa_id')} as wa_id
    from messages m
    join contacts c on c.tenant_id = ${tenantId} and c.id = m.contact_id
    where m.tenant_id = ${tenantId} and m.id >= uuid_at(${since}::timestamptz) and ${beyond}
      and m.direction = 'inbound' and m.group_chat_id is null and m.type = any(${types}::text[])
    order by m.id limit ${limit}`.execute(db);
  return rows;
}
