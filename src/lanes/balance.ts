import type { ProcessLoad } from './store/lanes.sql.ts';

/** Tolerated excess over the fair share: lanes come and go, and each move interrupts a lane for a moment. */
const TOLERANCE = 0.2;

/**
 * Returns how many busy lanes of a queue this process releases to processes with free slots; 0 if it has about its share. With
 * two processes and 100 lanes, each keeps at most 60.
 */
export function surplusLanes(queue: string, busy: number, others: readonly ProcessLoad[]): number {
  const serving = others.filter(process => process.slots[queue] !== undefined);
  if (serving.length === 0) return 0;
  const held = serving.map(process => process.held[queue] ?? 0);
  const total = held.reduce((sum, count) => sum + count, busy);
  const share = Math.ceil(total / (serving.length + 1));
  if (busy <= share + Math.max(1, Math.floor(share * TOLERANCE))) return 0;
  const freeSlots = serving.reduce((sum, process, index) => {
    const maximum = Math.min(share, process.slots[queue] ?? 0);
    return sum + Math.max(0, maximum - (held[index] ?? 0));
  }, 0);
  return Math.min(busy - share, freeSlots);
}
