import { sql } from 'kysely';
import type { Db } from '../../../database/database.ts';
import { crossTenant } from '../../../database/expressions.ts';

/** Whether a campaign that is not over has this list as its audience. */
export async function isListUsed(db: Db, tenantId: number, listId: number): Promise<boolean> {
  const { rows } = await sql<{ is_used: boolean }>`
    select exists (
      select from campaigns k where k.tenant_id = ${tenantId} and k.status = any('{draft,scheduled,running,paused}')
        and k.audience @> jsonb_build_object('listId', ${listId}::bigint)) as is_used`.execute(db);
  return rows[0]?.is_used ?? false;
}

export interface UnusedList {
  readonly tenant_id: number;
  readonly id: number;
}

/** Lists without a campaign that is not over, whose last rows were added, and whose last campaign ended, before a time. */
export async function findUnusedLists(db: Db, beforeIso: string, limit: number): Promise<UnusedList[]> {
  const { rows } = await sql<UnusedList>`
    select l.tenant_id, l.id from campaign_lists l
    where l.updated_at < ${beforeIso}::timestamptz and not exists (
      select from campaigns k where k.tenant_id = l.tenant_id and k.audience @> jsonb_build_object('listId', l.id)
        and (k.status = any('{draft,scheduled,running,paused}') or coalesce(k.ended_at, k.updated_at) >= ${beforeIso}::timestamptz))
    order by l.tenant_id, l.id limit ${limit} ${crossTenant('lists of all tenants grow old')}`.execute(db);
  return rows;
}
