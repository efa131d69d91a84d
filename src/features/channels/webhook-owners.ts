import type { Resources } from '../../context.ts';
import { sha256 } from '../../platform/crypto.ts';
import { findWebhookOwners, verifyTokenExists } from './store.ts';

export interface WebhookOwner {
  readonly tenantId: number;
  readonly channelId: number;
  readonly phoneNumberId: string;
  readonly wabaId: string;
  readonly appSecret: string;
}

/** The channels that a webhook names, with the secrets that may have signed it. */
export async function webhookOwners(
  { db, secrets }: Pick<Resources, 'db' | 'secrets'>,
  phoneNumberIds: readonly string[],
  wabaIds: readonly string[],
): Promise<WebhookOwner[]> {
  const rows = await findWebhookOwners(db.read, phoneNumberIds, wabaIds);
  return rows.map(row => ({
    tenantId: row.tenant_id,
    channelId: row.channel_id,
    phoneNumberId: row.phone_number_id,
    wabaId: row.waba_id,
    appSecret: secrets.open(row.app_secret_sealed),
  }));
}

/** Whether the network's check of our webhook address names a token that a channel was connected with. */
export const isVerifyToken = ({ db }: Pick<Resources, 'db'>, token: string): Promise<boolean> =>
  verifyTokenExists(db.read, sha256(token));
