import { fileURLToPath } from 'node:url';

/**
 * Asks the real main of `parley` for the help of every command, in one process: to load it takes longer than to answer.
 * Commands are found as a person finds them, in the help of the command above. One line of JSON for each on stdout:
 * `{ command, code, usage }`, `usage` being the first line of the help.
 */
const MAIN = new URL('../../src/main.ts', import.meta.url);

class Ended extends Error {}

let output = '';
let code: unknown;
const write = process.stdout.write.bind(process.stdout);
process.stdout.write = (chunk: string | Uint8Array): boolean => {
  output += String(chunk);
  return true;
};
// The help ends the process. Here it must not; main tells of an error that it does not know on stderr, which is not looked at.
process.stderr.write = (): boolean => true;
process.exit = (given): never => {
  code = given;
  throw new Ended();
};

let times = 0;
async function helpOf(command: readonly string[]): Promise<void> {
  output = '';
  code = undefined;
  times += 1;
  process.argv = [process.execPath, fileURLToPath(MAIN), ...command, '--help'];
  await import(`${MAIN.href}?${times}`);
  const help = output;
  write(`${JSON.stringify({ command: command.join(' '), code, usage: help.split('\n')[0] })}\n`);
  const below = /^Commands:\n((?: .*\n|\n)*)/m.exec(help)?.[1] ?? '';
  for (const [, name] of below.matchAll(/^ {2}([a-z]\S*)/gm))
    if (name !== undefined && name !== 'help') await helpOf([...command, name]);
}

await helpOf([]);
process.exitCode = 0;
