import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { delimiter, dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { printProgress } from './output.ts';

const HERE = fileURLToPath(new URL('.', import.meta.url));
const LOCK = `${HERE}package-lock.json`;
const MARK = `${HERE}node_modules/.parley-bench-lock`;

/** Installs what we compare ourselves with, below test/bench and as its lock says. Nothing happens when it is there. */
export async function installPeers(): Promise<void> {
  const wanted = await readFile(LOCK, 'utf8');
  if ((await readFile(MARK, 'utf8').catch(() => '')) === wanted) return;
  printProgress('Installing the peers (PostGraphile, Apollo Server) in test/bench: npm ci, about 300 MB, once …');
  // npm runs under the Node that it finds first: the old one of a machine would warn of every package.
  const env = { ...process.env, PATH: `${dirname(process.execPath)}${delimiter}${process.env['PATH'] ?? ''}` };
  const npm = spawn('npm', ['ci', '--no-audit', '--no-fund'], {
    cwd: HERE,
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
    shell: process.platform === 'win32',
  });
  let messages = '';
  npm.stderr.setEncoding('utf8').on('data', text => {
    messages += text;
  });
  const [code] = (await once(npm, 'close')) as [number | null];
  if (code !== 0) throw new Error(`npm ci in test/bench ended with ${code}:\n${messages}`);
  await writeFile(MARK, wanted);
}
