import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmod, copyFile, mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

const LAUNCH = fileURLToPath(new URL('../src/launch.js', import.meta.url));

/** A checkout with the real launch.js and a main that tells how it was called. */
let checkout: string;
let launch: string;
/** Makes a Node believe that it is an old one. */
let pretend: string;

beforeEach(async () => {
  checkout = await mkdtemp(join(tmpdir(), 'parley-launch-'));
  launch = join(checkout, 'src/launch.js');
  pretend = join(checkout, 'pretend.cjs');
  await mkdir(join(checkout, 'src'));
  await copyFile(LAUNCH, launch);
  await writeFile(join(checkout, 'package.json'), '{ "type": "module" }');
  const versions = "{ ...process.versions, node: '18.20.8' }";
  await writeFile(pretend, `Object.defineProperty(process, 'versions', { value: ${versions} });`);
  await main(`const said: string[] = process.argv.slice(2); console.log('main', ...said); process.exitCode = 7;`);
});

afterEach(() => rm(checkout, { recursive: true, force: true }));

function main(source: string): Promise<void> {
  return writeFile(join(checkout, 'src/main.ts'), source);
}

/** What `npm ci` leaves: the package `node`, whose install script has run or not. */
async function installOwnNode(script: 'has run' | 'was skipped' | 'brought a broken one'): Promise<void> {
  const bin = join(checkout, 'node_modules/node/bin');
  await mkdir(bin, { recursive: true });
  await writeFile(join(checkout, 'node_modules/node/package.json'), '{}');
  if (script === 'has run') await symlink(process.execPath, join(bin, 'node'));
  if (script === 'brought a broken one') {
    await writeFile(join(bin, 'node'), 'not a program');
    await chmod(join(bin, 'node'), 0o755);
  }
}

function onThisNode(...args: string[]): { status: number | null; stdout: string; stderr: string } {
  return spawnSync(process.execPath, [launch, ...args], { encoding: 'utf8' });
}

/** On this Node, with no variable but these. */
const withEnvironment = (env: Record<string, string>) =>
  spawnSync(process.execPath, [launch], { encoding: 'utf8', cwd: checkout, env });

function onOldNode(...args: string[]): { status: number | null; stdout: string; stderr: string } {
  return spawnSync(process.execPath, ['--require', pretend, launch, ...args], { encoding: 'utf8' });
}

describe('after an installation', () => {
  test('an old Node gets one line with the required version', async () => {
    await installOwnNode('has run');
    expect(onOldNode('--installed')).toMatchObject({
      status: 0,
      stdout: 'This is Node 18.20.8: Parley brings its own Node 24, which npm start, npm test and npx parley use.\n',
      stderr: '',
    });
  });

  test('npm on an old Node gets it too, though its scripts run on the new one', () => {
    const npm = 'npm/11.19.1 node/v20.20.2 linux x64 workspaces/true';
    const installed = spawnSync(process.execPath, [launch, '--installed', npm], { encoding: 'utf8' });
    expect(installed).toMatchObject({ status: 0, stdout: expect.stringMatching(/^This is Node 20\.20\.2: .*\n$/) });
  });

  test('Node 24 gets no message', () => {
    const npm = 'npm/11.19.1 node/v24.21.0 linux x64 workspaces/true';
    const installed = spawnSync(process.execPath, [launch, '--installed', npm], { encoding: 'utf8' });
    expect(installed).toMatchObject({ status: 0, stdout: '', stderr: '' });
  });
});

