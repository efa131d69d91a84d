import { invalid, notFound } from '../../../core/errors.ts';
import { scopesToRead } from '../../../core/events.ts';
import { callerOf, requireScopes, tenantOf } from '../../../core/principal.ts';
import type { Db } from '../../../database/database.ts';
import { violationOf } from '../../../database/violations.ts';
import type { Cursor } from '../../../events/cursor.ts';
import { HOUR } from '../../../platform/clock.ts';
import { differs } from '../../../platform/differs.ts';
import type { Context } from '../../../schema/context.ts';
import { once } from '../../tenancy/idempotency/once.ts';
import { keepsHeaders, withValues } from '../delivery/headers.ts';
import { signalChange } from '../delivery/lane.ts';
import { newSecret } from '../delivery/signature.ts';
import { urlRules } from './create.ts';
import { endBacklog, endRemaining } from './end-backlog.ts';
import {
  type EndpointFields,
  type EndpointInput,
  type EndpointRow,
  parseEndpoint,
  subscriptionOf,
} from './endpoint.ts';
import { deleteEndpoint, findHeaders, getEndpoints, lockEndpoint, replaceSecret, updateEndpoint } from './store.ts';
import { openHeaders, sealHeaders } from './target.ts';

/**
 * Updates the given fields; without a difference `updated_at` does not change. Enabling clears the reason for disabling and the
 * failures.
 * @throws NOT_FOUND; VALIDATION_ERROR by field, also if another endpoint has this URL and these events;
 *   INSUFFICIENT_SCOPE without the read scope of each of its old and new events
 */
export async function changeEndpoint(
  context: Context,
  id: number,
  input: EndpointInput & { readonly idempotencyKey?: string | null | undefined },
): Promise<EndpointRow> {
  const tenantId = tenantOf(context);
  const fields = parseEndpoint(input, urlRules(context), true);
  await requireEventScopes(context, id);
  const keyed = { operation: 'updateWebhookEndpoint', key: input.idempotencyKey, input: { ...input, id } };
  if (fields.enabled === true) await endBacklog(context.db, tenantId, id);
  const { position } = await context.horizon.advance();
  const endpoint = await once<EndpointRow>(context, keyed, {
    run: trx => update(context, trx, tenantId, id, fields, position),
    store: () => ({ id }),
    rebuild: async () => {
      const [present] = await getEndpoints(context.db.write, tenantId, [id]);
      if (!present) throw notFound('WebhookEndpoint');
      return present;
    },
  });
  signalChange(context, tenantId, id);
  return endpoint;
}

/**
 * Rejects changes by a token that may not read the endpoint's events: with a new URL, queued deliveries would be sent there.
 * Also called before an idempotency key is looked up, because a repetition needs the same scopes.
 * @throws INSUFFICIENT_SCOPE; nothing for an endpoint that does not exist
 */
async function requireEventScopes(context: Context, endpointId: number): Promise<void> {
  const [endpoint] = await getEndpoints(context.db.write, tenantOf(context), [endpointId]);
  if (endpoint) requireScopes(callerOf(context), scopesToRead(endpoint.events));
}

async function update(
  { clock, secrets, principal }: Context,
  trx: Db,
  tenantId: number,
  id: number,
  { headers: given, ...fields }: EndpointFields,
  since: Cursor,
): Promise<EndpointRow> {
  const before = await lockEndpoint(trx, tenantId, id);
  if (!before) throw notFound('WebhookEndpoint');
  requireScopes(callerOf({ principal }), scopesToRead([...before.events, ...(fields.events ?? [])]));
  const headers = given && !keepsHeaders(given, before.header_names) ? given : undefined;
  // Values of headers are sealed and therefore not compared.
  if (!headers && !differs(before, fields)) return before;
  const present = headers?.some(({ value }) => value === undefined) ? await findHeaders(trx, tenantId, id) : null;
  const sealed = headers && sealHeaders(secrets, withValues(headers, openHeaders(secrets, present)));
  const values = {
    ...fields,
    subscription: subscriptionOf(fields.url ?? before.url, fields.events ?? before.events),
    ...(headers && { header_names: headers.map(({ name }) => name), headers: sealed ?? null }),
  };
  if (fields.enabled === true && !before.enabled) await endRemaining(trx, tenantId, id);
  try {
    const after = await updateEndpoint(trx, tenantId, id, values, since, new Date(clock.now()).toISOString());
    if (!after) throw notFound('WebhookEndpoint');
    return after;
  } catch (error) {
    if (violationOf(error)?.kind !== 'unique') throw error;
    throw invalid({ url: ['Another endpoint has this address and these events.'] }, 'TAKEN');
  }
}

export interface RotatedSecret {
  readonly webhookEndpoint: EndpointRow;
  /** Null if the request is repeated: the secret is shown once. */
  readonly secret: string | null;
}

export const OVERLAP_HOURS = 24;
const MAX_OVERLAP_HOURS = 7 * 24;

/**
 * Rotates the secret of an endpoint. During `overlapHours` deliveries are signed with both secrets; with 0 the old one ends at
 * once.
 * @throws NOT_FOUND, VALIDATION_ERROR; INSUFFICIENT_SCOPE without the read scope of each event of the endpoint
 */
export async function rotateSecret(
  context: Context,
  id: number,
  overlapHours: number,
  idempotencyKey: string | null | undefined,
): Promise<RotatedSecret> {
  const tenantId = tenantOf(context);
  if (overlapHours < 0 || overlapHours > MAX_OVERLAP_HOURS)
    throw invalid({ overlapHours: [`Must be from 0 to ${MAX_OVERLAP_HOURS}.`] }, 'OUT_OF_RANGE');
  await requireEventScopes(context, id);
  const keyed = { operation: 'rotateWebhookSecret', key: idempotencyKey, input: { id, overlapHours } };
  const rotated = await once<RotatedSecret>(context, keyed, {
    run: async trx => {
      const secret = newSecret();
      const endpoint = await replaceSecret(trx, tenantId, id, context.secrets.seal(secret), overlapHours * HOUR);
      if (!endpoint) throw notFound('WebhookEndpoint');
      return { webhookEndpoint: endpoint, secret };
    },
    store: () => ({ id }),
    rebuild: async () => {
      const [endpoint] = await getEndpoints(context.db.write, tenantId, [id]);
      if (!endpoint) throw notFound('WebhookEndpoint');
      return { webhookEndpoint: endpoint, secret: null };
    },
  });
  signalChange(context, tenantId, id);
  return rotated;
}

/** Deletes an endpoint. Its past deliveries stay readable for their retention period. @throws NOT_FOUND */
export async function removeEndpoint(
  context: Context,
  id: number,
  idempotencyKey: string | null | undefined,
): Promise<void> {
  const tenantId = tenantOf(context);
  await once<void>(
    context,
    { operation: 'deleteWebhookEndpoint', key: idempotencyKey, input: { id } },
    {
      run: async trx => {
        if (!(await deleteEndpoint(trx, tenantId, id))) throw notFound('WebhookEndpoint');
      },
      store: () => ({ id }),
      rebuild: async () => undefined,
    },
  );
  signalChange(context, tenantId, id);
}
