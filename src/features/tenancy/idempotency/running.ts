import { tenantOf } from '../../../core/principal.ts';
import type { Context } from '../../../schema/context.ts';

/**
 * Maximum duration of a request: it waits at most 5 seconds for the network and 15 for an endpoint. After this, the lock of a
 * machine that vanished without closing its connection is ignored.
 */
const LONGEST_RUN_SECONDS = 30;

const nameOf = (tenantId: number, key: string, madeId: string): string =>
  `idempotency-key ${tenantId} ${key} ${madeId}`;

/**
 * Marks the request under a key as running, until the returned function is called or this process dies.
 * @param madeId the id of the created object, if the request is marked before it has the key, which only one of several gets
 */
export const markRunning = (context: Context, key: string, madeId = ''): Promise<() => void> =>
  context.sessionLocks.hold(nameOf(tenantOf(context), key, madeId));

/**
 * Whether the request that claimed a key `ageSeconds` ago still runs, in any process.
 * @param result the stored result of that request
 */
export async function isRunning(context: Context, key: string, ageSeconds: number, result?: unknown): Promise<boolean> {
  if (ageSeconds >= LONGEST_RUN_SECONDS) return false;
  const { id } = (result ?? {}) as { readonly id?: unknown };
  const names = ['', ...(typeof id === 'string' ? [id] : [])].map(made => nameOf(tenantOf(context), key, made));
  return context.sessionLocks.isHeld(names);
}
