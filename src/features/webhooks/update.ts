import type { Context } from '../../context.ts';
import { invalid, notFound } from '../../errors.ts';
import type { Db } from '../../platform/database.ts';
import { differs } from '../../platform/differs.ts';
import { violationOf } from '../../platform/violations.ts';
import { tenantOf } from '../caller.ts';
import { once } from '../idempotency/once.ts';
import { urlRules } from './create.ts';
import {
  type EndpointFields,
  type EndpointInput,
  type EndpointRow,
  parseEndpoint,
  subscriptionOf,
} from './endpoint.ts';
import { getEndpoints, lockEndpoint, updateEndpoint } from './endpoints-store.ts';
import { tellOfChange } from './lane.ts';
import { sealHeaders } from './target.ts';

/**
 * Changes what is given. What changes nothing leaves the endpoint as it is, with its time. Enabling again forgets why it was disabled and since when it failed.
 * @throws NOT_FOUND; VALIDATION_ERROR by field, also where another endpoint has this address and these events
 */
export async function changeEndpoint(
  context: Context,
  id: number,
  input: EndpointInput & { readonly idempotencyKey?: string | null | undefined },
): Promise<EndpointRow> {
  const tenantId = tenantOf(context);
  const fields = parseEndpoint(input, urlRules(context), true);
  const keyed = { operation: 'updateWebhookEndpoint', key: input.idempotencyKey, input: { ...input, id } };
  const endpoint = await once<EndpointRow>(context, keyed, {
    run: trx => update(context, trx, tenantId, id, fields),
    store: () => ({ id }),
    again: async () => {
      const [present] = await getEndpoints(context.db.write, tenantId, [id]);
      if (!present) throw notFound('WebhookEndpoint');
      return present;
    },
  });
  tellOfChange(context, tenantId, id);
  return endpoint;
}

async function update(
  { clock, secrets }: Context,
  trx: Db,
  tenantId: number,
  id: number,
  { headers, ...fields }: EndpointFields,
): Promise<EndpointRow> {
  const before = await lockEndpoint(trx, tenantId, id);
  if (!before) throw notFound('WebhookEndpoint');
  // Headers are not compared: nobody opens them to see whether they are the same.
  if (!headers && !differs(before, fields)) return before;
  const values = {
    ...fields,
    subscription: subscriptionOf(fields.url ?? before.url, fields.events ?? before.events),
    ...(headers && { header_names: headers.map(({ name }) => name), headers: sealHeaders(secrets, headers) }),
  };
  try {
    const after = await updateEndpoint(trx, tenantId, id, values, new Date(clock.now()).toISOString());
    if (!after) throw notFound('WebhookEndpoint');
    return after;
  } catch (error) {
    if (violationOf(error)?.kind !== 'unique') throw error;
    throw invalid({ url: ['Another endpoint has this address and these events.'] });
  }
}
