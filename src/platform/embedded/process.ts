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

/** How a program ended: `code` is undefined when it could not be run at all, `output` is stdout and stderr as written. */
export interface Outcome {
  readonly code: number | undefined;
  readonly output: string;
  readonly error: NodeJS.ErrnoException | undefined;
}

/**
 * What every program of ours sees, instead of the caller's environment: PGDATA, LC_ALL or LD_PRELOAD set for something
 * else must not change a cluster, and messages must be the English ones that `faults.ts` reads.
 */
export const PROGRAM_ENVIRONMENT = { PATH: '/usr/local/bin:/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' };

/** Runs a program to its end, as `user` when given. Never throws: the outcome says what happened. */
export function run(file: string, args: readonly string[], user?: ServerUser): Promise<Outcome> {
  // The working directory may be closed to `user`; "/" never is.
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
      // spawn throws, instead of reporting, when the kernel refuses the change of user.
      finished(error as NodeJS.ErrnoException, '');
    }
  });
}

/**
 * When a process started, as an opaque string that no later process with the same id shares; undefined when no such
 * process runs. Linux: boot id and start tick, so that a reboot cannot bring the pair back. Elsewhere: `ps`, to the second.
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

/** Whether `pid` is a PostgreSQL server whose data directory is `data`: a process id read from a file proves nothing. */
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
 * Stops a PostgreSQL server and waits until it is gone: SIGINT (roll back, checkpoint, end), after 5 s SIGQUIT (end now,
 * recover at the next start), after 5 s more SIGKILL.
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
