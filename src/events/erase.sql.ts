import { sql } from 'kysely';
import { ERASURE_EVENTS } from '../core/events.ts';
import type { Db } from '../database/database.ts';
import { anyOf } from '../database/expressions.ts';
import { blankPayload } from './blank-payload.ts';
import { blankSetAside } from './set-aside.sql.ts';

/** Blanks at most `limit` events about contacts, except those that report the erasure itself. @returns the contact id of each blanked event */
export async function eraseEvents(
  trx: Db,
  tenantId: number,
  contactIds: readonly number[],
  nowIso: string,
  limit: number,
): Promise<number[]> {
  const events = await trx
    .selectFrom('events')
    .select(['id', 'contact_id', 'payload'])
    .where('tenant_id', '=', tenantId)
    .where('contact_id', '=', anyOf(contactIds))
    .where('erased_at', 'is', null)
    .where('type', '<>', sql<string>`all(${ERASURE_EVENTS})`)
    .limit(limit)
    .forUpdate()
    .$narrowType<{ contact_id: number; payload: Readonly<Record<string, unknown>> }>()
    .execute();
  if (events.length === 0) return [];
  const blanked = events.map(({ id, payload }) => ({ id, payload: blankPayload(payload) }));
  await writeBlanked(trx, tenantId, blanked, nowIso);
  await blankSetAside(
    trx,
    tenantId,
    events.map(({ id }) => id),
  );
  return events.map(event => event.contact_id);
}

/** Writes blanked payloads; positions in the log (xid, seq) do not change. */
export async function writeBlanked(
  trx: Db,
  tenantId: number,
  events: readonly { readonly id: string; readonly payload: object }[],
  nowIso: string,
): Promise<void> {
  const ids = events.map(event => event.id);
  await sql`
    update events e set payload = b.payload, erased_at = ${nowIso}::timestamptz
    from unnest(${ids}::uuid[], ${events.map(event => JSON.stringify(event.payload))}::jsonb[]) as b (id, payload)
    where e.tenant_id = ${tenantId} and e.id = b.id and e.id = any(${ids}::uuid[])`.execute(trx);
}
