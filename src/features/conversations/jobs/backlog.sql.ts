import { sql } from 'kysely';
import { type Backlog, inAccount } from '../../../lanes/store/backlog.sql.ts';

/** Unfinished updates of many conversations, by lane; see `listLanes`. */
export const jobBacklog: Backlog = tenantId => sql`
  select tenant_id, tenant_id::text as key, count(*) as count, min(created_at) as oldest_at
  from conversation_jobs where ${inAccount(tenantId)} and finished_at is null group by tenant_id`;
