import { sql } from 'kysely';
import type { Db } from '../../database/database.ts';

export interface WebhookOwnerRow {
  readonly tenant_id: number;
  readonly channel_id: number;
  readonly phone_number_id: string;
  readonly waba_id: string;
  readonly portfolio_id: string | null;
  readonly display_phone_number: string;
  readonly app_secret_sealed: Buffer;
  /** Of all owners that were found; function `webhook_owners_version`. */
  readonly version: string;
  /** Of all owners in the database; table `webhook_owners_revision`. */
  readonly revision: string;
}

/**
 * The channels that a webhook names, by the network's ids (function `webhook_owners` of migration 0078), with a digest of them and a revision
 * of all owners, by which the statement that stores webhooks verifies that they are still the same.
 * @param accountIds ids of business accounts and portfolios
 */
export async function findWebhookOwners(
  db: Db,
  phoneNumberIds: readonly string[],
  accountIds: readonly string[],
): Promise<WebhookOwnerRow[]> {
  const { rows } = await sql<WebhookOwnerRow>`
    /* cross-tenant: the network names numbers, not tenants; the signature is checked against each owner's secret */
    with named as (select ${phoneNumberIds}::text[] as numbers, ${accountIds}::text[] as accounts)
    select o.*, webhook_owners_version(n.numbers, n.accounts) as version,
      (select revision from webhook_owners_revision) as revision
    from named n, webhook_owners(n.numbers, n.accounts) o`.execute(db);
  return rows;
}
