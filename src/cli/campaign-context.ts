import { loadConfig } from '../config.ts';
import type { Scope } from '../core/scopes.ts';
import type { Database } from '../database/database.ts';
import { configuredPrices } from '../features/messages/pricing/price-table.ts';
import { actFor } from '../features/tenancy/tenants/act.ts';
import { requireTenant } from '../features/tenancy/tenants/find.ts';
import { systemClock } from '../platform/clock.ts';
import type { SecretBox } from '../platform/crypto.ts';
import { createLog } from '../platform/log.ts';
import { UserError } from '../platform/user-error.ts';
import type { Context, Resources } from '../schema/context.ts';
import { POLLED } from './database.ts';

/**
 * Creates the context that functions of campaigns need, without network and lanes: a worker's sweep finds a started campaign within a
 * second.
 * @param options `secrets` for functions that create contacts; `scopes` in addition to sending and reading contacts
 */
export async function contextOf(
  db: Database,
  slug: string,
  { secrets, scopes = [] }: { readonly secrets?: SecretBox; readonly scopes?: readonly Scope[] } = {},
): Promise<Context> {
  const config = loadConfig();
  const resources = {
    db,
    config,
    secrets,
    clock: systemClock,
    log: createLog('silent'),
    prices: await configuredPrices(config),
    ...POLLED,
    bus: { position: { xid: 0n, seq: 0 } },
  } as unknown as Resources;
  const { tenant_id: tenantId } = await requireTenant(db.read, slug);
  const context = await actFor(resources, tenantId, 'command line', ['messages:send', 'contacts:read', ...scopes]);
  if (!context) throw new UserError(`The tenant ${slug} is suspended.`);
  return context;
}
