import { FieldErrorList, invalid, notFound } from '../../../core/errors.ts';
import { requireFeature } from '../../../core/plan-features.ts';
import { callerOf, tenantOf } from '../../../core/principal.ts';
import type { Context } from '../../../schema/context.ts';
import { once, type WithKey } from '../../tenancy/idempotency/once.ts';
import { requireMapping } from '../find.ts';
import { setMappingGroups } from '../integrations.sql.ts';
import { deleteMapping, lockIntegration, updateMapping } from '../store.ts';
import { addMapping, checkMapping } from './check-mapping.ts';
import type { MappingRow } from './mapping.ts';
import { MAX_MAPPINGS, type MappingInput } from './mapping-input.ts';
import { requireMappingScopes } from './require-mapping-scopes.ts';

/** Adds a mapping to an integration. @throws NOT_FOUND for the integration, VALIDATION_ERROR by field, INSUFFICIENT_SCOPE for what it does */
export function createMapping(
  context: Context,
  integrationId: number,
  input: WithKey<MappingInput>,
): Promise<MappingRow> {
  requireFeature(callerOf(context).tenant, 'integrations');
  const tenantId = tenantOf(context);
  return once(
    context,
    { operation: 'createIntegrationMapping', key: input.idempotencyKey, input: { ...input, integrationId } },
    {
      async run(trx) {
        const found = await lockIntegration(trx, tenantId, integrationId);
        if (!found) throw notFound('Integration', 'integrationId');
        if (found.mappings >= MAX_MAPPINGS)
          throw invalid({ integrationId: [`An integration has at most ${MAX_MAPPINGS} mappings.`] }, 'TOO_MANY');
        const errors = new FieldErrorList();
        const checked = await checkMapping(trx, tenantId, input, errors);
        errors.throwIfAny();
        const id = await addMapping(trx, tenantId, { id: integrationId, kind: found.kind }, checked);
        const mapping = await requireMapping(trx, tenantId, id);
        requireMappingScopes(callerOf(context), [mapping]);
        return mapping;
      },
      store: ({ id }) => ({ id }),
      rebuild: stored => requireMapping(context.db.write, tenantId, (stored as { id: number }).id),
    },
  );
}

/**
 * Updates the given fields. Orders that it has processed are not processed again.
 * @throws NOT_FOUND, VALIDATION_ERROR by field, INSUFFICIENT_SCOPE for its old and new effects
 */
export function changeMapping(context: Context, id: number, input: WithKey<MappingInput>): Promise<MappingRow> {
  requireFeature(callerOf(context).tenant, 'integrations');
  const tenantId = tenantOf(context);
  return once(
    context,
    { operation: 'updateIntegrationMapping', key: input.idempotencyKey, input: { ...input, id } },
    {
      async run(trx) {
        const before = await requireMapping(trx, tenantId, id);
        const errors = new FieldErrorList();
        errors.refuseNull(input, ['name', 'isEnabled', 'topics', 'statuses']);
        const { fields, groupIds } = await checkMapping(trx, tenantId, input, errors);
        errors.throwIfAny();
        if (!(await updateMapping(trx, tenantId, id, fields))) throw notFound('IntegrationMapping');
        if (groupIds) await setMappingGroups(trx, tenantId, id, groupIds);
        const after = await requireMapping(trx, tenantId, id);
        requireMappingScopes(callerOf(context), [before, after]);
        return after;
      },
      store: () => ({ id }),
      rebuild: () => requireMapping(context.db.write, tenantId, id),
    },
  );
}

/** Deletes a mapping with its record of processed orders. @throws NOT_FOUND */
export const removeMapping = (context: Context, id: number, idempotencyKey: string | null | undefined): Promise<void> =>
  once<void>(
    context,
    { operation: 'deleteIntegrationMapping', key: idempotencyKey, input: { id } },
    {
      async run(trx) {
        await requireMapping(trx, tenantOf(context), id);
        await deleteMapping(trx, tenantOf(context), id);
      },
      store: () => ({ id }),
      rebuild: async () => undefined,
    },
  );
