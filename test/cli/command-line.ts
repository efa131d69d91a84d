import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { type Finished, Session } from './program.ts';

/** The commands of one test file. Its members can be used once the tests run. */
export interface CommandLine {
  /** An empty directory: the current directory of the commands. */
  readonly directory: string;
  readonly database: TestDatabase;
  readonly session: Session;
  /** The environment of an operator: database and secret key. */
  env(): Record<string, string>;
  /** Runs a command to its end; with an empty environment unless given. */
  run(args: readonly string[], environment?: Record<string, string>): Promise<Finished>;
}

/** Gives a test file a directory, a database and a process for its commands, and removes them after its tests. */
export function useCommandLine(): CommandLine {
  let made: Pick<CommandLine, 'directory' | 'database' | 'session'>;
  beforeAll(async () => {
    const [directory, database] = await Promise.all([mkdtemp(join(tmpdir(), 'parley-cli-')), createTestDatabase()]);
    made = { directory, database, session: new Session() };
  });
  afterAll(async () => {
    made.session.child.kill('SIGKILL');
    await made.database.drop();
    await rm(made.directory, { recursive: true, force: true });
  });
  return {
    get directory() {
      return made.directory;
    },
    get database() {
      return made.database;
    },
    get session() {
      return made.session;
    },
    env: () => ({
      DATABASE_URL: made.database.url,
      PARLEY_SECRET_KEY: Buffer.alloc(32, 7).toString('base64'),
    }),
    run: (args, environment = {}) => made.session.run(made.directory, args, environment),
  };
}
