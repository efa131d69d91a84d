import { type ChildProcess, spawn } from 'node:child_process';
import { resolve } from 'node:path';

const LAUNCH = resolve('src/launch.js');

export interface Finished {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly output: string;
}

/** The environment of a user who has set nothing; what Node has compiled before is kept, for speed. */
const bare = (): NodeJS.ProcessEnv =>
  Object.fromEntries(
    Object.entries(process.env).filter(
      ([name]) => !/^(PARLEY_|DATABASE_URL$|PORT$|HOST$|npm_|VITEST|NODE_(?!COMPILE_CACHE$))/.test(name),
    ),
  );

/** `parley` as a process of its own, with both outputs read together. */
export class Program {
  readonly child: ChildProcess;
  readonly finished: Promise<Finished>;
  output = '';

  constructor(cwd: string, args: readonly string[], env: Readonly<Record<string, string>> = {}) {
    this.child = spawn(process.execPath, [LAUNCH, ...args], {
      cwd,
      env: { ...bare(), ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    for (const stream of [this.child.stdout, this.child.stderr])
      stream?.on('data', chunk => (this.output += String(chunk)));
    this.finished = new Promise(done =>
      this.child.once('close', (code, signal) => done({ code, signal, output: this.output })),
    );
  }

  /** Waits until the output holds a text. @throws with the output when the program ends first */
  async says(text: string): Promise<void> {
    const ended = this.finished.then(() => {
      if (!this.output.includes(text)) throw new Error(`The program ended without saying "${text}":\n${this.output}`);
    });
    const said = (async () => {
      while (!this.output.includes(text)) await new Promise(done => setTimeout(done, 20));
    })();
    await Promise.race([said, ended]);
  }

  kill(signal: NodeJS.Signals): Promise<Finished> {
    this.child.kill(signal);
    return this.finished;
  }
}

/** Runs a command to its end. */
export const run = (
  cwd: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Finished> => new Program(cwd, args, env).finished;
