import { sql } from 'kysely';
import { type Backlog, inAccount } from '../../../lanes/store/backlog.sql.ts';

/** Recipients of started campaigns that have no message yet, by lane; see `listLanes`. */
export const campaignBacklog: Backlog = tenantId => sql`
  select tenant_id, tenant_id || ':' || id as key, pending::bigint as count, started_at as oldest_at
  from campaigns where ${inAccount(tenantId)} and status = 'running' and pending > 0`;
