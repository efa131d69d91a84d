import type { Context } from '../../context.ts';
import { invalid, notFound } from '../../errors.ts';
import type { Db } from '../../platform/database.ts';
import { callerOf } from '../caller.ts';
import { once } from '../idempotency/once.ts';
import { requireFeature } from '../tenants/feature.ts';
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
} from './endpoints-store.ts';
import { newSecret } from './signature.ts';
import { sealHeaders } from './target.ts';

export interface CreatedEndpoint {
  readonly endpoint: EndpointRow;
  /** Whether it is new. */
  readonly created: boolean;
  /** Null where it is not new, and in the answer to a repeated request: it is shown once. */
  readonly secret: string | null;
}

export const urlRules = ({ config, publicHttp }: Pick<Context, 'config' | 'publicHttp'>): UrlRules => ({
  allowHttp: config.webhooks.allowHttp,
  allowsHost: hostname => publicHttp.allowsHost(hostname),
});

/**
 * Makes an endpoint. Where the tenant has one with the same address and the same events, that one is answered instead, as
 * workflow tools expect who subscribe each time they are switched on; disabled by the gateway itself, it is enabled again.
 *
 * @throws VALIDATION_ERROR by field, also beyond 50 endpoints; FEATURE_NOT_AVAILABLE
 */
export async function createEndpoint(
  context: Context,
  input: EndpointInput & { readonly idempotencyKey?: string | null | undefined },
): Promise<CreatedEndpoint> {
  const { tenant } = callerOf(context);
  requireFeature(tenant, 'webhooks');
  const fields = parseEndpoint(input, urlRules(context), false);
  const keyed = { operation: 'createWebhookEndpoint', key: input.idempotencyKey, input };
  return once<CreatedEndpoint>(context, keyed, {
    run: trx => findOrInsert(context, trx, tenant.id, fields),
    store: ({ endpoint, created }) => ({ id: endpoint.id, created }),
    again: async stored => {
      const { id, created } = stored as { id: number; created: boolean };
      const [endpoint] = await getEndpoints(context.db.write, tenant.id, [id]);
      if (!endpoint) throw notFound('WebhookEndpoint');
      return { endpoint, created, secret: null };
    },
  });
}

async function findOrInsert(
  { clock, secrets }: Context,
  trx: Db,
  tenantId: number,
  fields: EndpointFields,
): Promise<CreatedEndpoint> {
  const nowIso = new Date(clock.now()).toISOString();
  const { url = '', events = [], format = 'standard', headers = [], description = null, enabled = true } = fields;
  const subscription = subscriptionOf(url, events);
  await lockEndpoints(trx, tenantId);
  const present = await lockSubscription(trx, tenantId, subscription);
  if (present) {
    const isToBeEnabled = present.disabled_reason === 'gone' || present.disabled_reason === 'failing';
    const endpoint =
      (isToBeEnabled && (await updateEndpoint(trx, tenantId, present.id, { enabled: true }, nowIso))) || present;
    return { endpoint, created: false, secret: null };
  }
  if ((await countEndpoints(trx, tenantId)) >= MAX_ENDPOINTS)
    throw invalid({ url: [`There may be at most ${MAX_ENDPOINTS} endpoints: remove one first.`] });
  const values: EndpointValues = {
    url,
    events,
    subscription,
    format,
    description,
    header_names: headers.map(({ name }) => name),
    headers: sealHeaders(secrets, headers),
  };
  const secret = newSecret();
  const endpoint = await insertEndpoint(trx, tenantId, values, secrets.seal(secret), enabled, nowIso);
  if (!endpoint) throw new Error('An endpoint that was not there could not be made.');
  return { endpoint, created: true, secret };
}
