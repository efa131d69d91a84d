import { Command, InvalidArgumentError } from 'commander';
import { loadConfig } from '../config.ts';
import { requireTenant } from '../features/tenants/require.ts';
import { createToken } from '../features/tokens/create.ts';
import { type AccessTokenRow, listTokens, revokeToken } from '../features/tokens/store.ts';
import { systemClock } from '../platform/clock.ts';
import { UserError } from '../platform/user-error.ts';
import { SCOPES } from '../scopes.ts';
import { print, withDatabase } from './database.ts';
import { instant } from './instant.ts';

const shown = (token: AccessTokenRow) => ({
  id: token.id,
  name: token.name,
  ends_with: token.hint,
  scopes: token.scopes.length === SCOPES.length ? '*' : token.scopes.join(','),
  calls_per_minute: token.calls_per_minute,
  expires_at: token.expires_at,
  revoked_at: token.revoked_at,
});

function positive(text: string): number {
  const number = Number(text);
  if (!Number.isInteger(number) || number < 1) throw new InvalidArgumentError('Must be a whole number above 0.');
  return number;
}

export function tokenCommand(): Command {
  const command = new Command('token').description('make, list and revoke access tokens');

  command
    .command('create')
    .description('make a token; it is shown this once')
    .requiredOption('--tenant <slug>', 'whose token it is')
    .option('--name <name>', 'what it is for', 'command line')
    .option('--scopes <scopes>', 'comma-separated, such as contacts:read,messages:*', '*')
    .option('--rate <calls>', "calls per minute (default: 60, or the plan's when that is less)", positive)
    .option('--expires <when>', 'when it ends by itself: 30d, 12h, or an instant', instant)
    .action(async (options: { tenant: string; name: string; scopes: string; rate?: number; expires?: string }) => {
      const { token, accessToken } = await withDatabase(loadConfig(), async db => {
        const tenant = await requireTenant(db.read, options.tenant);
        const request = {
          name: options.name,
          scopes: options.scopes.split(','),
          callsPerMinute: options.rate,
          expiresAt: options.expires,
        };
        const grant = {
          scopes: new Set<string>(SCOPES),
          callsPerMinute: tenant.calls_per_minute,
          expiresAtMs: undefined,
        };
        return createToken(db.write, tenant.tenant_id, request, grant, systemClock.now());
      });
      process.stderr.write(`Token ${accessToken.id} of ${options.tenant}. Keep it: it cannot be shown again.\n`);
      process.stdout.write(`${token}\n`);
    });

  command
    .command('list')
    .description('list the tokens of a tenant')
    .requiredOption('--tenant <slug>', 'whose tokens')
    .option('--json', 'as JSON', false)
    .action(async ({ tenant, json }: { tenant: string; json: boolean }) => {
      const tokens = await withDatabase(loadConfig(), async db =>
        listTokens(db.read, (await requireTenant(db.read, tenant)).tenant_id),
      );
      print(tokens.map(shown), json);
    });

  command
    .command('revoke <id>')
    .description('end a token: refused everywhere within 5 seconds')
    .requiredOption('--tenant <slug>', 'whose token it is')
    .action(async (id: string, { tenant }: { tenant: string }) => {
      const revoked = await withDatabase(loadConfig(), async db => {
        const { tenant_id: tenantId } = await requireTenant(db.read, tenant);
        return revokeToken(db.write, tenantId, positive(id));
      });
      if (!revoked)
        throw new UserError(`Tenant ${tenant} has no token ${id}. See \`parley token list --tenant ${tenant}\`.`);
      print([shown(revoked)], false);
    });

  return command;
}