describe('on Node 24', () => {
  test('main gets the arguments', () => {
    expect(onThisNode('serve', '--port', '1')).toMatchObject({
      status: 7,
      stdout: 'main serve --port 1\n',
      stderr: '',
    });
  });

  test('a build runs as well, without its sources', async () => {
    await rm(join(checkout, 'src/main.ts'));
    await writeFile(join(checkout, 'src/main.js'), `console.log('built');`);
    expect(onThisNode()).toMatchObject({ status: 0, stdout: 'built\n', stderr: '' });
  });

  test('a build, which is not faster with a compile cache, writes none', async () => {
    await rm(join(checkout, 'src/main.ts'));
    await writeFile(join(checkout, 'src/main.js'), '');
    const home = join(checkout, 'home');
    await mkdir(home);
    expect(withEnvironment({ HOME: home })).toMatchObject({ status: 0, stderr: '' });
    expect(await readdir(home)).toEqual([]);
  });

  test('--check is silent and does not start main', () => {
    expect(onThisNode('--check')).toMatchObject({ status: 0, stdout: '', stderr: '' });
  });

  test('missing packages are reported', async () => {
    await main(`import 'not-installed';`);
    const { status, stderr } = onThisNode();
    expect(status).toBe(1);
    expect(stderr).toMatch(
      /^Cannot find package 'not-installed'.*\nInstall what Parley needs with `npm ci` first\.\n$/,
    );
  });

  test("what was compiled is kept below the user's home", async () => {
    const home = join(checkout, 'home');
    await mkdir(home);
    expect(withEnvironment({ HOME: home })).toMatchObject({ status: 7, stderr: '' });
    expect(await readdir(join(home, '.cache/parley/compiled'), { recursive: true })).not.toEqual([]);
  });

  test.each([
    ['lies in a file', fileURLToPath(import.meta.url)],
    ['takes nothing', '/proc'],
    ['is relative', 'home'],
  ])('and where that %s nothing is, and nothing said', async (_what, home) => {
    expect(withEnvironment({ HOME: home })).toMatchObject({ status: 7, stdout: 'main\n', stderr: '' });
    expect(await readdir(checkout)).not.toContain('home');
  });

  test('an error of main is shown with its stack', async () => {
    await main(`throw new Error('broken');`);
    const { status, stderr } = onThisNode();
    expect(status).toBe(1);
    expect(stderr).toMatch(/^Error: broken\n\s+at .*main\.ts/);
  });
});

describe('on an old Node', () => {
  test('the Node that npm brought along takes over: arguments, output and exit code', async () => {
    await installOwnNode('has run');
    expect(onOldNode('serve', '--port', '1')).toMatchObject({ status: 7, stdout: 'main serve --port 1\n', stderr: '' });
    expect(onOldNode('--check')).toMatchObject({ status: 0, stdout: '', stderr: '' });
  });

  test('SIGHUP, SIGINT and SIGTERM reach main, which may end in its own time', async () => {
    await installOwnNode('has run');
    const signals = ['SIGHUP', 'SIGINT', 'SIGTERM'] as const;
    await main(`
      for (const signal of ${JSON.stringify(signals)}) process.on(signal, () => console.log(signal));
      process.on('SIGTERM', () => setTimeout(() => process.exit(9), 50));
      console.log('ready');
      setInterval(() => 0, 999);
    `);
    const child = spawn(process.execPath, ['--require', pretend, launch], { stdio: ['ignore', 'pipe', 'inherit'] });
    const exit = once(child, 'exit');
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    expect((await lines.next()).value).toBe('ready');
    for (const signal of signals) {
      child.kill(signal);
      expect((await lines.next()).value).toBe(signal);
    }
    expect(await exit).toEqual([9, null]);
  });

  test('a signal that kills main is passed on', async () => {
    await installOwnNode('has run');
    await main(`process.kill(process.pid, 'SIGKILL');`);
    const child = spawn(process.execPath, ['--require', pretend, launch], { stdio: 'ignore' });
    expect(await once(child, 'exit')).toEqual([null, 'SIGKILL']);
  });

  test.each([
    [
      'was skipped',
      /but its install script has not run\. Run `npm rebuild node`, or `npm ci` without --ignore-scripts\./,
    ],
    ['brought a broken one', /but it does not run on this system\. Run `npm rebuild node` on this system\./],
  ] as const)('an install script that %s is found out, with what to do', async (script, words) => {
    await installOwnNode(script);
    for (const args of [['--check'], ['serve']]) {
      const { status, stdout, stderr } = onOldNode(...args);
      expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
      expect(stderr).toMatch(/^Parley needs Node 24; this is Node 18\.20\.8\./);
      expect(stderr).toMatch(words);
      expect(stderr).toContain('start with `npm start` or `npx parley`');
    }
  });

  test('without dev dependencies, it says what to install', () => {
    expect(onOldNode('serve').stderr).toContain('it is not installed. Run `npm ci` without --omit=dev.');
  });
});

/** The Node of the system, where it is a real old one. */
const systemNode = ['/usr/bin/node', '/usr/local/bin/node'].find(path => {
  const { status, stdout } = spawnSync(path, ['--version'], { encoding: 'utf8' });
  return status === 0 && Number(stdout.slice(1).split('.')[0]) < 24;
});

test.runIf(systemNode !== undefined)('a real old Node understands the launcher (needs one on the system)', async () => {
  const old = (...args: string[]) => spawnSync(systemNode ?? '', [launch, ...args], { encoding: 'utf8' });
  expect(old('--check').stderr).toMatch(/^Parley needs Node 24; this is Node \d+\./);
  await installOwnNode('has run');
  expect(old('serve')).toMatchObject({ status: 7, stdout: 'main serve\n', stderr: '' });
});
