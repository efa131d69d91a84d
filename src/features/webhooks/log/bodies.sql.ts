import { sql } from 'kysely';
import type { Db } from '../../../database/database.ts';
import type { JsonObject } from '../../../platform/json.ts';

/** An event with what the body of its deliveries contains. */
export interface BodyRow {
  readonly id: string;
  readonly type: string;
  readonly payload: JsonObject;
  readonly occurred_at: string;
  /** Of the event's channel; null if it has none. */
  readonly is_sandbox: boolean | null;
}

/** The events that are still in the log, without those about erased contacts. */
export async function getBodies(db: Db, tenantId: number, eventIds: readonly string[]): Promise<BodyRow[]> {
  const { rows } = await sql<BodyRow>`
    select e.id, e.type, e.payload, e.occurred_at, c.is_sandbox
    from events e
    left join channels c on c.tenant_id = e.tenant_id
      and c.id = coalesce(e.payload -> 'message' ->> 'channel_id', e.payload -> 'channel' ->> 'id')::bigint
    where e.tenant_id = ${tenantId} and e.id = any(${eventIds}::uuid[]) and e.erased_at is null`.execute(db);
  return rows;
}
