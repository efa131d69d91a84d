import type { Resources } from '../../context.ts';
import { postponeInDoubt } from './outbox.ts';

/**
 * For the start of a process: while none of ours was there, the network could tell nobody what became of the messages that
 * were under way when the last one died. It gets its time now, before any of them is tried again.
 */
export async function reconcile({ db, clock, config }: Resources): Promise<void> {
  await postponeInDoubt(db.write, new Date(clock.now() + config.network.reconcileMs).toISOString());
}
