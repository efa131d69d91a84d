import type { Context, Resources } from '../../context.ts';
import { CodedError, type ErrorCode } from '../../errors.ts';
import { append, type NewEvent } from '../../events.ts';
import { SECOND } from '../../platform/clock.ts';
import type { Drain, Lane } from '../../platform/jobs.ts';
import { findMessage } from '../messages/find.ts';
import { actFor } from '../tenants/act.ts';
import { publicBot } from './bot.ts';
import { decideBatch, LEASE_MS } from './decide-batch.ts';
import { dropAll } from './inbox-store.ts';
import { BOTS } from './lane.ts';
import { Patterns } from './pattern.ts';
import { claimReplies, type Outcome, type PendingReply, refuseAll, settleReplies } from './replies-store.ts';
import { sendReply } from './send-reply.ts';
import { type BotOutcome, noteOutcomes } from './store.ts';

/** Contacts answered at once for one tenant: each send takes a connection of the pool for its statement. */
const AT_ONCE = 6;
/** Answers claimed at once, of those that were left. */
const BATCH = 100;
const LINGER_MS = 2 * SECOND;
/** So long a lane may run before others get their turn. */
const TURN_MS = 30 * SECOND;
/** Before looking again for contacts that others were changing. */
const LOCKED_MS = SECOND / 20;
/** Pause before the second attempt; twice as long before each further one. */
const RETRY_MS = 2 * SECOND;

/** Refusals that pass: a channel is resumed, a database comes back. All others are for good. */
const PASSING: ReadonlySet<ErrorCode> = new Set(['SERVICE_UNAVAILABLE', 'MESSAGING_NOT_CONFIGURED']);

/** Answers what waits for a tenant's bots, until nothing does. */
export function answerWaiting(resources: Resources): Drain {
  const patterns = new Patterns();
  return async lane => {
    const until = resources.clock.now() + TURN_MS;
    while (!lane.signal.aborted) {
      if (resources.clock.now() > until) {
        // Others wait for a place: go to the end of the queue.
        resources.jobs.wake(BOTS, lane.key);
        return;
      }
      if (!(await step(resources, lane, patterns)) && !(await lane.linger(LINGER_MS))) return;
    }
  };
}

const iso = (ms: number): string => new Date(ms).toISOString();

const NO_BOTS = { code: 'FEATURE_NOT_AVAILABLE', message: 'The tenant may have no bots any more.' };

/** @returns whether there was anything to do */
async function step(resources: Resources, lane: Lane, patterns: Patterns): Promise<boolean> {
  const tenantId = Number(lane.key);
  // One context for all answers of a batch: without idempotency keys nothing in it belongs to one of them.
  const context = await actFor(resources, tenantId, 'bots', ['messages:send']);
  if (!context?.principal?.tenant.features.has('bots')) {
    await dropAll(resources.db.write, tenantId);
    await refuseAll(resources.db.write, tenantId, NO_BOTS, iso(resources.clock.now()));
    return false;
  }
  const decided = await decideBatch(context, patterns);
  const now = resources.clock.now();
  const left = await claimReplies(resources.db.write, tenantId, BATCH, iso(now), iso(now + LEASE_MS));
  const replies = [...left, ...decided.replies];
  if (replies.length > 0) await settle(context, tenantId, await sendAll(context, replies));
  else if (decided.found > 0 && decided.taken === 0) await lane.wait(LOCKED_MS);
  return decided.found > 0 || replies.length > 0;
}

/** Sends answers, to some contacts at once, to each in order. Never rejects. */
async function sendAll(context: Context, replies: readonly PendingReply[]): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  const queues = Map.groupBy(replies, reply => reply.contact_id).values();
  // They share the one iterator: whoever is free takes the next contact.
  const work = async (): Promise<void> => {
    for (const queue of queues) for (const reply of queue) outcomes.push(await attempt(context, reply));
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return outcomes;
}

async function attempt(context: Context, reply: PendingReply): Promise<Outcome> {
  const { db, clock, log } = context;
  const now = clock.now();
  const giveUp = Date.parse(reply.give_up_at);
  try {
    // Whoever tried it before may have died after the message was accepted.
    if (reply.attempts > 1) {
      const tenantId = context.principal?.tenant.id ?? 0;
      if (await findMessage(db.write, tenantId, reply.reply_message_id)) return { reply };
      if (now > giveUp) return refused(reply, 'TOO_OLD', 'Nobody was there to send it in time.');
      if (!reply.is_enabled) return refused(reply, 'DISABLED', 'The bot was switched off or deleted meanwhile.');
    }
    await sendReply(context, reply);
    return { reply };
  } catch (error) {
    if (error instanceof CodedError && !PASSING.has(error.code)) return refused(reply, error.code, error.message);
    const again = now + RETRY_MS * 2 ** (reply.attempts - 1);
    const isLast = again > giveUp;
    log.warn({ err: error, botId: reply.bot_id, messageId: reply.message_id, isLast }, 'a bot could not answer');
    if (!isLast) return { reply, again: iso(again) };
    return error instanceof CodedError
      ? refused(reply, error.code, error.message)
      : refused(reply, 'SERVICE_UNAVAILABLE', 'It could not be sent in time.');
  }
}

const refused = (reply: PendingReply, code: string, message: string): Outcome => ({
  reply,
  refusal: { code, message },
});

/** Writes what came of the attempts, and tells of the answers in the same transaction: each once, whoever else tried. */
async function settle(context: Context, tenantId: number, outcomes: readonly Outcome[]): Promise<void> {
  const nowIso = iso(context.clock.now());
  const keyOf = (row: { readonly message_id: string; readonly bot_id: number }): string =>
    `${row.message_id} ${row.bot_id}`;
  await context.db.transaction(async trx => {
    const settled = new Set((await settleReplies(trx, tenantId, outcomes, nowIso)).map(keyOf));
    const mine = outcomes.filter(({ reply, again }) => !again && settled.has(keyOf(reply)));
    if (mine.length === 0) return;
    await noteOutcomes(trx, tenantId, byBot(mine, nowIso), nowIso);
    await append(
      trx,
      tenantId,
      mine.filter(({ refusal }) => !refusal).map(({ reply }) => toldOf(reply)),
    );
  });
  context.signals.send('events');
}

/** What has come of each bot's answers; of several refusals the last. */
function byBot(outcomes: readonly Outcome[], nowIso: string): BotOutcome[] {
  return [...Map.groupBy(outcomes, ({ reply }) => reply.bot_id)].map(([id, of]) => {
    const refusal = of.findLast(outcome => outcome.refusal)?.refusal;
    return {
      id,
      count: of.filter(outcome => !outcome.refusal).length,
      refusal: refusal ? { ...refusal, refused_at: nowIso } : null,
    };
  });
}

const toldOf = ({ bot, rule, contact_id, message_id, reply_message_id }: PendingReply): NewEvent => ({
  type: 'bot.replied',
  payload: { bot: publicBot(bot), rule, contact_id, message_id, reply_message_id },
});
