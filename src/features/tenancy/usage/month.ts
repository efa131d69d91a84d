/**
 * Number of counter rows per tenant and month. A sender locks its row until its commit is on disk, and others of that row wait: 16
 * senders accepted 404 messages a second with 8 rows, 681 with 64.
 */
export const SHARDS = 64;

/** The first day (UTC) of the month of an instant, for example 2026-12-01. */
export const monthOf = (nowMs: number): string => `${new Date(nowMs).toISOString().slice(0, 7)}-01`;

/** A random shard, so that senders seldom wait for each other. */
export const anyShard = (): number => Math.floor(Math.random() * SHARDS);

/**
 * Distributes what is left of a plan among its counter rows.
 *
 * @param used the count of each row
 * @param maximum of the plan; null: unlimited
 * @param first the row that gets the remainder, so that it gets some if anything is left
 * @returns the grant of each row, at least its count. Their sum is at most the maximum, unless more is used already (after a change
 *   to a smaller plan, or by inbound messages)
 */
export function shareOut(used: readonly number[], maximum: number | null, first: number): (number | null)[] {
  if (maximum === null) return used.map(() => null);
  const left = Math.max(0, maximum - used.reduce((sum, count) => sum + count, 0));
  const each = Math.floor(left / used.length);
  const rest = left - each * used.length;
  return used.map((count, shard) => count + each + (shard === first ? rest : 0));
}
