import { NIL_UUID } from '../../core/ids.ts';
import type { Db } from '../../database/database.ts';
import { peopleOf } from '../../network/cloud-api/people.ts';
import { sha256 } from '../../platform/crypto.ts';
import { insertPeople, listWebhooksOf, type StoredWebhook } from './webhooks.sql.ts';

/**
 * The key of a person in `inbound_webhook_people`: 48 bits of a hash, to fit a safe integer. Keys may collide.
 * @param identity a number as `phoneKey` folds it, or a business-scoped user id
 */
export const personKey = (tenantId: number, identity: string): number =>
  sha256(`${tenantId} ${identity}`).readUIntBE(0, 6);

/** Indexes the people named in raw webhooks. @param bodies the parsed bodies by webhook id */
export async function indexPeople(trx: Db, tenantId: number, bodies: ReadonlyMap<string, unknown>): Promise<void> {
  const rows = [...bodies].flatMap(([webhookId, body]) =>
    [...peopleOf(body)].map(identity => ({ webhookId, person: personKey(tenantId, identity) })),
  );
  if (rows.length > 0) await insertPeople(trx, tenantId, rows);
}

/**
 * Lists stored webhooks that may name a person, oldest first: those in the index, and those that may not be in it (waiting, or
 * given up). The caller checks the body.
 * @param identities of one person: numbers as `phoneKey` folds them, and business-scoped user ids
 * @param after id of the last webhook of the previous page
 */
export const findWebhooksOf = (
  db: Db,
  tenantId: number,
  identities: readonly string[],
  limit: number,
  after?: string,
): Promise<StoredWebhook[]> =>
  listWebhooksOf(
    db,
    tenantId,
    identities.map(identity => personKey(tenantId, identity)),
    limit,
    after ?? NIL_UUID,
  );
