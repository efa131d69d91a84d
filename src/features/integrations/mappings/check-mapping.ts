import type { FieldErrorList } from '../../../core/errors.ts';
import type { Db } from '../../../database/database.ts';
import {
  checkReferences,
  collectReferences,
  findContactReferences,
  parseReferences,
} from '../../contacts/references.ts';
import { setMappingGroups } from '../integrations.sql.ts';
import { hasChannel, insertMapping, type MappingFields } from '../store.ts';
import { type MappingInput, newMapping, parseMapping } from './mapping-input.ts';
import type { Kind } from './paths.ts';

export interface CheckedMapping {
  readonly fields: Partial<MappingFields>;
  /** Undefined: not given. */
  readonly groupIds: readonly number[] | undefined;
}

/** Validates an input with the groups and the channel it refers to; adds faults to `errors`. */
export async function checkMapping(
  db: Db,
  tenantId: number,
  input: MappingInput,
  errors: FieldErrorList,
  prefix = '',
): Promise<CheckedMapping> {
  const fields = parseMapping(input, errors, prefix);
  const { groups } = parseReferences(tenantId, { groupIds: input.groupIds });
  if (groups && groups.length > 0)
    checkReferences(
      { groups },
      await findContactReferences(db, tenantId, collectReferences([{ groups }])),
      errors,
      prefix,
    );
  const channelId = fields.template?.channelId;
  if (channelId != null && !(await hasChannel(db, tenantId, channelId)))
    errors.add(`${prefix}template.channelId`, 'Does not exist.', 'REFERENCE_NOT_FOUND');
  return { fields, groupIds: groups };
}

/** Inserts a mapping with its groups. @returns its id */
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
