import { CodedError } from '../../../core/errors.ts';
import { tenantOf } from '../../../core/principal.ts';
import { QueueOverload } from '../../../platform/keyed-semaphore.ts';
import type { Context } from '../../../schema/context.ts';
import { laneOf, OUTBOX } from '../dispatch/lane.ts';
import { type MessageRow, rowOfEvent } from '../message.ts';
import type { Composed, Content } from './content.ts';
import { checkSend, type DecidedSend, decide } from './decide.ts';
import { readManySendFacts, type SendFacts } from './facts.sql.ts';
import { outcomeOf } from './outcome.ts';
import { type PreparedSend, prepareSend, type SendInput } from './request.ts';
import { tooManyWaiting, type Written, writeAlone, writeTogether } from './write.ts';

/**
 * Unbatched attempts, each repeated because a concurrent request created or deleted the contact between read and write. Each failure
 * is the success of another request, so only a contact that is created and deleted repeatedly needs many.
 */
const MAX_ATTEMPTS_ALONE = 10;

/**
 * Accepts a message: when this resolves, the message is durable and will be sent. Takes two database round trips: one read, one write.
 * Sends of a tenant that arrive together share both; one that fails, or would wait for a lock, is then accepted by itself.
 *
 * @throws VALIDATION_ERROR, NOT_FOUND (contact or channel), MESSAGING_NOT_CONFIGURED, CONTACT_OPTED_OUT, OUTSIDE_SERVICE_WINDOW,
 *   FEATURE_LIMIT_EXCEEDED, IDEMPOTENCY_MISMATCH; MESSAGE_SEND_FAILED if it waited and the network refused
 */
export const send = (context: Context, operation: string, input: SendInput, content: Content): Promise<MessageRow> =>
  sendPrepared(context, prepareSend(context, { operation, input, content }), 'together');

/** @param first whether the first attempt shares a statement with other sends, or uses its own */
export async function sendPrepared(
  context: Context,
  prepared: PreparedSend,
  first: 'together' | 'alone',
): Promise<MessageRow> {
  let mode = first;
  let attemptsAlone = 0;
  while (attemptsAlone < MAX_ATTEMPTS_ALONE) {
    const decision = await decide(context, prepared, await readSendFacts(context, prepared));
    if ('repeated' in decision) return decision.repeated;
    // A shared attempt waits for no lock, and is not counted.
    if (mode === 'alone') attemptsAlone += 1;
    const write = mode === 'together' ? writeShared : writeAlone;
    const written = await awaitOutcome(context, decision.send, write);
    if (typeof written === 'object') return written;
    endReplay(context);
    // `later`: another attempt may share a statement, because the send that this one had to follow is committed now.
    if (written === 'left_out') mode = 'alone';
  }
  throw new CodedError('SERVICE_UNAVAILABLE', 'The contact is being changed by other requests. Try again.');
}

/** Writes a send, announces it, and waits for the network if the caller does. @throws as `outcomeOf` */
async function awaitOutcome(context: Context, decided: DecidedSend, write: typeof writeShared): Promise<Written> {
  const { id } = decided.message;
  // Before the write, so that an early outcome is not missed.
  const accepted =
    decided.prepared.input.waitForAcceptance && decided.message.scheduledAt === null && id !== null
      ? context.bus.awaitOutcome(tenantOf(context), id, context.config.network.acceptanceTimeoutMs)
      : undefined;
  try {
    const written = await write(context, decided);
    if (typeof written !== 'object') return written;
    announce(context, decided);
    const row = acceptedRow(decided, written);
    if (!accepted) return row;
    const outcome = await accepted.message;
    return outcomeOf(outcome ? rowOfEvent(outcome) : row, row);
  } finally {
    accepted?.cancel();
  }
}

/** Sends to new numbers wait for the tenant's counters, which others must not wait for. */
async function writeShared(context: Context, decided: DecidedSend): Promise<Written> {
  const kind = 'contactId' in decided.to ? 'known' : 'new';
  try {
    return await context.sendBatches.writes.run(`${tenantOf(context)} ${kind}`, decided, sends =>
      writeTogether(context, sends),
    );
  } catch (error) {
    throw error instanceof QueueOverload ? tooManyWaiting() : error;
  }
}

/** Reads the facts that decide about a message. */
export async function readSendFacts(context: Context, { query }: Pick<PreparedSend, 'query'>): Promise<SendFacts> {
  const tenantId = tenantOf(context);
  try {
    return await context.sendBatches.reads.run(String(tenantId), query, queries =>
      readManySendFacts(context.db.read, tenantId, queries),
    );
  } catch (error) {
    throw error instanceof QueueOverload ? tooManyWaiting() : error;
  }
}

/** The written message, with what was decided about its contact. */
export const acceptedRow = ({ to, phone }: DecidedSend, row: MessageRow): MessageRow => ({
  ...row,
  phone,
  // The statement creates the contact together with the message.
  contact_created: 'fields' in to,
});

/** Announces a committed message: wakes its lane and the readers of the log, and tells the request its stored idempotency key. */
export function announce(context: Context, { prepared, message }: DecidedSend): void {
  if (prepared.storedKey !== undefined) context.replay.key = prepared.storedKey;
  context.lanes.wake(OUTBOX, laneOf(tenantOf(context), message.channelId));
  context.signals.send('events');
}

/** Ends the record of the running request; the next attempt opens it again (`markAnswering`). */
function endReplay({ replay }: Context): void {
  replay.end?.();
  delete replay.end;
}

/** A dry run of `send`, without the plan's counters. Writes nothing and appends no event. */
export async function preview(
  context: Context,
  input: Omit<SendInput, 'idempotencyKey'>,
  content: Content,
): Promise<Composed> {
  const prepared = prepareSend(context, { operation: 'preview', input, content });
  return (await checkSend(context, prepared, await readSendFacts(context, prepared))).composed;
}
