import type { FieldErrorList } from '../core/errors.ts';
import type { Db } from '../database/database.ts';
import { findLabel } from '../features/contacts/labels/store.ts';
import type { SettingsInput } from '../features/tenancy/account/settings.ts';
import { findStaff } from '../features/tenancy/staff/store.ts';

/** Names or ids as an operator writes them. Null: none; undefined: unchanged. */
interface NamedDefaults {
  readonly source: string | null | undefined;
  readonly status: string | null | undefined;
  readonly assignee: string | null | undefined;
}

/** Looks up the ids of a tenant's defaults by name, e-mail address or id. */
export async function resolveDefaults(
  db: Db,
  tenantId: number,
  { source, status, assignee }: NamedDefaults,
  errors: FieldErrorList,
): Promise<Pick<SettingsInput, 'defaultSourceId' | 'defaultStatusId' | 'defaultAssigneeId'>> {
  const idOf = async (field: string, what: string, text: string | null | undefined, find: Find) => {
    if (text == null) return text;
    const found = await find(text);
    if (!found) errors.add(field, `The tenant has no ${what} ${text}.`, 'REFERENCE_NOT_FOUND');
    return found?.id;
  };
  return {
    defaultSourceId: await idOf('defaultSource', 'source', source, text => findLabel(db, tenantId, 'source', text)),
    defaultStatusId: await idOf('defaultStatus', 'status', status, text => findLabel(db, tenantId, 'status', text)),
    defaultAssigneeId: await idOf('defaultAssignee', 'staff member', assignee, text => findStaff(db, tenantId, text)),
  };
}

type Find = (text: string) => Promise<{ readonly id: number } | undefined>;
