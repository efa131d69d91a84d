import type { Context, Resources } from '../../context.ts';
import { newId } from '../../platform/ids.ts';
import type { Scope } from '../../scopes.ts';
import { Loaders } from '../loaders.ts';
import { findActiveTenant } from './store.ts';
import { tenantOfColumns } from './tenant.ts';

/** No token has this id: what the gateway does by itself belongs to none. */
const NO_TOKEN = 0;

/**
 * A context for what the gateway does by itself in a tenant's name (bots that answer, shops that report an order), so that
 * it goes through the same verbs as what callers ask for. One context for each thing done: loaders and replay are its own.
 *
 * @param name who acts, for the log
 * @returns undefined when the tenant is gone or suspended
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
      expiresAtMs: undefined,
    },
    requestId: newId(),
    loaders: new Loaders(resources.db, tenantId),
    replay: { wantsAnswer: false, replayed: false },
  };
}
