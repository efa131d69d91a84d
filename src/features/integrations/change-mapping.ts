import type { Context } from '../../context.ts';
import { FieldErrorList, invalid, notFound } from '../../errors.ts';
import { callerOf, tenantOf } from '../caller.ts';
import { once } from '../idempotency/once.ts';
import { requireFeature } from '../tenants/feature.ts';
import { addMapping, checkMapping } from './check-mapping.ts';
import { mappingOf } from './find.ts';
import type { MappingRow } from './mapping.ts';
import { MAX_MAPPINGS, type MappingInput } from './mapping-input.ts';
import { deleteMapping, lockIntegration, setMappingGroups, updateMapping } from './store.ts';

type Keyed<T> = T & { readonly idempotencyKey?: string | null | undefined };

/** Adds a mapping to an integration. @throws NOT_FOUND for the integration, VALIDATION_ERROR by field */
export function createMapping(
  context: Context,
  integrationId: number,
  input: Keyed<MappingInput>,
): Promise<MappingRow> {
  requireFeature(callerOf(context).tenant, 'integrations');
  const tenantId = tenantOf(context);
  return once(
    context,
    { operation: 'createIntegrationMapping', key: input.idempotencyKey, input: { ...input, integrationId } },
    {
      async run(trx) {
        const found = await lockIntegration(trx, tenantId, integrationId);
        if (!found) throw notFound('Integration');
        if (found.mappings >= MAX_MAPPINGS)
          throw invalid({ integrationId: [`An integration has at most ${MAX_MAPPINGS} mappings.`] });
        const errors = new FieldErrorList();
        const checked = await checkMapping(trx, tenantId, input, errors);
        errors.throwIfAny();
        const id = await addMapping(trx, tenantId, { id: integrationId, kind: found.kind }, checked);
        return mappingOf(trx, tenantId, id);
      },
      store: ({ id }) => ({ id }),
      again: stored => mappingOf(context.db.write, tenantId, (stored as { id: number }).id),
    },
  );
}

/** Changes what is given of a mapping. What it has done already for an order stays done. @throws NOT_FOUND, VALIDATION_ERROR by field */
export function changeMapping(context: Context, id: number, input: Keyed<MappingInput>): Promise<MappingRow> {
  requireFeature(callerOf(context).tenant, 'integrations');
  const tenantId = tenantOf(context);
  return once(
    context,
    { operation: 'updateIntegrationMapping', key: input.idempotencyKey, input: { ...input, id } },
    {
      async run(trx) {
        await mappingOf(trx, tenantId, id);
        const errors = new FieldErrorList();
        const { fields, groupIds } = await checkMapping(trx, tenantId, input, errors);
        errors.throwIfAny();
        if (!(await updateMapping(trx, tenantId, id, fields))) throw notFound('IntegrationMapping');
        if (groupIds) await setMappingGroups(trx, tenantId, id, groupIds);
        return mappingOf(trx, tenantId, id);
      },
      store: () => ({ id }),
      again: () => mappingOf(context.db.write, tenantId, id),
    },
  );
}

/** Takes a mapping away, and with it the memory of what it has done. @throws NOT_FOUND */
export async function removeMapping(context: Context, id: number): Promise<MappingRow> {
  const tenantId = tenantOf(context);
  return context.db.transaction(async trx => {
    const mapping = await mappingOf(trx, tenantId, id);
    await deleteMapping(trx, tenantId, id);
    return mapping;
  });
}
