import { schema } from '../../src/app/schema.ts';
import { type Role, serve } from '../../src/app/serve.ts';
import { loadConfig } from '../../src/config.ts';
import { createLog } from '../../src/platform/log.ts';

/** `parley serve` with a clock that is wrong: arguments are the role and the offset of the clock in milliseconds. */
const [role = 'all', offsetMs = '0'] = process.argv.slice(2);
const config = loadConfig();
const { databaseUrl, secretKey } = config;
if (databaseUrl === undefined || secretKey === undefined)
  throw new Error('DATABASE_URL and PARLEY_SECRET_KEY are required.');
const gateway = await serve({
  config: { ...config, databaseUrl, secretKey },
  schema,
  role: role as Role,
  log: createLog(config.logLevel),
  clock: { now: () => Date.now() + Number(offsetMs) },
});
process.once('SIGTERM', () => {
  void gateway.stop().then(() => process.exit(0));
});
