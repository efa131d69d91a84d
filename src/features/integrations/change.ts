import { FieldErrorList, invalid, notFound } from '../../core/errors.ts';
import { requireFeature } from '../../core/plan-features.ts';
import { callerOf, tenantOf } from '../../core/principal.ts';
import { refuseTaken } from '../../database/violations.ts';
import { HOUR } from '../../platform/clock.ts';
import type { Context } from '../../schema/context.ts';
import { once, type WithKey } from '../tenancy/idempotency/once.ts';
import { type CreatedIntegration, checkSecret, type IntegrationInput, NAME_TAKEN, parseIntegration } from './create.ts';
import { requireIntegration } from './find.ts';
import { type IntegrationRow, newSecret } from './integration.ts';
import { requireMappingScopes } from './mappings/require-mapping-scopes.ts';
import { deleteIntegration, replaceSecret, updateIntegration } from './store.ts';

/** Updates the given fields. @throws NOT_FOUND, VALIDATION_ERROR by field, INSUFFICIENT_SCOPE for what its mappings do */
export function changeIntegration(
  context: Context,
  id: number,
  input: WithKey<IntegrationInput>,
): Promise<IntegrationRow> {
  requireFeature(callerOf(context).tenant, 'integrations');
  const tenantId = tenantOf(context);
  const errors = new FieldErrorList();
  const fields = parseIntegration(input, errors);
  errors.refuseNull(input, ['name', 'isEnabled', 'topicPath']);
  errors.throwIfAny();
  return once(
    context,
    { operation: 'updateIntegration', key: input.idempotencyKey, input: { ...input, id } },
    {
      async run(trx) {
        const isThere = await refuseTaken('integrations_name_key', { name: [NAME_TAKEN] }, () =>
          updateIntegration(trx, tenantId, id, fields),
        );
        if (!isThere) throw notFound('Integration');
        const integration = await requireIntegration(trx, tenantId, id);
        requireMappingScopes(callerOf(context), integration.mappings);
        return integration;
      },
      store: () => ({ id }),
      rebuild: () => requireIntegration(context.db.write, tenantId, id),
    },
  );
}

/** Deletes an integration with its mappings and received payloads. Further requests of the shop get 404. @throws NOT_FOUND */
export const removeIntegration = (
  context: Context,
  id: number,
  idempotencyKey: string | null | undefined,
): Promise<void> =>
  once<void>(
    context,
    { operation: 'deleteIntegration', key: idempotencyKey, input: { id } },
    {
      async run(trx) {
        await requireIntegration(trx, tenantOf(context), id);
        await deleteIntegration(trx, tenantOf(context), id);
      },
      store: () => ({ id }),
      rebuild: async () => undefined,
    },
  );

export const DEFAULT_OVERLAP_HOURS = 24;
export const MAX_OVERLAP_HOURS = 168;

export interface RotateInput {
  readonly secret?: string | null | undefined;
  readonly overlapHours?: number | null | undefined;
  readonly idempotencyKey?: string | null | undefined;
}

/**
 * Replaces the secret: generates one, or takes the given one (required for Shopify). The previous secret stays valid for some hours,
 * so that no order is lost until the shop is reconfigured.
 * @throws NOT_FOUND, VALIDATION_ERROR; INSUFFICIENT_SCOPE for what its mappings do, because the secret can trigger them
 */
export async function rotateSecret(context: Context, id: number, input: RotateInput): Promise<CreatedIntegration> {
  requireFeature(callerOf(context).tenant, 'integrations');
  const tenantId = tenantOf(context);
  const errors = new FieldErrorList();
  checkSecret(input.secret, errors);
  const hours = input.overlapHours ?? DEFAULT_OVERLAP_HOURS;
  if (hours < 0 || hours > MAX_OVERLAP_HOURS)
    errors.add('overlapHours', `Must be from 0 to ${MAX_OVERLAP_HOURS}.`, 'OUT_OF_RANGE');
  errors.throwIfAny();
  const generated = input.secret == null ? newSecret() : null;
  return once<CreatedIntegration>(
    context,
    { operation: 'rotateIntegrationSecret', key: input.idempotencyKey, input: { ...input, id } },
    {
      async run(trx) {
        const { kind, mappings } = await requireIntegration(trx, tenantId, id);
        requireMappingScopes(callerOf(context), mappings);
        if (kind === 'shopify' && generated !== null)
          throw invalid(
            { secret: ['Is required: Shopify generates it and shows it in its list of webhooks.'] },
            'REQUIRED',
          );
        await replaceSecret(trx, tenantId, id, context.secrets.seal(input.secret ?? generated ?? ''), hours * HOUR);
        return { integration: await requireIntegration(trx, tenantId, id), secret: generated };
      },
      store: () => ({ id }),
      rebuild: async () => ({ integration: await requireIntegration(context.db.write, tenantId, id), secret: null }),
    },
  );
}
