import { newId } from '../../../core/ids.ts';
import type { Scope } from '../../../core/scopes.ts';
import type { Context, Resources } from '../../../schema/context.ts';
import { Loaders } from '../../../schema/loaders.ts';
import { findActiveTenant } from './store.ts';
import { tenantOfColumns } from './tenant.ts';

/** For actions of the gateway itself; no token has this id. */
const NO_TOKEN = 0;

/**
 * Creates a context for an action of the gateway itself on behalf of a tenant (a bot's reply, a message about an order), so that it
 * uses the same verbs as callers do. One context per action, because it has its own loaders and replay.
 *
 * @param name the actor's name, for the log
 * @returns undefined if the tenant does not exist or is suspended
 */
export async function actFor(
  resources: Resources,
  tenantId: number,
  name: string,
  scopes: readonly Scope[],
): Promise<Context | undefined> {
  const row = await findActiveTenant(resources.db.read, tenantId);
  if (!row) return undefined;
  const tenant = tenantOfColumns(row);
  return {
    ...resources,
    principal: {
      tenant,
      tokenId: NO_TOKEN,
      tokenName: name,
      scopes: new Set(scopes),
      callsPerMinute: tenant.callsPerMinute,
      documentsOnly: false,
      expiresAtMs: undefined,
    },
    requestId: newId(),
    eventPosition: resources.bus.position,
    loaders: new Loaders(resources.db, tenantId),
    isRehearsal: false,
    // Verbs are called directly, and not as mutations.
    rehearsal: () => {
      throw new Error('Only operations of callers are rehearsed.');
    },
    replay: { wantsAnswer: false, replayed: false },
  };
}
