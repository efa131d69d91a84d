import type { ProcessLoad } from './store/lanes.sql.ts';

/** Tolerated excess over the fair share: lanes come and go, and each move interrupts a lane for a moment. */
const TOLERANCE = 0.2;

/**
 * Returns how many busy lanes of a queue this process releases to processes with free places; 0 if it has about its share. With
 * two processes and 100 lanes, each keeps at most 60.
 */
export function surplus(queue: string, busy: number, others: readonly ProcessLoad[]): number {
  const serving = others.filter(process => process.places[queue] !== undefined);
  if (serving.length === 0) return 0;
  const held = serving.map(process => process.held[queue] ?? 0);
  const total = held.reduce((sum, count) => sum + count, busy);
  const share = Math.ceil(total / (serving.length + 1));
  if (busy <= share + Math.max(1, Math.floor(share * TOLERANCE))) return 0;
  const room = serving.reduce((sum, process, index) => {
    const most = Math.min(share, process.places[queue] ?? 0);
    return sum + Math.max(0, most - (held[index] ?? 0));
  }, 0);
  return Math.min(busy - share, room);
}
