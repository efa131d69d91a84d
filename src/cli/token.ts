import { Command } from 'commander';
import { loadConfig } from '../config.ts';
import { SCOPES } from '../core/scopes.ts';
import { COMMAND_LINE } from '../features/tenancy/audit/author.ts';
import { requireTenant } from '../features/tenancy/tenants/find.ts';
import { createToken } from '../features/tenancy/tokens/create.ts';
import { revokeToken } from '../features/tenancy/tokens/revoke.ts';
import { type AccessTokenRow, listTokens } from '../features/tenancy/tokens/store.ts';
import { systemClock } from '../platform/clock.ts';
import { UserError } from '../platform/user-error.ts';
import { changeDatabase, withDatabase } from './database.ts';
import { instant, objectId, positive, scopeNames } from './option-values.ts';
import { print } from './print.ts';

const shown = (token: AccessTokenRow) => ({
  id: token.id,
  name: token.name,
  ends_with: token.hint,
  scopes: token.scopes.length === SCOPES.length ? '*' : token.scopes.join(','),
  calls_per_minute: token.calls_per_minute,
  expires_at: token.expires_at,
  revoked_at: token.revoked_at,
});

interface CreateOptions {
  readonly tenant: string;
  readonly name: string;
  readonly scopes: readonly string[];
  readonly rate?: number;
  readonly expires?: string;
  readonly json: boolean;
}

export function tokenCommand(): Command {
  const command = new Command('token').description('create, list and revoke access tokens');

  command
    .command('create')
    .description('create a token; it is printed only once')
    .requiredOption('--tenant <slug>', 'slug of the tenant that owns the token')
    .option('--name <name>', 'purpose of the token', 'command line')
    .option('--scopes <scopes>', 'comma-separated scopes, such as contacts:read,messages:* (default: *)', scopeNames, [
      '*',
    ])
    .option('--rate <calls>', "calls per minute (default: 60, or the plan's when that is less)", positive)
    .option('--expires <when>', 'expiry: 30d, 12h, or an ISO 8601 time', instant)
    .option('--json', 'print JSON', false)
    .action(async (options: CreateOptions) => {
      const { token, accessToken } = await changeDatabase(loadConfig(), async db => {
        const tenant = await requireTenant(db.read, options.tenant);
        const request = {
          name: options.name,
          scopes: options.scopes,
          callsPerMinute: options.rate,
          expiresAt: options.expires,
        };
        const grant = {
          scopes: new Set<string>(SCOPES),
          callsPerMinute: tenant.calls_per_minute,
          expiresAtMs: undefined,
        };
        return db.transaction(trx => createToken(trx, tenant.tenant_id, request, grant, systemClock.now()));
      });
      if (options.json) return print([{ ...shown(accessToken), token }], true);
      process.stderr.write(`Token ${accessToken.id} of ${options.tenant}. Store it now: it cannot be shown again.\n`);
      process.stdout.write(`${token}\n`);
    });

  command
    .command('list')
    .description('list the tokens of a tenant')
    .requiredOption('--tenant <slug>', 'slug of the tenant')
    .option('--json', 'print JSON', false)
    .action(async ({ tenant, json }: { tenant: string; json: boolean }) => {
      const tokens = await withDatabase(loadConfig(), async db =>
        listTokens(db.read, (await requireTenant(db.read, tenant)).tenant_id),
      );
      print(tokens.map(shown), json);
    });

  command
    .command('revoke')
    .description('revoke a token; takes effect within 5 seconds')
    .argument('<id>', 'id of the token, as listed by `parley token list`', objectId)
    .requiredOption('--tenant <slug>', 'slug of the tenant that owns the token')
    .option('--json', 'print JSON', false)
    .action(async (id: number, { tenant, json }: { tenant: string; json: boolean }) => {
      const revoked = await changeDatabase(loadConfig(), async db => {
        const { tenant_id: tenantId } = await requireTenant(db.read, tenant);
        return db.transaction(trx => revokeToken(trx, tenantId, id, COMMAND_LINE));
      });
      if (!revoked)
        throw new UserError(`Tenant ${tenant} has no token ${id}. See \`parley token list --tenant ${tenant}\`.`);
      print([shown(revoked)], json);
    });

  return command;
}
