import { Command, Option } from 'commander';
import type { Role } from '../app/serve.ts';
import { loadServeConfig } from '../config.ts';
import { waitForDatabase } from '../database/wait.ts';
import { createLog } from '../platform/log.ts';
import { migrateDatabase } from './migrate.ts';
import { untilStopped } from './until-stopped.ts';

export function serveCommand(): Command {
  return new Command('serve')
    .description('run the gateway in production; requires DATABASE_URL and PARLEY_SECRET_KEY')
    .addOption(
      new Option('--role <role>', 'gateway answers requests, worker sends and receives, all does both')
        .choices(['all', 'gateway', 'worker'])
        .default('all'),
    )
    .option('--migrate', 'migrate the database first', false)
    .action(async ({ role, migrate }: { role: Role; migrate: boolean }) => {
      const config = loadServeConfig();
      const { databaseUrl } = config;
      const log = createLog(config.logLevel);
      await untilStopped(config, async signal => {
        const { waitMs, connectTimeoutMs } = config.database;
        await waitForDatabase({ url: databaseUrl, isDirect: !config.pgbouncer, waitMs, connectTimeoutMs, log, signal });
        if (migrate) await migrateDatabase(databaseUrl, config);
        const [{ schema }, { serve }] = await Promise.all([import('../app/schema.ts'), import('../app/serve.ts')]);
        const gateway = await serve({ config, schema, role, log });
        return () => gateway.stop();
      });
    });
}
