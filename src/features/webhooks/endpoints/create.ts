import { invalid, notFound } from '../../../core/errors.ts';
import { scopesToRead } from '../../../core/events.ts';
import { requireFeature } from '../../../core/plan-features.ts';
import { callerOf, requireScopes } from '../../../core/principal.ts';
import type { Db } from '../../../database/database.ts';
import type { Cursor } from '../../../events/cursor.ts';
import type { Context } from '../../../schema/context.ts';
import { once } from '../../tenancy/idempotency/once.ts';
import { withValues } from '../delivery/headers.ts';
import { newSecret } from '../delivery/signature.ts';
import { endBacklog, endRemaining } from './end-backlog.ts';
import {
  type EndpointFields,
  type EndpointInput,
  type EndpointRow,
  MAX_ENDPOINTS,
  parseEndpoint,
  subscriptionOf,
  type UrlRules,
} from './endpoint.ts';
import {
  countEndpoints,
  type EndpointValues,
  getEndpoints,
  insertEndpoint,
  lockEndpoints,
  lockSubscription,
  updateEndpoint,
} from './store.ts';
import { sealHeaders } from './target.ts';

/** The payload of `createWebhookEndpoint`. */
export interface CreatedEndpoint {
  readonly webhookEndpoint: EndpointRow;
  readonly isNew: boolean;
  /** Null if the endpoint is not new or the request is repeated: the secret is shown once. */
  readonly secret: string | null;
}

export const urlRules = ({ config, publicHttp }: Pick<Context, 'config' | 'publicHttp'>): UrlRules => ({
  allowHttp: config.webhooks.allowHttp,
  allowsHost: hostname => publicHttp.allowsHost(hostname),
});

/**
 * Creates an endpoint. If the tenant has one with the same URL and events, returns that one, because workflow tools subscribe
 * each time they are switched on; if the gateway had disabled it, it is enabled again.
 *
 * @throws VALIDATION_ERROR by field, also beyond 50 endpoints; FEATURE_NOT_AVAILABLE; INSUFFICIENT_SCOPE without the read scope
 *   of each of its events
 */
export async function createEndpoint(
  context: Context,
  input: EndpointInput & { readonly idempotencyKey?: string | null | undefined },
): Promise<CreatedEndpoint> {
  const { tenant } = callerOf(context);
  requireFeature(tenant, 'webhooks');
  const fields = parseEndpoint(input, urlRules(context), false);
  // Before the key is looked up: a repetition needs the same scopes.
  requireScopes(callerOf(context), scopesToRead(fields.events ?? []));
  const keyed = { operation: 'createWebhookEndpoint', key: input.idempotencyKey, input };
  const subscription = subscriptionOf(fields.url ?? '', fields.events ?? []);
  const present = await lockSubscription(context.db.write, tenant.id, subscription);
  if (present) await endBacklog(context.db, tenant.id, present.id);
  // Before the transaction: each statement of the horizon needs a snapshot of its own.
  const { position } = await context.horizon.advance();
  return once<CreatedEndpoint>(context, keyed, {
    run: trx => findOrInsert(context, trx, tenant.id, fields, position),
    store: ({ webhookEndpoint, isNew }) => ({ id: webhookEndpoint.id, created: isNew }),
    rebuild: async stored => {
      const { id, created } = stored as { id: number; created: boolean };
      const [endpoint] = await getEndpoints(context.db.write, tenant.id, [id]);
      if (!endpoint) throw notFound('WebhookEndpoint');
      return { webhookEndpoint: endpoint, isNew: created, secret: null };
    },
  });
}

async function findOrInsert(
  { clock, secrets }: Context,
  trx: Db,
  tenantId: number,
  fields: EndpointFields,
  since: Cursor,
): Promise<CreatedEndpoint> {
  const nowIso = new Date(clock.now()).toISOString();
  const { url = '', events = [], format = 'standard', headers = [], description = null, enabled = true } = fields;
  const subscription = subscriptionOf(url, events);
  await lockEndpoints(trx, tenantId);
  const present = await lockSubscription(trx, tenantId, subscription);
  if (present) {
    const isToBeEnabled = present.disabled_reason === 'gone' || present.disabled_reason === 'failing';
    if (!isToBeEnabled) return { webhookEndpoint: present, isNew: false, secret: null };
    await endRemaining(trx, tenantId, present.id);
    const endpoint = await updateEndpoint(trx, tenantId, present.id, { enabled: true }, since, nowIso);
    return { webhookEndpoint: endpoint ?? present, isNew: false, secret: null };
  }
  if ((await countEndpoints(trx, tenantId)) >= MAX_ENDPOINTS)
    throw invalid({ url: [`There may be at most ${MAX_ENDPOINTS} endpoints: remove one first.`] }, 'TOO_MANY');
  const values: EndpointValues = {
    url,
    events,
    subscription,
    format,
    description,
    header_names: headers.map(({ name }) => name),
    headers: sealHeaders(secrets, withValues(headers, [])),
  };
  const secret = newSecret();
  const endpoint = await insertEndpoint(trx, tenantId, values, secrets.seal(secret), enabled, since, nowIso);
  if (!endpoint) throw new Error('The endpoint was created concurrently despite the lock.');
  return { webhookEndpoint: endpoint, isNew: true, secret };
}
