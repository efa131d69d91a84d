import type { Db } from '../../database/database.ts';
import { peopleOf } from '../../network/cloud-api/people.ts';
import { withoutPart } from '../../network/cloud-api/without-people.ts';
import type { SecretBox } from '../../platform/crypto.ts';
import {
  type ErasedPerson,
  findCurrentIdentities,
  findErased,
  waitForErasures,
} from '../contacts/erasure/erased-people.ts';
import { type RewrittenWebhook, rewriteWebhooks } from './erase.sql.ts';
import { rewrittenWebhook } from './erase.ts';
import type { ReadableWebhook } from './route-updates.ts';

export interface CheckedWebhooks {
  readonly webhooks: readonly ReadableWebhook[];
  /** Erased people whom the webhooks name. */
  readonly erased: readonly ErasedPerson[];
}

/**
 * Removes data of erased people from before their erasure, in memory and in the stored bodies, so that a late webhook does not
 * restore an erased person. Messages sent after the erasure are kept.
 */
export async function removeErased(
  trx: Db,
  secrets: Pick<SecretBox, 'permanentMac'>,
  tenantId: number,
  webhooks: readonly ReadableWebhook[],
): Promise<CheckedWebhooks> {
  await waitForErasures(trx, tenantId);
  const named = new Set(webhooks.flatMap(({ body }) => [...peopleOf(body)]));
  const erased = await findErased(trx, secrets, tenantId, named);
  if (erased.length === 0) return { webhooks, erased };
  const identities = erased.map(({ identity }) => identity);
  const present = await findCurrentIdentities(trx, tenantId, identities);
  const rewritten: RewrittenWebhook[] = [];
  const checked = webhooks.map(webhook => {
    const body = erased.reduce(
      (rest, person) => withoutErased(rest, person, present.has(person.identity)),
      webhook.body,
    );
    if (body === webhook.body) return webhook;
    rewritten.push(rewrittenWebhook(tenantId, webhook.id, body, identities));
    return { ...webhook, body };
  });
  if (rewritten.length > 0) await rewriteWebhooks(trx, tenantId, rewritten);
  return { webhooks: checked, erased };
}

/** @param isPresent whether the person has a new contact, to whose messages statuses then belong */
const withoutErased = (body: unknown, { identity, erasedAtMs }: ErasedPerson, isPresent: boolean): unknown =>
  withoutPart(body, identity, (element, atMs) => atMs > erasedAtMs && (isPresent || !('status' in element)));
