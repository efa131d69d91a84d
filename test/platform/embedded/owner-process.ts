// A minimal process to be killed: starts the embedded PostgreSQL in the given directory, prints a line, and waits.
import { startEmbeddedPostgres } from '../../../src/platform/embedded/postgres.ts';
import { createLog } from '../../../src/platform/log.ts';

const [directory = '', fallbackRoot = ''] = process.argv.slice(2);
try {
  const log = createLog('silent');
  const server = await startEmbeddedPostgres({ directory, durable: false, log, fallbackRoots: [fallbackRoot] });
  process.stdout.write(`${server.url}\n`);
  setInterval(() => undefined, 1_000);
} catch (error) {
  process.stdout.write(`${(error as Error).message}\n`);
  process.exitCode = 1;
}
