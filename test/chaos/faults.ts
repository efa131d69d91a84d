import { spawn } from 'node:child_process';
import { availableParallelism, setPriority } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { kill } from '../support/processes.ts';
import type { Rig } from './rig.ts';

/** Two clocks are twice as far apart. */
const CLOCK_OFFSET_MS = 150_000;

/** How long the parts of a fault last. */
export interface Pace {
  /** The sends are spread over this time. */
  readonly durationMs: number;
  /** A stopped worker, or an absent database, comes back after this time. */
  readonly absenceMs: number;
  /** Between two faults. */
  readonly pauseMs: number;
}

export interface Fault {
  readonly about: string;
  /** Runs until the signal aborts, and leaves everything running again. */
  inflict(rig: Rig, pace: Pace, signal: AbortSignal): Promise<void>;
}

export const FAULTS: Readonly<Record<string, Fault>> = {
  stopped: {
    about: 'workers are stopped (SIGSTOP) at random, longer than their leases, and continued',
    async inflict(rig, { absenceMs, pauseMs }, signal) {
      while (await paused(pauseMs * (0.5 + Math.random()), signal)) {
        const worker = rig.workers[Math.floor(Math.random() * rig.workers.length)];
        worker?.kill('SIGSTOP');
        await paused(absenceMs, signal);
        worker?.kill('SIGCONT');
      }
    },
  },
  killed: {
    about: 'workers are killed (SIGKILL) at random and started again',
    async inflict(rig, { pauseMs }, signal) {
      while (await paused(pauseMs * (0.5 + Math.random()), signal)) {
        await rig.replaceWorker(Math.floor(Math.random() * rig.workers.length));
      }
    },
  },
  database: {
    about: 'the database goes away and comes back',
    async inflict(rig, { absenceMs, pauseMs }, signal) {
      while (await paused(pauseMs, signal)) {
        await rig.stopDatabase();
        await paused(absenceMs, signal);
        await rig.startDatabase();
      }
    },
  },
  starved: {
    about: 'one worker gets almost no CPU: lowest priority, with busy loops on every core',
    async inflict(rig, _pace, signal) {
      const victim = rig.workers[0]?.pid;
      if (victim !== undefined) setPriority(victim, 19);
      const loops = Array.from({ length: 2 * availableParallelism() }, () =>
        spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' }),
      );
      try {
        await paused(2 ** 31 - 1, signal);
      } finally {
        await Promise.all(loops.map(kill));
        // Raising it again takes root; without, the worker stays slow and merely needs longer.
        if (victim !== undefined && process.getuid?.() === 0) setPriority(victim, 0);
      }
    },
  },
  clocks: {
    about: 'the clocks of two workers are 5 minutes apart, and leases move between them',
    async inflict(rig, { absenceMs, pauseMs }, signal) {
      await Promise.all([rig.replaceWorker(0, -CLOCK_OFFSET_MS), rig.replaceWorker(1, CLOCK_OFFSET_MS)]);
      // Without take-overs the clocks would never meet over one lane.
      for (let turn = 0; await paused(pauseMs, signal); turn += 1) {
        const worker = rig.workers[turn % rig.workers.length];
        worker?.kill('SIGSTOP');
        await paused(absenceMs / 2, signal);
        worker?.kill('SIGCONT');
      }
    },
  },
};

/** @returns false when the signal ended the wait */
async function paused(ms: number, signal: AbortSignal): Promise<boolean> {
  if (signal.aborted) return false;
  return sleep(ms, true, { signal }).catch(() => false);
}
