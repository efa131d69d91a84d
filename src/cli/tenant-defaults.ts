import type { Db } from '../database/database.ts';
import { findLabel } from '../features/contacts/labels/store.ts';
import type { SettingsInput } from '../features/tenancy/account/settings.ts';
import { findStaff } from '../features/tenancy/staff/store.ts';
import { UserError } from '../platform/user-error.ts';

/** Names or ids as an operator writes them. Null: none; undefined: unchanged. */
interface NamedDefaults {
  readonly source: string | null | undefined;
  readonly status: string | null | undefined;
  readonly assignee: string | null | undefined;
}

/** Finds what the defaults of a tenant name. @throws UserError */
export async function resolveDefaults(
  db: Db,
  tenantId: number,
  { source, status, assignee }: NamedDefaults,
): Promise<Pick<SettingsInput, 'defaultSourceId' | 'defaultStatusId' | 'defaultAssigneeId'>> {
  return {
    defaultSourceId: await idOf('source', source, text => findLabel(db, tenantId, 'source', text)),
    defaultStatusId: await idOf('status', status, text => findLabel(db, tenantId, 'status', text)),
    defaultAssigneeId: await idOf('staff member', assignee, text => findStaff(db, tenantId, text)),
  };
}

async function idOf(
  what: string,
  text: string | null | undefined,
  find: (text: string) => Promise<{ readonly id: number } | undefined>,
): Promise<number | null | undefined> {
  if (text == null) return text;
  const found = await find(text);
  if (!found) throw new UserError(`The tenant has no ${what} ${text}.`);
  return found.id;
}
