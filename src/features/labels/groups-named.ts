import { append } from '../../events.ts';
import type { Db } from '../../platform/database.ts';
import { holdGroupsByName, insertLabels } from './store.ts';

/**
 * The groups that have these names; those that are missing are made, with their events, in the caller's transaction.
 *
 * Two who make the same name at the same time: the second waits at the unique index for the first, and takes its group once
 * that is there, or makes it where the first was undone. Names are made in one order, so two who make several do not wait in a circle;
 * groups that are there are held before, because whoever renames one holds it while waiting at that index.
 *
 * @param names as `parseGroupNames` gives them
 * @returns ids, each once
 */
export async function groupsNamed(trx: Db, tenantId: number, names: readonly string[]): Promise<number[]> {
  if (names.length === 0) return [];
  const there = await holdGroupsByName(trx, tenantId, names);
  const known = new Set(there.map(({ place }) => place));
  const missing = names.filter((_name, place) => !known.has(place));
  if (missing.length === 0) return idsOf(there);
  const fields = missing.map(name => ({ name })).sort((a, b) => compare(a.name.toLowerCase(), b.name.toLowerCase()));
  const made = await insertLabels(trx, tenantId, 'group', fields);
  await append(
    trx,
    tenantId,
    made.map(group => ({ type: 'group.created', payload: { group } })),
  );
  return idsOf([...there, ...(await holdGroupsByName(trx, tenantId, missing))]);
}

const idsOf = (groups: readonly { readonly id: number }[]): number[] => [...new Set(groups.map(({ id }) => id))];

/** By code units: the same order in every process, whatever its language. */
const compare = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0);
