import { startEmulator } from '../../src/emulator/emulator.ts';
import type { EmulatorOptions } from '../../src/emulator/options.ts';
import { createLog } from '../../src/platform/log.ts';

/** An emulator in a separate process, for tests that kill it: options as JSON in the first argument, its URL on stdout. */
const options = JSON.parse(process.argv[2] ?? '{}') as Omit<EmulatorOptions, 'log'>;
const emulator = await startEmulator({ ...options, log: createLog('silent') });
process.stdout.write(`${emulator.url}\n`);
