#!/usr/bin/env node
// Entry point of the `parley` command and of the npm scripts: checks the Node version, then runs main. It must run on the
// old Node versions that it refuses (14.13 and later), so it is plain JavaScript without dependencies.
//
//   node src/launch.js <arguments of main>
//   node src/launch.js --check    exits with 0 and prints nothing if Parley can run here, else prints what to do
//   node src/launch.js --installed "$npm_config_user_agent"    for npm: says in one line which Node Parley runs on, if not on this one
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import module from 'node:module';
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const REQUIRED_MAJOR = 24;
/** The Node of the dev dependency `node`, downloaded by its install script. */
const BUNDLED_NODE = fileURLToPath(new URL('../node_modules/node/bin/node', import.meta.url));
const BUNDLED_NODE_PACKAGE = new URL('../node_modules/node/package.json', import.meta.url);
/**
 * Without V8's memory reducer, which collects after eight quiet seconds and so discards optimized code: the next seconds of lists take a
 * quarter more CPU. Memory is returned after longer pauses (platform/garbage-collection.ts). V8 reads it before any script runs.
 */
const V8_OPTIONS = ['--no-memory-reducer'];

const args = process.argv.slice(2);

if (major(process.versions.node) >= REQUIRED_MAJOR) {
  if (args[0] === '--installed') noteOtherNode();
  else if (args.length !== 1 || args[0] !== '--check') start();
} else if (bundledNodeWorks()) {
  if (args[0] === '--installed') process.stdout.write(bundledNote(process.versions.node));
  else relaunch();
} else {
  process.stderr.write(installHint());
  process.exitCode = 1;
}

function major(version) {
  return Number(version.split('.')[0]);
}

/**
 * Caches what Node compiles from the sources: a start then takes a third less processor time, because types are not stripped
 * again. A build starts as fast without a cache, and needs 10 MB less memory.
 *
 * The cache is below the user's home: in Node's default, a directory for everybody's temporary files, another user could place code.
 * If it is not writable, there is no cache. NODE_COMPILE_CACHE and NODE_DISABLE_COMPILE_CACHE, read by Node, take precedence.
 */
function enableCompileCache() {
  if (module.getCompileCacheDir() !== undefined) return;
  let path;
  try {
    path = homedir();
  } catch {
    // A user without an entry in the system's user database has no home.
    return;
  }
  if (!isAbsolute(path)) return;
  // One by one: a recursive mkdir below /proc never returns.
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
  // `parley … | head` closes the pipe: nobody reads the rest.
  process.stdout.on('error', error => {
    if (error.code === 'EPIPE') process.exit();
    process.stderr.write(`Cannot write to standard output: ${error.message}.\n`);
    process.exit(1);
  });
  // A checkout runs its sources; in a build the directory of this file has only JavaScript.
  const source = new URL('./main.ts', import.meta.url);
  const isBuild = !existsSync(source);
  if (!isBuild) enableCompileCache();
  const main = isBuild ? new URL('./main.js', import.meta.url) : source;
  import(main.href).catch(error => {
    const notInstalled = error.code === 'ERR_MODULE_NOT_FOUND' && error.message.startsWith('Cannot find package');
    const text = notInstalled ? `${error.message}.\nInstall what Parley needs with \`npm ci\` first.` : error.stack;
    process.stderr.write(`${text}\n`);
    process.exitCode = 1;
  });
}

function bundledNodeWorks() {
  if (!existsSync(BUNDLED_NODE)) return false;
  const { status, stdout } = spawnSync(BUNDLED_NODE, ['--version'], { encoding: 'utf8' });
  return status === 0 && major(stdout.slice(1)) >= REQUIRED_MAJOR;
}

/** Runs the same command on the bundled Node, and exits with its exit code or signal. */
function relaunch() {
  const child = spawn(BUNDLED_NODE, [...V8_OPTIONS, fileURLToPath(import.meta.url), ...args], { stdio: 'inherit' });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.on(signal, () => {
      // A terminal sends these two to the whole process group; the child would take a second one as a request to end at once.
      const isSentByTerminal = process.stdin.isTTY && signal !== 'SIGTERM';
      if (!isSentByTerminal) child.kill(signal);
    });
  }
  child.on('error', error => {
    process.stderr.write(`${BUNDLED_NODE} does not start: ${error.message}\n`);
    process.exitCode = 1;
  });
  child.on('exit', (code, signal) => {
    if (signal === null) process.exit(code);
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  });
}

/**
 * The scripts of npm find the Node of `node_modules/.bin` first, so that the script of an installation runs on it already: the
 * user's own Node is the one that runs npm, which its user agent names (`npm/11.19.1 node/v20.20.2 linux x64`).
 */
function noteOtherNode() {
  const [, version] = / node\/v(\d+\.\d+\.\d+) /.exec(args[1] ?? '') ?? [];
  if (version !== undefined && major(version) < REQUIRED_MAJOR) process.stdout.write(bundledNote(version));
}

function bundledNote(version) {
  return `This is Node ${version}: Parley brings its own Node ${REQUIRED_MAJOR}, which npm start, npm test and npx parley use.\n`;
}

function installHint() {
  return `Parley needs Node ${REQUIRED_MAJOR}; this is Node ${process.versions.node}.
\`npm ci\` brings it along (the \`node\` dev dependency), but ${missingReason()}.
Then start with \`npm start\` or \`npx parley\`. Or install Node ${REQUIRED_MAJOR} from https://nodejs.org.
`;
}

function missingReason() {
  if (existsSync(BUNDLED_NODE)) return 'it does not run on this system. Run `npm rebuild node` on this system';
  if (existsSync(BUNDLED_NODE_PACKAGE)) {
    return 'its install script has not run. Run `npm rebuild node`, or `npm ci` without --ignore-scripts';
  }
  return 'it is not installed. Run `npm ci` without --omit=dev';
}
