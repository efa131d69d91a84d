import { readdir, readFile } from 'node:fs/promises';
import type pg from 'pg';

/** Ticks of /proc in a second: a constant of Linux's interface (USER_HZ), whatever the kernel itself counts in. */
const TICKS_PER_SECOND = 100;

interface Process {
  readonly parent: number;
  readonly own: number;
  /** Of children that have ended. */
  readonly reaped: number;
}

/**
 * Microseconds of CPU that all processes of the server have used since it started, those that have ended included.
 * @returns undefined where the server is not on this machine, or the machine is no Linux
 */
export async function postgresCpu(pool: pg.Pool): Promise<number | undefined> {
  const { rows } = await pool.query<{ pid: number }>('select pg_backend_pid() as pid');
  const backend = await read(rows[0]?.pid ?? 0);
  const comm = await readFile(`/proc/${rows[0]?.pid}/comm`, 'utf8').catch(() => '');
  if (!backend || !comm.startsWith('postgres')) return undefined;
  const postmaster = await read(backend.parent);
  if (!postmaster) return undefined;
  const pids = (await readdir('/proc')).filter(name => /^\d+$/.test(name)).map(Number);
  const children = (await Promise.all(pids.map(read))).filter(child => child?.parent === backend.parent);
  const ticks = postmaster.own + postmaster.reaped + children.reduce((sum, child) => sum + (child?.own ?? 0), 0);
  return (ticks * 1_000_000) / TICKS_PER_SECOND;
}

/** proc(5): the name may hold spaces, so fields are counted behind its closing parenthesis. */
async function read(pid: number): Promise<Process | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined);
  if (stat === undefined) return undefined;
  const fields = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number);
  const at = (index: number): number => fields[index] ?? 0;
  return { parent: at(1), own: at(11) + at(12), reaped: at(13) + at(14) };
}
