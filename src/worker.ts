import type { Resources } from './context.ts';
import { deleteOldKeys } from './features/idempotency/clean.ts';
import { INBOX } from './features/inbox/lane.ts';
import { processInbox } from './features/inbox/process.ts';
import { inboxesToWake } from './features/inbox/sweep.ts';
import { deleteOldMedia } from './features/media/clean.ts';
import { drain } from './features/messages/drain.ts';
import { OUTBOX } from './features/messages/lane.ts';
import { reconcile } from './features/messages/reconcile.ts';
import { outboxesToWake } from './features/messages/sweep.ts';
import { cleanOtps } from './features/otp/clean.ts';
import { TEMPLATE_SYNCS } from './features/templates/lane.ts';
import { templateSyncsToWake } from './features/templates/sweep.ts';
import { syncDue } from './features/templates/sync-due.ts';
import { HOUR, MINUTE, SECOND } from './platform/clock.ts';
import type { Drain, Jobs } from './platform/jobs.ts';
import { ensurePartitions } from './platform/partitions.ts';

/** Every queue with the verb that drains its lanes, and the sweep that finds lanes whose wake-up was lost. */
const QUEUES: Readonly<
  Record<
    string,
    {
      drain: (resources: Resources) => Drain;
      sweep: (resources: Resources) => Promise<string[]>;
      /** How many lanes at a time, where that is not as the configuration says. */
      places?: number;
    }
  >
> = {
  [OUTBOX]: { drain, sweep: outboxesToWake },
  [INBOX]: { drain: resources => lane => processInbox(resources, lane), sweep: inboxesToWake },
  [TEMPLATE_SYNCS]: { drain: resources => lane => syncDue(resources, lane), sweep: templateSyncsToWake, places: 2 },
};

/** Housekeeping: what is done now and then, by whichever process comes to it. */
const CHORES: readonly {
  readonly name: string;
  readonly everyMs: number;
  readonly run: (resources: Resources) => Promise<unknown>;
}[] = [
  { name: 'partitions', everyMs: 6 * HOUR, run: ({ db }) => ensurePartitions(db.write, ['messages', 'events'], 3) },
  { name: 'idempotency keys', everyMs: 10 * MINUTE, run: deleteOldKeys },
  { name: 'media', everyMs: HOUR, run: deleteOldMedia },
  { name: 'one-time passwords', everyMs: MINUTE, run: cleanOtps },
];

/** What a dead process left, and what falls due while its lane rests, is found after this at the latest: an index look-up. */
const SWEEP_MS = 5 * SECOND;

export const QUEUE_NAMES = Object.keys(QUEUES);

/** Starts to drain lanes in this process. @returns a function that ends the sweeps; the lanes end with `jobs.stop` */
export async function startWorker(resources: Resources, jobs: Jobs): Promise<() => void> {
  await reconcile(resources);
  for (const [queue, { drain: drainOf, places }] of Object.entries(QUEUES))
    await jobs.work(queue, places ?? resources.config.lanes.concurrency, drainOf(resources));
  const timers = CHORES.map(({ name, everyMs, run }) => every(resources, name, everyMs, () => run(resources)));
  timers.push(
    every(resources, 'sweep', SWEEP_MS, async () => {
      for (const [queue, { sweep }] of Object.entries(QUEUES))
        for (const key of await sweep(resources)) jobs.wake(queue, key);
    }),
  );
  return () => {
    for (const timer of timers) clearInterval(timer);
  };
}

/** Runs at once and then again and again; a failure is logged and the next round comes all the same. */
function every({ log }: Resources, name: string, ms: number, work: () => Promise<unknown>): NodeJS.Timeout {
  const run = (): void => {
    work().catch(error => log.warn({ err: error, chore: name }, 'a chore failed; it is tried again at its next time'));
  };
  run();
  return setInterval(run, ms);
}
