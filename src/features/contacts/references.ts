import type { FieldErrorList } from '../../core/errors.ts';
import { bareId } from '../../core/global-ids.ts';
import type { Db } from '../../database/database.ts';
import type { ContactInput } from './contact.ts';
import { findReferences, type References } from './contacts.sql.ts';

/** Ids of rows that a contact refers to, parsed but not looked up yet. */
export interface ContactReferences {
  readonly source_id?: number | null;
  readonly status_id?: number | null;
  readonly assigned_id?: number | null;
  readonly groups?: readonly number[];
}

const FIELDS = [
  ['sourceId', 'source_id', 'sources', 'ContactSource'],
  ['statusId', 'status_id', 'statuses', 'ContactStatus'],
  ['assigneeId', 'assigned_id', 'staff', 'StaffMember'],
] as const;

/** Decodes a global id of the given type, or a bare number. @returns -1, which no row has, for anything else */
function idOf(tenantId: number, typename: string, text: string): number {
  const id = bareId(tenantId, typename, text) ?? '';
  return /^\d{1,15}$/.test(id) ? Number(id) : -1;
}

export function parseReferences(tenantId: number, input: ContactInput): ContactReferences {
  const references: Record<string, unknown> = {};
  for (const [field, column, , typename] of FIELDS) {
    const value = input[field];
    if (value !== undefined) references[column] = value === null ? null : idOf(tenantId, typename, String(value));
  }
  if (input.groupIds !== undefined)
    references['groups'] = [...new Set((input.groupIds ?? []).map(id => idOf(tenantId, 'ContactGroup', String(id))))];
  return references;
}

/** Collects the references of several contacts, so that one statement looks them up. */
export function collectReferences(all: readonly ContactReferences[]): References {
  const collect = (column: 'source_id' | 'status_id' | 'assigned_id'): number[] => [
    ...new Set(all.flatMap(one => one[column] ?? [])),
  ];
  return {
    sources: collect('source_id'),
    statuses: collect('status_id'),
    staff: collect('assigned_id'),
    groups: [...new Set(all.flatMap(one => one.groups ?? []))],
  };
}

/** Looks up which of the ids exist in the tenant. For features that create contacts. */
export const findContactReferences = (db: Db, tenantId: number, wanted: References): Promise<References> =>
  findReferences(db, tenantId, wanted);

/** Adds an error for each id that does not exist in the tenant, under the field that names it. */
export function checkReferences(
  references: ContactReferences,
  found: References,
  errors: FieldErrorList,
  prefix = '',
): void {
  for (const [field, column, table] of FIELDS) {
    const id = references[column];
    if (id != null && !found[table].includes(id)) errors.add(prefix + field, 'Does not exist.', 'REFERENCE_NOT_FOUND');
  }
  const unknown = (references.groups ?? []).filter(id => !found.groups.includes(id));
  if (unknown.length > 0)
    errors.add(
      `${prefix}groupIds`,
      `Does not exist: ${unknown.map(id => (id < 0 ? 'not an id' : id)).join(', ')}.`,
      'REFERENCE_NOT_FOUND',
    );
}
