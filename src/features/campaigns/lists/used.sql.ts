import { sql } from 'kysely';
import type { Db } from '../../../database/database.ts';

/** Whether a campaign that is not over has this list as its audience. */
export async function isListUsed(db: Db, tenantId: number, listId: number): Promise<boolean> {
  const { rows } = await sql<{ is_used: boolean }>`
    select exists (
      select from campaigns k where k.tenant_id = ${tenantId} and k.status = any('{draft,scheduled,running,paused}')
        and k.audience @> jsonb_build_object('listId', ${listId}::bigint)) as is_used`.execute(db);
  return rows[0]?.is_used ?? false;
}
