import { type ChildProcess, spawn } from 'node:child_process';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const LAUNCH = resolve('src/launch.js');
const SESSION_PROCESS = fileURLToPath(new URL('./session-process.ts', import.meta.url));

type Environment = Readonly<Record<string, string>>;

/** The command that a session runs. */
export interface Start {
  readonly cwd: string;
  readonly args: readonly string[];
  readonly env: Environment;
}

/** What it answers, when it has written `END_OF_OUTPUT` to both outputs. */
export interface Ended {
  readonly code: number;
}

export const END_OF_OUTPUT = '\u0004';

export interface Finished {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly output: string;
}

/** The environment of a user who has set nothing, but for where compiled code is kept: the home of the user who runs the tests is theirs. */
const bare = (): NodeJS.ProcessEnv =>
  Object.fromEntries(
    Object.entries(process.env).filter(
      ([name]) => !/^(PARLEY_|DATABASE_URL$|PORT$|HOST$|npm_|VITEST|NODE_(?!COMPILE_CACHE$))/.test(name),
    ),
  );

/** A command under way, with both outputs read together. */
export abstract class Running {
  abstract readonly finished: Promise<Finished>;
  abstract readonly child: ChildProcess;
  output = '';

  /** Waits until the output holds a text. @throws with the output when the command ends first */
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

/** `parley` as a process of its own, as a person starts it. */
export class Program extends Running {
  readonly child: ChildProcess;
  readonly finished: Promise<Finished>;

  constructor(cwd: string, args: readonly string[], env: Environment = {}) {
    super();
    this.child = spawn(process.execPath, [LAUNCH, ...args], {
      cwd,
      env: { ...bare(), ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    for (const stream of [this.child.stdout, this.child.stderr])
      stream?.setEncoding('utf8').on('data', chunk => (this.output += chunk));
    this.finished = new Promise(done =>
      this.child.once('close', (code, signal) => done({ code, signal, output: this.output })),
    );
  }
}

/** Runs a command to its end, as a process of its own. */
export const run = (cwd: string, args: readonly string[], env: Environment = {}): Promise<Finished> =>
  new Program(cwd, args, env).finished;

/**
 * One process for many commands, one after another: each is run by the real main, with its directory, arguments and
 * environment. To load Parley takes far longer than a command. What a process alone can show, its own signals and its
 * end, is for `Program`; but a process of many commands ends by itself only when none of them has left anything open.
 */
export class Session {
  readonly child: ChildProcess;
  /** Ends only when the process does in the middle of a command. */
  readonly #broken: Promise<Finished>;
  readonly #ended: Promise<Pick<Finished, 'code' | 'signal'>>;

  constructor() {
    this.child = spawn(process.execPath, [SESSION_PROCESS], {
      env: bare(),
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    for (const stream of [this.child.stdout, this.child.stderr]) stream?.setEncoding('utf8');
    this.#broken = new Promise(done => this.child.once('close', (code, signal) => done({ code, signal, output: '' })));
    // Not its 'close', which does not come once we have disconnected.
    this.#ended = new Promise(done => this.child.once('exit', (code, signal) => done({ code, signal })));
  }

  /** Starts a command; the one before must have ended. */
  start(cwd: string, args: readonly string[], env: Environment = {}): Running {
    return new Turn(this.child, { cwd, args, env }, this.#broken);
  }

  /** Runs a command to its end; the one before must have ended. */
  run(cwd: string, args: readonly string[], env: Environment = {}): Promise<Finished> {
    return this.start(cwd, args, env).finished;
  }

  /** No further command: the process may end, and does so by itself. */
  close(): Promise<Pick<Finished, 'code' | 'signal'>> {
    this.child.disconnect();
    return this.#ended;
  }
}

/** A command in a session. */
class Turn extends Running {
  readonly child: ChildProcess;
  readonly finished: Promise<Finished>;

  constructor(child: ChildProcess, start: Start, sessionBroken: Promise<Finished>) {
    super();
    this.child = child;
    const ended = Promise.all([
      new Promise<Ended>(done => child.once('message', message => done(message as Ended))),
      this.#read(child.stdout),
      this.#read(child.stderr),
    ]).then(([{ code }]) => ({ code, signal: null, output: this.output }));
    this.finished = Promise.race([ended, sessionBroken.then(end => ({ ...end, output: this.output }))]);
    child.send(start);
  }

  #read(stream: ChildProcess['stdout']): Promise<void> {
    return new Promise(done => {
      const read = (chunk: string): void => {
        const [text = '', ...end] = chunk.split(END_OF_OUTPUT);
        this.output += text;
        if (end.length === 0) return;
        stream?.off('data', read);
        done();
      };
      stream?.on('data', read);
    });
  }
}
