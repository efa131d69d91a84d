import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../../../database/database.ts';
import type { AccountRow } from './account.ts';
import { SETTINGS } from './store.ts';

const SETTINGS_SQL = sql.raw(SETTINGS.map(name => `t.${name}`).join(', '));

/** Tenants with plan and usage. Only staff are counted here, some tens per tenant; everything else has counters. */
const select = (month: string): RawBuilder<AccountRow> => sql<AccountRow>`
  select t.tenant_id as id, t.slug, t.name, t.status, t.keep_messages_days, ${SETTINGS_SQL}, t.created_at, p.id as plan_id, p.name as plan_name,
         t.plan_expires_at, p.calls_per_minute, p.features, ${month}::date::text as month,
         u.contacts, u.contacts_maximum as max_contacts, m.conversations, p.max_conversations, m.messages, p.max_messages,
         (select count(*) from staff s where s.tenant_id = t.tenant_id) as staff, p.max_staff,
         coalesce(f.files, 0) as media_files, coalesce(f.bytes, 0) as media_bytes
  from tenants t
  join plans p on p.id = t.plan_id
  join tenant_usage u on u.tenant_id = t.tenant_id
  left join media_usage f on f.tenant_id = t.tenant_id
  cross join lateral (
    select coalesce(sum(conversations), 0)::bigint as conversations, coalesce(sum(messages), 0)::bigint as messages
    from monthly_usage where tenant_id = t.tenant_id and month = ${month}::date
  ) m`;

/** @param month its first day, for example 2026-12-01 */
export async function getAccount(db: Db, tenantId: number, month: string): Promise<AccountRow | undefined> {
  const { rows } = await sql<AccountRow>`${select(month)} where t.tenant_id = ${tenantId}`.execute(db);
  return rows[0];
}

/** All tenants, for the operator's command line only. */
export async function listAccounts(db: Db, month: string): Promise<AccountRow[]> {
  const { rows } =
    await sql<AccountRow>`/* cross-tenant: the operator's list */ ${select(month)} order by t.slug`.execute(db);
  return rows;
}
