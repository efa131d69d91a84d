import { sql } from 'kysely';
import type { Db } from '../../../database/database.ts';
import { PLANNED_AT_EACH_CALL } from '../../../database/statements.ts';
import type { MessageRef } from './outbox.sql.ts';
import type { BegunCall } from './sent-memory.ts';

export interface Unsettled {
  readonly message_id: string;
  /** Whether it is in the outbox; otherwise the message does not exist. */
  readonly is_waiting: boolean;
}

/** The outbox may have been empty at the last call. */
const PLANNED = sql.raw(PLANNED_AT_EACH_CALL);

const idsOf = (messages: readonly MessageRef[]) =>
  sql`${messages.map(({ tenantId }) => tenantId)}::bigint[], ${messages.map(({ messageId }) => messageId)}::uuid[]`;

/** Finds those of some accepted messages that are in the outbox, or do not exist. */
export async function findUnsettled(db: Db, messages: readonly MessageRef[]): Promise<Unsettled[]> {
  const { rows } = await sql<Unsettled>`
    /* cross-tenant: a process drains lanes of all tenants, each message named with its own */ ${PLANNED}
    select r.message_id, o.found is not null as is_waiting
    from unnest(${idsOf(messages)}) as r (tenant_id, message_id)
    -- Behind offset 0, by the keys: whatever the planner believes of the tables.
    left join lateral (
      select true as found from outbox q where q.tenant_id = r.tenant_id and q.message_id = r.message_id offset 0) o on true
    left join lateral (
      select true as found from message_states s where s.tenant_id = r.tenant_id and s.message_id = r.message_id offset 0) m on true
    where o.found is not null or m.found is null`.execute(db);
  return rows;
}

/** Has messages wait for their statuses whose calls have begun, but whose claims are lost. @returns how many */
export async function markInDoubt(db: Db, calls: readonly BegunCall[]): Promise<number> {
  const { rows } = await sql<{ marked: number }>`
    /* cross-tenant: a process drains lanes of all tenants, each message named with its own */
    select mark_in_doubt(${idsOf(calls)}, ${calls.map(({ attempts }) => attempts)}::integer[]) as marked`.execute(db);
  return rows[0]?.marked ?? 0;
}
