import type { Author } from '../../../core/author.ts';
import { FieldErrorList } from '../../../core/errors.ts';
import type { Db } from '../../../database/database.ts';
import { findContactReferences } from '../../contacts/references.ts';
import { record } from '../audit/record.ts';
import { parseSettings, type Settings, type SettingsInput } from './settings.ts';
import { lockSettings, updateSettings } from './store.ts';

/**
 * Changes settings of a tenant, in the caller's transaction, with an audit entry that names what changed.
 * @throws VALIDATION_ERROR by field
 */
export async function changeSettings(trx: Db, tenantId: number, input: SettingsInput, author: Author): Promise<void> {
  const current = await lockSettings(trx, tenantId);
  const errors = new FieldErrorList();
  const settings = parseSettings(input, current, errors);
  await checkReferences(trx, tenantId, settings, errors);
  errors.throwIfAny();
  const changed = (Object.keys(settings) as (keyof Settings)[]).filter(
    name => JSON.stringify(settings[name]) !== JSON.stringify(current[name]),
  );
  if (changed.length === 0) return;
  await updateSettings(trx, tenantId, settings);
  await record(trx, tenantId, {
    author,
    action: 'account.updated',
    subject: `account:${tenantId}`,
    details: Object.fromEntries(changed.map(name => [name, settings[name]])),
  });
}

async function checkReferences(
  trx: Db,
  tenantId: number,
  { default_source_id: source, default_status_id: status, default_assignee_id: assignee }: Partial<Settings>,
  errors: FieldErrorList,
): Promise<void> {
  const wanted = {
    sources: source == null ? [] : [source],
    statuses: status == null ? [] : [status],
    staff: assignee == null ? [] : [assignee],
  };
  if (Object.values(wanted).flat().length === 0) return;
  const found = await findContactReferences(trx, tenantId, { ...wanted, groups: [] });
  const fields = { sources: 'defaultSourceId', statuses: 'defaultStatusId', staff: 'defaultAssigneeId' } as const;
  for (const [table, ids] of Object.entries(wanted) as [keyof typeof wanted, number[]][])
    if (ids.some(id => !found[table].includes(id))) errors.add(fields[table], 'Does not exist.', 'REFERENCE_NOT_FOUND');
}
