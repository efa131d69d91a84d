import type { FieldErrorList } from '../../errors.ts';
import type { Db } from '../../platform/database.ts';
import { findContactReferences } from '../contacts/check-references.ts';
import { checkReferences, parseReferences, wantedReferences } from '../contacts/references.ts';
import type { Kind } from './integration.ts';
import { type MappingInput, newMapping, parseMapping } from './mapping-input.ts';
import { hasChannel, insertMapping, type MappingFields, setMappingGroups } from './store.ts';

export interface CheckedMapping {
  readonly fields: Partial<MappingFields>;
  /** Undefined: nothing was said of them. */
  readonly groupIds: readonly number[] | undefined;
}

/** Checks what a caller says of a mapping, and the groups and the channel that it names. Faults go to `errors`. */
export async function checkMapping(
  db: Db,
  tenantId: number,
  input: MappingInput,
  errors: FieldErrorList,
  prefix = '',
): Promise<CheckedMapping> {
  const fields = parseMapping(input, errors, prefix);
  const { groups } = parseReferences({ groupIds: input.groupIds });
  if (groups && groups.length > 0)
    checkReferences(
      { groups },
      await findContactReferences(db, tenantId, wantedReferences([{ groups }])),
      errors,
      prefix,
    );
  const channelId = fields.template?.channelId;
  if (channelId != null && !(await hasChannel(db, tenantId, channelId)))
    errors.add(`${prefix}template.channelId`, 'Does not exist.');
  return { fields, groupIds: groups };
}

/** Writes a new mapping with its groups. @returns its id */
export async function addMapping(
  trx: Db,
  tenantId: number,
  integration: { readonly id: number; readonly kind: Kind },
  { fields, groupIds }: CheckedMapping,
): Promise<number> {
  const id = await insertMapping(trx, tenantId, integration.id, newMapping(integration.kind, fields));
  if (groupIds?.length) await setMappingGroups(trx, tenantId, id, groupIds);
  return id;
}
