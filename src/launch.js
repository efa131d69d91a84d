#!/usr/bin/env node
// The door to Parley: `parley` on the command line, and what the npm scripts call. It must run on the old Node versions
// that it turns away (14.13 and later), so it is plain JavaScript without a library, and loads main on a new enough one.
//
//   node src/launch.js <arguments of main>
//   node src/launch.js --check    end with 0 and without a word if Parley can run here, else say what to do
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import module from 'node:module';
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const NEEDED_MAJOR = 24;
/** The Node that the dev dependency `node` brings along; the dependency's install script puts it there. */
const OWN_NODE = fileURLToPath(new URL('../node_modules/node/bin/node', import.meta.url));
const OWN_NODE_PACKAGE = new URL('../node_modules/node/package.json', import.meta.url);

const args = process.argv.slice(2);

if (major(process.versions.node) >= NEEDED_MAJOR) {
  if (args.length !== 1 || args[0] !== '--check') start();
} else if (ownNodeWorks()) {
  relaunch();
} else {
  process.stderr.write(explanation());
  process.exitCode = 1;
}

function major(version) {
  return Number(version.split('.')[0]);
}

/**
 * What Node compiles is kept for the next start: `schema` then takes 0.5 s of the processor instead of 1.0, `dev` 2.2 instead
 * of 2.8; the first start takes 0.2 s longer. Below the user's home, and not where Node would put it: in a directory for
 * everybody's temporary files somebody else could lay down code for us. Where it cannot be written, nothing is kept;
 * NODE_COMPILE_CACHE and NODE_DISABLE_COMPILE_CACHE, which Node reads itself, go before.
 */
function keepCompiled() {
  if (module.getCompileCacheDir() !== undefined) return;
  let path;
  try {
    path = homedir();
  } catch {
    // A user whom the system does not know has none.
    return;
  }
  if (!isAbsolute(path)) return;
  // One by one: Node's own way of making a whole path goes on for ever where the system will not have it (below /proc).
  for (const name of ['.cache', 'parley', 'compiled']) {
    path = join(path, name);
    try {
      mkdirSync(path, 0o700);
    } catch (error) {
      if (error.code !== 'EEXIST') return;
    }
  }
  module.enableCompileCache(path);
}

function start() {
  keepCompiled();
  // The sources run as they are; a build has only JavaScript beside this file.
  const source = new URL('./main.ts', import.meta.url);
  const main = existsSync(source) ? source : new URL('./main.js', import.meta.url);
  import(main.href).catch(error => {
    const notInstalled = error.code === 'ERR_MODULE_NOT_FOUND' && error.message.startsWith('Cannot find package');
    const text = notInstalled ? `${error.message}.\nInstall what Parley needs with \`npm ci\` first.` : error.stack;
    process.stderr.write(`${text}\n`);
    process.exitCode = 1;
  });
}

function ownNodeWorks() {
  if (!existsSync(OWN_NODE)) return false;
  const { status, stdout } = spawnSync(OWN_NODE, ['--version'], { encoding: 'utf8' });
  return status === 0 && major(stdout.slice(1)) >= NEEDED_MAJOR;
}

/** Runs the same command on the Node that npm brought along, and ends as that ends. */
function relaunch() {
  const child = spawn(OWN_NODE, [fileURLToPath(import.meta.url), ...args], { stdio: 'inherit' });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.on(signal, () => {
      // A terminal has sent these two to the child as well, which would take a second one for impatience.
      const sentToBoth = process.stdin.isTTY && signal !== 'SIGTERM';
      if (!sentToBoth) child.kill(signal);
    });
  }
  child.on('error', error => {
    process.stderr.write(`${OWN_NODE} does not start: ${error.message}\n`);
    process.exitCode = 1;
  });
  child.on('exit', (code, signal) => {
    if (signal === null) process.exit(code);
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  });
}

function explanation() {
  return `Parley needs Node ${NEEDED_MAJOR}; this is Node ${process.versions.node}.
\`npm ci\` brings it along (the \`node\` dev dependency), but ${whyNot()}.
Then start with \`npm start\` or \`npx parley\`. Or install Node ${NEEDED_MAJOR} from https://nodejs.org.
`;
}

function whyNot() {
  if (existsSync(OWN_NODE)) return 'it does not run on this system. Run `npm rebuild node` on this system';
  if (existsSync(OWN_NODE_PACKAGE)) {
    return 'its install script has not run. Run `npm rebuild node`, or `npm ci` without --ignore-scripts';
  }
  return 'it is not installed. Run `npm ci` without --omit=dev';
}
