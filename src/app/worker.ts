import { requireClockNotAhead } from '../database/clock-ahead.ts';
import { unlessHeld } from '../database/outbox-hold.sql.ts';
import { ensurePartitions } from '../database/partitions.sql.ts';
import { analyzeGrown } from '../database/table-statistics.sql.ts';
import { startReaders } from '../events/readers.ts';
import { deleteOldEvents } from '../events/retention.ts';
import { BOTS, cleanBotReplies } from '../features/bots/housekeeping.ts';
import { answerWaiting } from '../features/bots/reply/answer.ts';
import { dueBotLanes } from '../features/bots/reply/replies.sql.ts';
import { cleanLists } from '../features/campaigns/housekeeping.ts';
import { runCampaigns } from '../features/campaigns/run/drain.ts';
import { CAMPAIGNS } from '../features/campaigns/run/lane.ts';
import { dueCampaignLanes } from '../features/campaigns/run/run-store.ts';
import { checkChannels } from '../features/channels/housekeeping.ts';
import { resumeErasures } from '../features/contacts/erasure/finish.ts';
import { EXPORTS } from '../features/contacts/exports/export.ts';
import { dueExportLanes } from '../features/contacts/exports/exports.sql.ts';
import { cleanExports } from '../features/contacts/exports/housekeeping.ts';
import { runExports } from '../features/contacts/exports/run.ts';
import { cleanMerges } from '../features/contacts/merging/undo.ts';
import { cleanPresence, wakeSnoozed } from '../features/conversations/housekeeping.ts';
import { CONVERSATION_JOBS } from '../features/conversations/jobs/job.ts';
import { cleanJobs, runJobs } from '../features/conversations/jobs/run.ts';
import { dueJobLanes } from '../features/conversations/jobs/store.ts';
import { cleanDocuments } from '../features/documents/housekeeping.ts';
import { cleanInbox, reprocessUnhandled } from '../features/inbox/housekeeping.ts';
import { processInbox } from '../features/inbox/process.ts';
import { dueInboxLanes, INBOX } from '../features/inbox/webhooks.sql.ts';
import { cleanDeliveries } from '../features/integrations/housekeeping.ts';
import { dueIntegrationLanes } from '../features/integrations/orders/deliveries.sql.ts';
import { INTEGRATIONS } from '../features/integrations/orders/delivery.ts';
import { processDeliveries } from '../features/integrations/orders/process.ts';
import { fetchFiles } from '../features/messages/content/media/keeping/fetch.ts';
import { dueMediaLanes } from '../features/messages/content/media/keeping/queue.sql.ts';
import { MEDIA } from '../features/messages/content/media/keeping/queue.ts';
import { deleteUnusedContents, expireFiles } from '../features/messages/content/media/keeping/sweep.ts';
import { inDoubtMs } from '../features/messages/dispatch/dispatch.ts';
import { drain } from '../features/messages/dispatch/drain.ts';
import { OUTBOX } from '../features/messages/dispatch/lane.ts';
import { dueOutboxLanes } from '../features/messages/dispatch/outbox.sql.ts';
import { restoreSent } from '../features/messages/dispatch/restore-sent.ts';
import { SentMemory } from '../features/messages/dispatch/sent-memory.ts';
import {
  applyMessageRetention,
  deleteEmptyStatistics,
  deleteOldMedia,
  moveStatistics,
  repairLostTurns,
  restartStatusWait,
} from '../features/messages/housekeeping.ts';
import { releaseScheduled } from '../features/messages/scheduling/release.ts';
import { cleanOtps } from '../features/otp/housekeeping.ts';
import { TEMPLATE_SYNCS } from '../features/templates/sync/request-sync.ts';
import { dueSyncLanes } from '../features/templates/sync/runs.sql.ts';
import { syncDue } from '../features/templates/sync/sync-due.ts';
import { deleteOldKeys } from '../features/tenancy/idempotency/keys.ts';
import { cleanSessions } from '../features/tenancy/sessions/housekeeping.ts';
import { deliver } from '../features/webhooks/delivery/drain.ts';
import { SHARDS, WEBHOOKS } from '../features/webhooks/delivery/lane.ts';
import { dueShardLanes } from '../features/webhooks/delivery/queue.sql.ts';
import { cleanDeliveryLog } from '../features/webhooks/housekeeping.ts';
import type { Queue } from '../lanes/lane.ts';
import type { Lanes } from '../lanes/runtime.ts';
import { deleteOldLanes } from '../lanes/store/lanes.sql.ts';
import { HOUR, MINUTE, SECOND } from '../platform/clock.ts';
import type { Resources } from '../schema/context.ts';
import type { QueueName } from './lanes/backlogs.ts';
import { createReaders } from './log-readers.ts';

