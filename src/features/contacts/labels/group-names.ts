import type { FieldErrorList } from '../../../core/errors.ts';
import type { Principal } from '../../../core/principal.ts';
import { requireScope } from '../../../core/principal.ts';
import type { Db } from '../../../database/database.ts';
import { append } from '../../../events/append.ts';
import { labelNameFault } from './label.ts';
import { insertLabels, lockGroupsByName } from './labels.sql.ts';

/** Maximum number of group names in a request. */
export const MAX_NAMES = 100;

/**
 * Trims and deduplicates the group names of a request. Names that differ in case only are one group; the database compares them.
 * @param errors receives the faults, under `field` and the position of the name
 */
export function parseGroupNames(names: readonly string[], errors: FieldErrorList, field: string): string[] {
  if (names.length > MAX_NAMES)
    errors.add(field, `May have at most ${MAX_NAMES}, and has ${names.length}.`, 'TOO_MANY');
  const parsed = names.map(name => name.trim());
  for (const [index, name] of parsed.entries()) {
    const fault = labelNameFault(name);
    if (fault) errors.add(`${field}.${index}`, fault.message, fault.code);
  }
  return [...new Set(parsed)];
}

/**
 * Finds groups by name and creates missing ones, with their events, in the caller's transaction.
 *
 * Of two concurrent creations of a name, the second waits at the unique index, then finds the first one's group, or creates it if
 * the first was rolled back. To avoid deadlocks, names are created in one order, and existing groups are locked before: a renaming
 * holds its group while it waits at that index.
 *
 * @param names as `parseGroupNames` returns them
 * @returns ids, each once
 * @throws INSUFFICIENT_SCOPE if a group is missing and the token lacks groups:write
 */
export async function resolveGroupNames(trx: Db, principal: Principal, names: readonly string[]): Promise<number[]> {
  if (names.length === 0) return [];
  const { id: tenantId } = principal.tenant;
  const existing = await lockGroupsByName(trx, tenantId, names);
  const found = new Set(existing.map(({ position }) => position));
  const missing = names.filter((_name, position) => !found.has(position));
  if (missing.length === 0) return idsOf(existing);
  requireScope(principal, 'groups:write');
  const fields = missing.map(name => ({ name })).sort((a, b) => compare(a.name.toLowerCase(), b.name.toLowerCase()));
  const created = await insertLabels(trx, tenantId, 'group', fields);
  await append(
    trx,
    tenantId,
    created.map(group => ({ type: 'group.created', payload: { group } })),
  );
  return idsOf([...existing, ...(await lockGroupsByName(trx, tenantId, missing))]);
}

/** As `resolveGroupNames`. @returns the id of each name */
export async function resolveGroups(
  trx: Db,
  principal: Principal,
  names: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const distinct = [...new Set(names)];
  if (distinct.length === 0) return new Map();
  await resolveGroupNames(trx, principal, distinct);
  const groups = await lockGroupsByName(trx, principal.tenant.id, distinct);
  return new Map(groups.map(({ id, position }) => [distinct[position] as string, id]));
}

const idsOf = (groups: readonly { readonly id: number }[]): number[] => [...new Set(groups.map(({ id }) => id))];

/** Compares code units: the same order in every process, whatever its locale. */
const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
