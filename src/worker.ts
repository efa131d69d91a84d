import type { Resources } from './context.ts';
import { answerWaiting } from './features/bots/answer.ts';
import { cleanBotReplies } from './features/bots/clean.ts';
import { BOTS } from './features/bots/lane.ts';
import { botReader } from './features/bots/reader.ts';
import { botsToWake } from './features/bots/sweep.ts';
import { type LogReader, startReaders } from './features/events/read.ts';
import { deleteOldEvents } from './features/events/retain.ts';
import { deleteOldKeys } from './features/idempotency/clean.ts';
import { cleanInbox } from './features/inbox/clean.ts';
import { INBOX } from './features/inbox/lane.ts';
import { processInbox } from './features/inbox/process.ts';
import { inboxesToWake } from './features/inbox/sweep.ts';
import { cleanDeliveries } from './features/integrations/clean.ts';
import { INTEGRATIONS } from './features/integrations/lane.ts';
import { processDeliveries } from './features/integrations/process.ts';
import { integrationsToWake } from './features/integrations/sweep.ts';
import { deleteOldMedia } from './features/media/clean.ts';
import { drain } from './features/messages/drain.ts';
import { OUTBOX } from './features/messages/lane.ts';
import { reconcile } from './features/messages/reconcile.ts';
import { outboxesToWake } from './features/messages/sweep.ts';
import { cleanOtps } from './features/otp/clean.ts';
import { TEMPLATE_SYNCS } from './features/templates/lane.ts';
import { templateSyncsToWake } from './features/templates/sweep.ts';
import { syncDue } from './features/templates/sync-due.ts';
import { cleanDeliveryLog } from './features/webhooks/clean.ts';
import { deliver } from './features/webhooks/drain.ts';
import { SHARDS, WEBHOOKS } from './features/webhooks/lane.ts';
import { webhookReader } from './features/webhooks/reader.ts';
import { webhooksToWake } from './features/webhooks/sweep.ts';
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
  [INTEGRATIONS]: { drain: resources => lane => processDeliveries(resources, lane), sweep: integrationsToWake },
  [BOTS]: { drain: answerWaiting, sweep: botsToWake },
  [TEMPLATE_SYNCS]: { drain: resources => lane => syncDue(resources, lane), sweep: templateSyncsToWake, places: 2 },
  // A shard works on any number of endpoints at once; each has its place.
  [WEBHOOKS]: { drain: deliver, sweep: webhooksToWake, places: SHARDS },
};

/** What follows the event log for good, in all processes together once. */
const READERS: readonly LogReader[] = [botReader, webhookReader];

/** Tables that are kept in months. */
const PARTITIONED = ['messages', 'events', 'webhook_deliveries', 'webhook_attempts'];

/** Housekeeping: what is done now and then, by whichever process comes to it. */
const CHORES: readonly {
  readonly name: string;
  readonly everyMs: number;
  readonly run: (resources: Resources) => Promise<unknown>;
}[] = [
  { name: 'partitions', everyMs: 6 * HOUR, run: ({ db }) => ensurePartitions(db.write, PARTITIONED, 3) },
  {
    name: 'old events',
    everyMs: HOUR,
    run: resources =>
      deleteOldEvents(
        resources,
        READERS.map(({ name }) => name),
      ),
  },
  { name: 'old webhooks of the network', everyMs: HOUR, run: cleanInbox },
  { name: 'old webhook deliveries', everyMs: HOUR, run: cleanDeliveryLog },
  { name: 'old payloads of shops', everyMs: HOUR, run: cleanDeliveries },
  { name: 'idempotency keys', everyMs: 10 * MINUTE, run: deleteOldKeys },
  { name: 'bot replies', everyMs: HOUR, run: cleanBotReplies },
  { name: 'media', everyMs: HOUR, run: deleteOldMedia },
  { name: 'one-time passwords', everyMs: MINUTE, run: cleanOtps },
];

/** What a dead process left, and what falls due while its lane rests, is found after this at the latest: an index look-up. */
const SWEEP_MS = 5 * SECOND;

/** What has time waits until a process that starts has done what people wait for. */
const SETTLING_MS = 10 * SECOND;

export const QUEUE_NAMES = Object.keys(QUEUES);

/** Starts to drain lanes in this process. @returns a function that ends sweeps and readers; the lanes end with `jobs.stop` */
export async function startWorker(resources: Resources, jobs: Jobs): Promise<() => Promise<void>> {
  await reconcile(resources);
  for (const [queue, { drain: drainOf, places }] of Object.entries(QUEUES))
    await jobs.work(queue, places ?? resources.config.lanes.concurrency, drainOf(resources));
  const readers = await startReaders(resources, READERS);
  const ends = CHORES.map(({ name, everyMs, run }) =>
    every(resources, name, everyMs, () => run(resources), everyMs > MINUTE ? SETTLING_MS : 0),
  );
  ends.push(
    every(resources, 'sweep', SWEEP_MS, async () => {
      readers.poke();
      for (const [queue, { sweep }] of Object.entries(QUEUES))
        for (const key of await sweep(resources)) jobs.wake(queue, key);
    }),
  );
  return async () => {
    for (const end of ends) end();
    await readers.stop();
  };
}

/**
 * Runs after `firstMs` and then again and again; a failure is logged and the next round comes all the same.
 * @returns a function that ends it
 */
function every({ log }: Resources, name: string, ms: number, work: () => Promise<unknown>, firstMs = 0): () => void {
  const run = (): void => {
    work().catch(error => log.warn({ err: error, chore: name }, 'a chore failed; it is tried again at its next time'));
  };
  let timer = setTimeout(() => {
    timer = setInterval(run, ms);
    run();
  }, firstMs);
  // Of timers of either kind.
  return () => clearInterval(timer);
}
