import { randomBytes } from 'node:crypto';
import type { Fixture } from './fixture.ts';
import { type Server, startServer } from './server.ts';

export const SECRET_KEY = randomBytes(32).toString('base64');

/** What a production gateway is started with; everything else is as Parley has it by default. */
export const gatewayEnvironment = (fixture: Fixture): Record<string, string> => ({
  DATABASE_URL: fixture.url,
  PARLEY_SECRET_KEY: SECRET_KEY,
  PARLEY_MEDIA_DIR: `${fixture.directory}/media`,
});

/** `parley serve` as in production, with its log. As a gateway it accepts messages, and nothing sends them. */
export const startGateway = (
  fixture: Fixture,
  execArgv: readonly string[] = [],
  role: 'all' | 'gateway' | 'worker' = 'gateway',
  env: Readonly<Record<string, string>> = {},
): Promise<Server> =>
  startServer(new URL('../../src/main.ts', import.meta.url), {
    args: ['serve', '--role', role],
    // As the image and `npm start` run it.
    execArgv: ['--no-memory-reducer', ...execArgv],
    env: { ...gatewayEnvironment(fixture), ...env },
    logFile: `${fixture.directory}/${role}.log`,
  });
