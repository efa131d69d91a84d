import type { FieldErrorList } from '../../errors.ts';
import { decodeGlobalId } from '../../global-ids.ts';
import type { ContactInput } from './contact.ts';
import type { References } from './store.ts';

/** The ids of other rows that a contact refers to, read but not yet known to exist. */
export interface ContactReferences {
  readonly source_id?: number | null;
  readonly status_id?: number | null;
  readonly assigned_id?: number | null;
  readonly groups?: readonly number[];
}

const FIELDS = [
  ['sourceId', 'source_id', 'sources', 'Source'],
  ['statusId', 'status_id', 'statuses', 'Status'],
  ['assigneeId', 'assigned_id', 'staff', 'StaffMember'],
] as const;

/** A global id of the right type, or a bare number; anything else is -1, which no row has. */
function idOf(typename: string, text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  const decoded = decodeGlobalId(text);
  return decoded?.typename === typename && /^\d{1,15}$/.test(decoded.id) ? Number(decoded.id) : -1;
}

export function parseReferences(input: ContactInput): ContactReferences {
  const references: Record<string, unknown> = {};
  for (const [field, column, , typename] of FIELDS) {
    const value = input[field];
    if (value !== undefined) references[column] = value === null ? null : idOf(typename, String(value));
  }
  if (input.groupIds !== undefined)
    references['groups'] = [...new Set((input.groupIds ?? []).map(id => idOf('Group', String(id))))];
  return references;
}

/** All ids that several contacts refer to, to be looked up in one statement. */
export function wantedReferences(all: readonly ContactReferences[]): References {
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

/** Reports every id that is no row of the tenant, by the field that named it. */
export function checkReferences(
  references: ContactReferences,
  found: References,
  errors: FieldErrorList,
  prefix = '',
): void {
  for (const [field, column, table] of FIELDS) {
    const id = references[column];
    if (id != null && !found[table].includes(id)) errors.add(prefix + field, 'Does not exist.');
  }
  const unknown = (references.groups ?? []).filter(id => !found.groups.includes(id));
  if (unknown.length > 0)
    errors.add(`${prefix}groupIds`, `Does not exist: ${unknown.map(id => (id < 0 ? 'not an id' : id)).join(', ')}.`);
}
