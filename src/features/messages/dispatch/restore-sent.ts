import { readTimeline } from '../../../database/timeline.sql.ts';
import type { Resources } from '../../../schema/context.ts';
import { OUTBOX } from './lane.ts';
import { OutcomeWriter } from './outcome-writer.ts';
import { findUnsettled, markInDoubt, type Unsettled } from './restore-sent.sql.ts';
import type { Acceptance, BegunCall, SentMemory } from './sent-memory.ts';

/** Messages of one statement. */
const BATCH = 5_000;
/** Messages named in a line of the log. */
const NAMED = 100;

function* batchesOf<T>(items: readonly T[]): Generator<readonly T[]> {
  for (let start = 0; start < items.length; start += BATCH) yield items.slice(start, start + BATCH);
}

/**
 * Writes what this process knows of its last calls where the database does not have it: acceptances of messages that are in the outbox
 * are settled, and those whose calls were not answered wait for their statuses. Repeatable.
 * @param timeline of the server that has to get it; undefined: any
 * @param stopping ends the wait for a database that is away
 */
export async function restoreSent(
  resources: Pick<Resources, 'db' | 'signals' | 'clock' | 'log'>,
  memory: SentMemory,
  timeline: number | undefined,
  stopping: AbortSignal,
): Promise<void> {
  const { db, log } = resources;
  if (timeline !== undefined && (await readTimeline(db.write)) !== timeline)
    throw new Error('The connections for writes do not lead to the server that was promoted.');
  const acceptances = new Map(memory.acceptances().map(one => [one.status.messageId, one]));
  const unsettled: Unsettled[] = [];
  for (const batch of batchesOf([...acceptances.values()]))
    unsettled.push(
      ...(await findUnsettled(
        db.write,
        batch.map(({ status }) => status),
      )),
    );
  const waiting = acceptancesOf(unsettled.filter(row => row.is_waiting));
  const writer = new OutcomeWriter(resources);
  await Promise.all(
    waiting.map(({ type, status }) => {
      const lane = {
        ...{ queue: OUTBOX, tenantId: status.tenantId, key: '', epoch: 0 },
        get isStopping() {
          return stopping.aborted;
        },
      };
      return writer.write({ kind: 'settled', lane, type, status });
    }),
  );
  let inDoubt = 0;
  const calls: readonly BegunCall[] = memory.inDoubt();
  for (const batch of batchesOf(calls)) inDoubt += await markInDoubt(db.write, batch);
  if (waiting.length + inDoubt > 0)
    log.warn(
      { settled: waiting.length, inDoubt },
      'the database had lost results of sends, which this process knew and wrote again',
    );
  const missing = acceptancesOf(unsettled.filter(row => !row.is_waiting));
  if (missing.length > 0)
    log.warn(
      {
        missing: missing.length,
        messages: missing
          .slice(0, NAMED)
          .map(({ status: { tenantId, messageId, wamid } }) => ({ tenantId, messageId, wamid })),
      },
      'the network has accepted messages that are not in the database: it has lost them, or they were deleted since',
    );

  function acceptancesOf(rows: readonly Unsettled[]): Acceptance[] {
    return rows.flatMap(row => acceptances.get(row.message_id) ?? []);
  }
}
