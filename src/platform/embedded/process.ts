import { execFile } from 'node:child_process';
import { readFile, readlink, realpath, stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { SECOND } from '../clock.ts';

/** The unprivileged account that runs the server when Parley itself is root, which PostgreSQL refuses to be. */
export interface ServerUser {
  readonly uid: number;
  readonly gid: number;
}

/** How a program ended: `code` is undefined if it could not be started; `output` is stdout and stderr. */
export interface Outcome {
  readonly code: number | undefined;
  readonly output: string;
  readonly error: NodeJS.ErrnoException | undefined;
}

/**
 * Environment of every started program, instead of the caller's: PGDATA, LC_ALL or LD_PRELOAD set for other purposes must not affect
 * the cluster, and `errors.ts` parses English messages.
 */
export const PROGRAM_ENVIRONMENT = { PATH: '/usr/local/bin:/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' };

/** Runs a program and waits for its end, as `user` if given. Never throws. */
export function run(file: string, args: readonly string[], user?: ServerUser): Promise<Outcome> {
  // `user` may not be able to enter the current directory; "/" is always accessible.
  const options = { cwd: '/', env: PROGRAM_ENVIRONMENT, ...user };
  return new Promise(resolve => {
    const finished = (error: NodeJS.ErrnoException | undefined, output: string) => {
      const code = error === undefined ? 0 : error.code;
      resolve({ code: typeof code === 'number' ? code : undefined, output, error });
    };
    try {
      const done = (error: unknown, out: string, err: string) =>
        finished((error as NodeJS.ErrnoException | null) ?? undefined, out + err);
      execFile(file, args, options, done);
    } catch (error) {
      // spawn throws synchronously if the kernel rejects the change of user.
      finished(error as NodeJS.ErrnoException, '');
    }
  });
}

/**
 * Returns an opaque start time of a process, which no later process with the same id shares; undefined if no such
 * process runs. Linux: boot id and start tick, so that the pair is unique across reboots. Elsewhere: `ps`, to the second.
 */
export async function processStart(pid: number): Promise<string | undefined> {
  if (process.platform !== 'linux') {
    const { code, output } = await run('/bin/ps', ['-o', 'lstart=', '-p', String(pid)]);
    return code === 0 ? output.trim() || undefined : undefined;
  }
  try {
    const line = await readFile(`/proc/${pid}/stat`, 'utf8');
    // Field 2, the command in parentheses, may itself hold spaces and parentheses: proc_pid_stat(5).
    const fields = line.slice(line.lastIndexOf(')') + 2).split(' ');
    if (fields[0] === 'Z' || fields[0] === 'X') return undefined;
    return `${(await readFile('/proc/sys/kernel/random/boot_id', 'utf8')).trim()}/${fields[19]}`;
  } catch {
    return undefined;
  }
}

/** Whether `pid` is a PostgreSQL server with the data directory `data`: the id, read from a file, may belong to another program. */
export async function isServerOf(pid: number, data: string): Promise<boolean> {
  try {
    const directory = await realpath(data);
    if (process.platform !== 'linux') {
      const { output } = await run('/bin/ps', ['-o', 'command=', '-p', String(pid)]);
      return output.includes('postgres') && output.includes(` -D ${directory} `);
    }
    // A server works inside its data directory, as the owner of that directory.
    const [program, working, owner, server] = await Promise.all([
      readlink(`/proc/${pid}/exe`),
      readlink(`/proc/${pid}/cwd`),
      stat(directory),
      stat(`/proc/${pid}`),
    ]);
    return /^postgres( \(deleted\))?$/.test(basename(program)) && working === directory && server.uid === owner.uid;
  } catch {
    return false;
  }
}

/**
 * Stops a PostgreSQL server and waits for its end: SIGINT (roll back, checkpoint, exit), after 5 s SIGQUIT (exit at once,
 * recover at the next start), after another 5 s SIGKILL.
 */
export async function stopServer(pid: number): Promise<void> {
  const start = await processStart(pid);
  if (start === undefined) return;
  for (const signal of ['SIGINT', 'SIGQUIT', 'SIGKILL'] as const) {
    try {
      process.kill(pid, signal);
    } catch {
      return; // It has ended in the meantime.
    }
    for (let waitedMs = 0; waitedMs < 5 * SECOND; waitedMs += 20) {
      await sleep(20);
      if ((await processStart(pid)) !== start) return;
    }
  }
}
