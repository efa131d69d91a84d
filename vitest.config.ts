import { relative } from 'node:path';
import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

const NETWORK = ['test/{network,emulator}/**/*.test.ts'];
const EMBEDDED = ['test/platform/embedded/**/*.test.ts'];
/**
 * Tests of whole processes, which are started, stopped, suspended and killed, of their memory, of a database that is away, of clocks
 * apart and of crowds: a twelfth of the files, a third of the time. `npm run test:faults` runs them.
 */
const FAULTS = [
  'test/{app,cli}/**/*.test.ts',
  'test/launch.test.ts',
  'test/clients/codegen.test.ts',
  'test/database/pgbouncer.test.ts',
  'test/features/contacts/erasure/export.test.ts',
  'test/**/{clocks,crash,endpoint-failures,flood,load,memory,no-database,processes,stream-end}.test.ts',
];

/** Files that wait for what others do in their own time: first, so that none of them is left alone at the end. */
const LONG = /\/(?:age|dead-codes|endpoint-failures|event-streams|jobs|stream-end|no-database)\.test\.ts$/;

class LongestFirst extends BaseSequencer {
  /** By the durations of the last run where there was one, else by size; those that are known to be long before all others. */
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isLong = (file: TestSpecification): boolean => LONG.test(relative(import.meta.dirname, file.moduleId));
    return [...sorted.filter(isLong), ...sorted.filter(file => !isLong(file))];
  }
}

/** A sequencer of one's own is asked even where the command line wants a shuffled order: then there must be none. */
const isShuffled = process.argv.some(argument => argument.startsWith('--sequence.shuffle'));

const onDatabase = { globalSetup: ['test/support/global-setup.ts'] };

function project(name: string, include: string[], options: object = {}): TestProjectInlineConfiguration {
  return { extends: true, test: { name, include, ...options } };
}

export default defineConfig({
  test: {
    projects: [
      project('tests', ['test/**/*.test.ts'], {
        // The peers of the benchmarks have tests of their own.
        exclude: ['**/node_modules/**', 'test/browser/**', ...NETWORK, ...EMBEDDED, ...FAULTS],
        ...onDatabase,
      }),
      project('network', NETWORK),
      project('faults', FAULTS, onDatabase),
      project('embedded', EMBEDDED),
    ],
    setupFiles: ['test/support/setup.ts'],
    pool: 'forks',
    // Node loads the sources as it does outside of tests: nothing is transformed first, and no call goes through vite's module objects.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    // The files of a worker share their modules: loading all of src for each took as long as the tests. What a file makes,
    // its database first of all, is its own all the same.
    isolate: false,
    // Files wait for clocks and timers a quarter of their time, so that two cores have work for four. A PostgreSQL that is a service
    // has a hundred connections, which three would use up.
    maxWorkers: process.env['PARLEY_TEST_DATABASE_URL'] === undefined ? 4 : 2,
    sequence: isShuffled ? {} : { sequencer: LongestFirst },
    // The patience with a machine that has other work as well. What is promised in seconds, a test says itself.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 120_000 } },
  },
});
