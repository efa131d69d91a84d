import type { Context } from '../../context.ts';
import { FieldErrorList, invalid, notFound } from '../../errors.ts';
import { HOUR } from '../../platform/clock.ts';
import { violationOf } from '../../platform/violations.ts';
import { callerOf, tenantOf } from '../caller.ts';
import { once } from '../idempotency/once.ts';
import { requireFeature } from '../tenants/feature.ts';
import { type CreatedIntegration, checkSecret, type IntegrationInput, NAME_TAKEN, parseIntegration } from './create.ts';
import { integrationOf } from './find.ts';
import { type IntegrationRow, newSecret } from './integration.ts';
import { deleteIntegration, replaceSecret, updateIntegration } from './store.ts';

type Keyed<T> = T & { readonly idempotencyKey?: string | null | undefined };

/** Changes what is given of an integration. @throws NOT_FOUND, VALIDATION_ERROR by field */
export function changeIntegration(
  context: Context,
  id: number,
  input: Keyed<IntegrationInput>,
): Promise<IntegrationRow> {
  requireFeature(callerOf(context).tenant, 'integrations');
  const tenantId = tenantOf(context);
  const errors = new FieldErrorList();
  const fields = parseIntegration(input, errors);
  errors.throwIfAny();
  return once(
    context,
    { operation: 'updateIntegration', key: input.idempotencyKey, input: { ...input, id } },
    {
      async run(trx) {
        const isThere = await updateIntegration(trx, tenantId, id, fields).catch((error: unknown) => {
          if (violationOf(error)?.constraint === 'integrations_name_key') throw invalid({ name: [NAME_TAKEN] });
          throw error;
        });
        if (!isThere) throw notFound('Integration');
        return integrationOf(trx, tenantId, id);
      },
      store: () => ({ id }),
      again: () => integrationOf(context.db.write, tenantId, id),
    },
  );
}

/** Takes an integration away with its mappings and all that it received. Shops that still post are told that there is nothing. */
export async function removeIntegration(context: Context, id: number): Promise<IntegrationRow> {
  const tenantId = tenantOf(context);
  return context.db.transaction(async trx => {
    const integration = await integrationOf(trx, tenantId, id);
    await deleteIntegration(trx, tenantId, id);
    return integration;
  });
}

export const DEFAULT_OVERLAP_HOURS = 24;
export const MAX_OVERLAP_HOURS = 168;

export interface RotateInput {
  readonly secret?: string | null | undefined;
  readonly overlapHours?: number | null | undefined;
  readonly idempotencyKey?: string | null | undefined;
}

/**
 * Gives an integration another secret: one that is made, or (always with Shopify) the one that is given. The one before stays
 * good for some hours, so that no order is lost while the shop is told.
 * @throws NOT_FOUND, VALIDATION_ERROR
 */
export async function rotateSecret(context: Context, id: number, input: RotateInput): Promise<CreatedIntegration> {
  requireFeature(callerOf(context).tenant, 'integrations');
  const tenantId = tenantOf(context);
  const errors = new FieldErrorList();
  checkSecret(input.secret, errors);
  const hours = input.overlapHours ?? DEFAULT_OVERLAP_HOURS;
  if (hours < 0 || hours > MAX_OVERLAP_HOURS) errors.add('overlapHours', `Must be from 0 to ${MAX_OVERLAP_HOURS}.`);
  errors.throwIfAny();
  const made = input.secret == null ? newSecret() : null;
  const until = hours === 0 ? null : new Date(context.clock.now() + hours * HOUR).toISOString();
  return once<CreatedIntegration>(
    context,
    { operation: 'rotateIntegrationSecret', key: input.idempotencyKey, input: { ...input, id } },
    {
      async run(trx) {
        const { kind } = await integrationOf(trx, tenantId, id);
        if (kind === 'shopify' && made !== null)
          throw invalid({ secret: ['Is required: Shopify makes it, and shows it where its webhooks are listed.'] });
        await replaceSecret(trx, tenantId, id, context.secrets.seal(input.secret ?? made ?? ''), until);
        return { integration: await integrationOf(trx, tenantId, id), secret: made };
      },
      store: () => ({ id }),
      again: async () => ({ integration: await integrationOf(context.db.write, tenantId, id), secret: null }),
    },
  );
}
