import { END_OF_OUTPUT, type Ended, type Start } from './program.ts';

/** The process of a `Session`: runs the real main of `parley` once for each message. Loading it is done once. */
const MAIN = new URL('../../src/main.ts', import.meta.url);
const LAUNCH = new URL('../../src/launch.js', import.meta.url);
const home = process.cwd();
let times = 0;

process.on('message', async ({ cwd, args, env }: Start) => {
  process.chdir(cwd);
  process.argv = [process.execPath, LAUNCH.pathname, ...args];
  Object.assign(process.env, env);
  process.exitCode = 0;
  times += 1;
  // Another address is another main; what it imports is there already.
  await import(`${MAIN.href}?${times}`);
  const ended: Ended = { code: Number(process.exitCode) };
  process.exitCode = 0;
  for (const name of Object.keys(env)) delete process.env[name];
  process.chdir(home);
  for (const stream of [process.stdout, process.stderr]) stream.write(END_OF_OUTPUT);
  if (process.connected) process.send?.(ended);
});
