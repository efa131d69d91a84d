import { Command, Option } from 'commander';
import { loadConfig } from '../config.ts';
import { createLog } from '../platform/log.ts';
import { UserError } from '../platform/user-error.ts';
import type { Role } from '../serve.ts';
import { migrateDatabase } from './migrate.ts';
import { untilStopped } from './until-stopped.ts';

export function serveCommand(): Command {
  return new Command('serve')
    .description('serve in production: DATABASE_URL and PARLEY_SECRET_KEY are required')
    .addOption(
      new Option('--role <role>', 'gateway answers requests, worker sends and receives, all does both')
        .choices(['all', 'gateway', 'worker'])
        .default('all'),
    )
    .option('--migrate', 'bring the database to this version first', false)
    .action(async ({ role, migrate }: { role: Role; migrate: boolean }) => {
      const config = loadConfig();
      const { databaseUrl, secretKey } = config;
      const missing = [
        databaseUrl === undefined && '  DATABASE_URL: postgres://user:password@host:5432/database',
        secretKey === undefined &&
          '  PARLEY_SECRET_KEY: 32 bytes as base64, for example from `openssl rand -base64 32`',
      ].filter(Boolean);
      if (databaseUrl === undefined || secretKey === undefined)
        throw new UserError(`Required and not set:\n${missing.join('\n')}`);
      if (migrate) await migrateDatabase(databaseUrl);
      const [{ schema }, { serve }] = await Promise.all([import('../schema.ts'), import('../serve.ts')]);
      await untilStopped(config, async () => {
        const gateway = await serve({
          config: { ...config, databaseUrl, secretKey },
          schema,
          role,
          log: createLog(config.logLevel),
        });
        return () => gateway.stop();
      });
    });
}
