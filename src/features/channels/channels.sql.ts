import { sql } from 'kysely';
import type { Db } from '../../database/database.ts';

export interface WebhookOwner {
  readonly tenant_id: number;
  readonly channel_id: number;
  readonly phone_number_id: string;
  readonly waba_id: string;
  readonly portfolio_id: string | null;
  readonly display_phone_number: string;
  readonly app_secret_sealed: Buffer;
}

/**
 * The channels that a webhook names, by the network's ids. A disconnected number still receives its own webhooks, for statuses of
 * sent messages, until another tenant connects it, but not those of its business account or portfolio.
 *
 * Uses one index per kind of id; joined by `or`, the query scans all channels (1.2 ms for 2,000).
 * @param accountIds ids of business accounts and portfolios
 */
export async function findWebhookOwners(
  db: Db,
  phoneNumberIds: readonly string[],
  accountIds: readonly string[],
): Promise<WebhookOwner[]> {
  const { rows } = await sql<WebhookOwner>`
    /* cross-tenant: the network names numbers, not tenants; the signature is checked against each owner's secret */
    with found as (
      select n.tenant_id, n.channel_id from unnest(${phoneNumberIds}::text[]) as p (id)
      cross join lateral (select n.tenant_id, n.channel_id from channel_numbers n where n.phone_number_id = p.id offset 0) n
      union
      select c.tenant_id, c.id from unnest(${accountIds}::text[]) as a (id)
      cross join lateral (select c.tenant_id, c.id, c.status from channels c where c.waba_id = a.id offset 0) c
      where c.status <> 'disconnected'
      union
      select c.tenant_id, c.id from unnest(${accountIds}::text[]) as a (id)
      cross join lateral (
        select c.tenant_id, c.id, c.status from channels c where c.portfolio_id = a.id and c.portfolio_id is not null offset 0) c
      where c.status <> 'disconnected'
    )
    select c.tenant_id, c.id as channel_id, c.phone_number_id, c.waba_id, c.portfolio_id, c.display_phone_number, c.app_secret_sealed
    from found f
    cross join lateral (
      select c.* from channels c where c.tenant_id = f.tenant_id and c.id = f.channel_id offset 0) c`.execute(db);
  return rows;
}
