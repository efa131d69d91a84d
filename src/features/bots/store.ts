import { sql } from 'kysely';
import type { Db } from '../../platform/database.ts';
import { raw } from '../../platform/raw-query.ts';
import type { ListStatement } from '../lists/list.ts';
import { BOT_COLUMNS, type BotRefusal, type BotRow } from './bot.ts';
import type { BotFields } from './parse.ts';
import type { BotReply } from './reply.ts';

declare module '../../platform/database.ts' {
  interface Tables {
    bots: BotRow & { tenant_id: number };
  }
}

const COLUMNS = sql.raw(BOT_COLUMNS.join(', '));

export async function listBots(db: Db, statement: ListStatement): Promise<BotRow[]> {
  const select = [...BOT_COLUMNS.map(column => `b.${column}`), ...statement.keys].join(', ');
  const { rows } = await db.executeQuery(raw<BotRow>(`select ${select} ${statement.tail}`, statement.values));
  return rows;
}

export async function getBots(db: Db, tenantId: number, ids: readonly number[]): Promise<BotRow[]> {
  const { rows } = await sql<BotRow>`
    select ${COLUMNS} from bots where tenant_id = ${tenantId} and id = any(${ids}::bigint[])`.execute(db);
  return rows;
}

/** The bots of a tenant in the order in which they are asked. */
export async function botsInOrder(db: Db, tenantId: number, which: 'enabled' | 'all'): Promise<BotRow[]> {
  const restriction = which === 'enabled' ? sql`and is_enabled` : sql``;
  const { rows } = await sql<BotRow>`
    select ${COLUMNS} from bots where tenant_id = ${tenantId} ${restriction} order by priority desc, id`.execute(db);
  return rows;
}

/** How many bots there are, and the expressions of all but one of them. The tenant's row keeps others from making one meanwhile. */
export async function countForMore(
  trx: Db,
  tenantId: number,
  exceptId: number | undefined,
): Promise<{ bots: number; patterns: string[] }> {
  await sql`select from tenants where tenant_id = ${tenantId} for no key update`.execute(trx);
  const { rows } = await sql<{ bots: number; patterns: string[] }>`
    select count(*) as bots,
      coalesce(array_agg(pattern order by id) filter (where pattern is not null and id is distinct from ${exceptId ?? null}::bigint), '{}') as patterns
    from bots where tenant_id = ${tenantId}`.execute(trx);
  return rows[0] ?? { bots: 0, patterns: [] };
}

export async function insertBot(
  trx: Db,
  tenantId: number,
  fields: BotFields,
  kind: BotRow['kind'],
  reply: BotReply,
): Promise<BotRow> {
  const { rows } = await sql<BotRow>`
    insert into bots (tenant_id, name, kind, trigger, keywords, pattern, is_enabled, priority, others_may_answer, cooldown_seconds,
                      hand_over_minutes, reply)
    values (${tenantId}, ${fields.name}, ${kind}, ${fields.trigger}, ${fields.keywords}::text[], ${fields.pattern}, ${fields.is_enabled},
            ${fields.priority}, ${fields.others_may_answer}, ${fields.cooldown_seconds}, ${fields.hand_over_minutes},
            ${JSON.stringify(reply)}::jsonb)
    returning ${COLUMNS}`.execute(trx);
  return rows[0] as BotRow;
}

export async function lockBot(trx: Db, tenantId: number, id: number): Promise<BotRow | undefined> {
  const { rows } = await sql<BotRow>`
    select ${COLUMNS} from bots where tenant_id = ${tenantId} and id = ${id} for update`.execute(trx);
  return rows[0];
}

export async function updateBot(
  trx: Db,
  tenantId: number,
  id: number,
  fields: BotFields,
  kind: BotRow['kind'],
  reply: BotReply,
): Promise<BotRow> {
  const { rows } = await sql<BotRow>`
    update bots set name = ${fields.name}, kind = ${kind}, trigger = ${fields.trigger}, keywords = ${fields.keywords}::text[],
      pattern = ${fields.pattern}, is_enabled = ${fields.is_enabled}, priority = ${fields.priority},
      others_may_answer = ${fields.others_may_answer}, cooldown_seconds = ${fields.cooldown_seconds},
      hand_over_minutes = ${fields.hand_over_minutes}, reply = ${JSON.stringify(reply)}::jsonb, updated_at = now()
    where tenant_id = ${tenantId} and id = ${id}
    returning ${COLUMNS}`.execute(trx);
  return rows[0] as BotRow;
}

export async function deleteBot(db: Db, tenantId: number, id: number): Promise<BotRow | undefined> {
  const { rows } = await sql<BotRow>`
    delete from bots where tenant_id = ${tenantId} and id = ${id} returning ${COLUMNS}`.execute(db);
  return rows[0];
}

/** What has come of a bot's answers. */
export interface BotOutcome {
  readonly id: number;
  /** How many were sent. */
  readonly count: number;
  readonly refusal: BotRefusal | null;
}

/** Notes with bots what has come of their answers. @param outcomes no bot twice */
export async function noteOutcomes(
  trx: Db,
  tenantId: number,
  outcomes: readonly BotOutcome[],
  atIso: string,
): Promise<void> {
  await sql`
    with o as materialized (
      select o.* from jsonb_to_recordset(${JSON.stringify(outcomes)}::jsonb) as o (id bigint, count int, refusal jsonb)
      join bots b on b.tenant_id = ${tenantId} and b.id = o.id order by b.id for update of b
    )
    update bots b set replies_count = b.replies_count + o.count, last_refusal = coalesce(o.refusal, b.last_refusal),
      last_replied_at = case when o.count > 0 then greatest(b.last_replied_at, ${atIso}::timestamptz) else b.last_replied_at end
    from o where b.tenant_id = ${tenantId} and b.id = o.id`.execute(trx);
}