/** A queue whose depth operators and accounts can see. */
type ShownQueue = Queue & { readonly name: QueueName };

/** The queues that a worker drains. */
function queuesOf(resources: Resources, lanes: Lanes, sent: SentMemory): ShownQueue[] {
  const slots = resources.config.lanes.concurrency;
  const perTenant = { isPerTenant: true, slots };
  return [
    {
      name: OUTBOX,
      isPerTenant: true,
      slots: resources.config.lanes.channels,
      drain: drain(resources, lanes, sent),
      // Empty while the outbox of a restored database waits for its operator.
      dueLanes: unlessHeld(dueOutboxLanes(inDoubtMs(resources.config))),
    },
    { name: INBOX, ...perTenant, drain: processInbox(resources), dueLanes: dueInboxLanes },
    {
      name: INTEGRATIONS,
      ...perTenant,
      drain: lane => processDeliveries(resources, lane),
      dueLanes: dueIntegrationLanes,
    },
    {
      name: EXPORTS,
      isPerTenant: true,
      slots: 2,
      drain: lane => runExports(resources, lane),
      dueLanes: dueExportLanes,
    },
    { name: MEDIA, ...perTenant, drain: lane => fetchFiles(resources, lane), dueLanes: dueMediaLanes },
    { name: BOTS, ...perTenant, drain: answerWaiting(resources), dueLanes: dueBotLanes },
    // Empty while the outbox of a restored database waits for its operator.
    { name: CAMPAIGNS, ...perTenant, drain: runCampaigns(resources), dueLanes: unlessHeld(dueCampaignLanes) },
    {
      name: TEMPLATE_SYNCS,
      isPerTenant: true,
      slots: 2,
      drain: lane => syncDue(resources, lane),
      dueLanes: dueSyncLanes,
    },
    { name: CONVERSATION_JOBS, ...perTenant, drain: lane => runJobs(resources, lane), dueLanes: dueJobLanes },
    // A shard delivers to any number of endpoints concurrently, so there is a slot for each shard.
    { name: WEBHOOKS, isPerTenant: false, slots: SHARDS, drain: deliver(resources), dueLanes: dueShardLanes },
  ];
}

/** Tables partitioned by month. */
const PARTITIONED = [
  'messages',
  'message_states',
  'message_updates',
  'events',
  'webhook_deliveries',
  'webhook_attempts',
];

/** A chore that deletes what is old by the clock of this process. */
const byAge =
  (run: (resources: Resources) => Promise<unknown>) =>
  async (resources: Resources): Promise<void> => {
    await requireClockNotAhead(resources.db, resources.clock);
    await run(resources);
  };

/** Periodic housekeeping. Every worker runs it; each run tolerates concurrent ones. */
const CHORES: readonly {
  readonly name: string;
  readonly everyMs: number;
  readonly run: (resources: Resources) => Promise<unknown>;
}[] = [
  { name: 'partitions', everyMs: HOUR, run: ({ db }) => ensurePartitions(db.write, PARTITIONED, 3) },
  { name: 'statistics of grown tables', everyMs: 5 * SECOND, run: ({ db }) => analyzeGrown(db.write) },
  {
    name: 'old events',
    everyMs: HOUR,
    run: byAge(resources =>
      deleteOldEvents(
        resources,
        createReaders().map(({ name }) => name),
      ),
    ),
  },
  { name: 'merges of contacts that are too old to undo', everyMs: HOUR, run: byAge(cleanMerges) },
  { name: 'old webhooks of the network', everyMs: HOUR, run: byAge(cleanInbox) },
  { name: 'unhandled changes', everyMs: HOUR, run: reprocessUnhandled },
  { name: 'old webhook deliveries', everyMs: HOUR, run: byAge(cleanDeliveryLog) },
  { name: 'old payloads of shops', everyMs: HOUR, run: byAge(cleanDeliveries) },
  { name: 'idempotency keys', everyMs: 10 * MINUTE, run: deleteOldKeys },
  { name: 'bot replies', everyMs: HOUR, run: byAge(cleanBotReplies) },
  { name: 'lanes', everyMs: 6 * HOUR, run: ({ db }) => deleteOldLanes(db.write) },
  { name: 'old messages', everyMs: HOUR, run: byAge(applyMessageRetention) },
  { name: 'erasures', everyMs: MINUTE, run: resumeErasures },
  { name: 'statistics of messages', everyMs: 5 * SECOND, run: moveStatistics },
  { name: 'scheduled messages', everyMs: 2 * SECOND, run: releaseScheduled },
  { name: 'snoozed conversations', everyMs: 5 * SECOND, run: wakeSnoozed },
  { name: 'updates of conversations that are done', everyMs: HOUR, run: byAge(cleanJobs) },
  { name: 'health of numbers', everyMs: 10 * MINUTE, run: checkChannels },
  { name: 'zero counts of statistics', everyMs: 6 * HOUR, run: deleteEmptyStatistics },
  { name: 'turns of the outbox', everyMs: 10 * MINUTE, run: repairLostTurns },
  { name: 'media', everyMs: HOUR, run: deleteOldMedia },
  { name: 'expired files', everyMs: 10 * MINUTE, run: expireFiles },
  { name: 'unused lists of campaigns', everyMs: HOUR, run: byAge(cleanLists) },
  { name: 'exports', everyMs: 10 * MINUTE, run: cleanExports },
  { name: 'unused files', everyMs: MINUTE, run: deleteUnusedContents },
  { name: 'unused documents', everyMs: HOUR, run: cleanDocuments },
  { name: 'staff sessions', everyMs: HOUR, run: cleanSessions },
  { name: 'presence of staff members', everyMs: MINUTE, run: cleanPresence },
  { name: 'one-time passwords', everyMs: MINUTE, run: cleanOtps },
];

/** Poll interval of the log readers, which restarts a reader that failed. Normally the tailer wakes them. */
const READER_POLL_MS = 10 * SECOND;

/** Delay of infrequent chores after start, so that they do not compete with waiting messages. */
const CHORE_DELAY_MS = 10 * SECOND;

/** Between the first runs of two chores: together they would take every connection of the pool. */
const CHORE_SPACING_MS = 50;

/** Starts lanes, log readers and chores in this process. @returns a function that stops chores and readers; lanes stop with `lanes.stop` */
export async function startWorker(resources: Resources, lanes: Lanes): Promise<() => Promise<void>> {
  const sent = new SentMemory();
  const stopping = new AbortController();
  await restartStatusWait(resources);
  await lanes.start(queuesOf(resources, lanes, sent), async timeline => {
    await restoreSent(resources, sent, timeline, stopping.signal);
    await restartStatusWait(resources);
  });
  const readers = await startReaders(resources, createReaders());
  const stops = CHORES.map(({ name, everyMs, run }, place) =>
    every(
      resources,
      name,
      everyMs,
      () => run(resources),
      (everyMs > MINUTE ? CHORE_DELAY_MS : 0) + place * CHORE_SPACING_MS,
    ),
  );
  stops.push(every(resources, 'readers', READER_POLL_MS, async () => readers.wake()));
  return async () => {
    stopping.abort();
    for (const stop of stops) stop();
    await readers.stop();
  };
}

/**
 * Runs work after `firstMs` and then every `ms`, unless it still runs: runs that wait for the same lock would take every connection of the
 * pool. Failures are logged.
 * @returns a function that stops it
 */
function every({ log }: Resources, name: string, ms: number, work: () => Promise<unknown>, firstMs = 0): () => void {
  let isRunning = false;
  const run = (): void => {
    if (isRunning) return;
    isRunning = true;
    work()
      .catch(error => log.warn({ err: error, chore: name }, 'chore failed; it runs again at its next interval'))
      .finally(() => {
        isRunning = false;
      });
  };
  let timer = setTimeout(() => {
    timer = setInterval(run, ms);
    run();
  }, firstMs);
  // Clears both timeouts and intervals.
  return () => clearInterval(timer);
}
