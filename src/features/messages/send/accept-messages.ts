import { CodedError } from '../../../core/errors.ts';
import { tenantOf } from '../../../core/principal.ts';
import type { Db } from '../../../database/database.ts';
import type { Context } from '../../../schema/context.ts';
import type { MessageRow } from '../message.ts';
import { type DecidedSend, decide } from './decide.ts';
import { readManySendFacts } from './facts.sql.ts';
import { PreconditionFailed, type PreparedSend, prepareSend, type SendRequest } from './request.ts';
import { acceptedRow, announce, sendPrepared } from './send.ts';
import { isAlsoRefused, type PlanFeature, writeTogether } from './write.ts';

export type { SendRequest } from './request.ts';

/** Most messages that one call accepts. */
export const MAX_ACCEPTED = 500;

/** Outcome of a request: its message, or the error. */
export type AcceptOutcome = { readonly message: MessageRow } | { readonly error: unknown };

/**
 * Accepts up to 500 messages of the caller's tenant, in one statement as far as possible: contacts are found or created, and each
 * message is durable when this resolves. A request that fails does not affect others; one that would wait for a lock is accepted by
 * itself. The first of several requests that exceed the plan are accepted.
 *
 * If this rejects, or the process dies, some may be accepted: repeat the call with idempotency keys, or with ids.
 * @throws PreconditionFailed
 * @returns an outcome for each request, in their order; an `error` is what `send` would throw
 */
export async function acceptMessages(context: Context, requests: readonly SendRequest[]): Promise<AcceptOutcome[]> {
  const outcomes: AcceptOutcome[] = [];
  let pending = prepareAll(context, requests, outcomes);
  const leftOut: DecidedRequest[] = [];
  while (pending.length > 0) {
    const decided = await decideAll(context, context.db.read, pending, outcomes);
    const written = await writeTogether(
      context,
      decided.map(({ send }) => send),
    );
    pending = [];
    for (const [place, one] of decided.entries()) {
      const what = written[place];
      if (what === 'later') pending.push(one);
      else if (typeof what === 'object') {
        announce(one.context, one.send);
        outcomes[one.index] = { message: acceptedRow(one.send, what) };
      } else leftOut.push(one);
    }
  }
  await acceptEach(leftOut, outcomes);
  return outcomes;
}

/** @returns the valid requests; the others have their outcome */
export function prepareAll(
  context: Context,
  requests: readonly SendRequest[],
  outcomes: AcceptOutcome[],
): PendingRequest[] {
  return requests.flatMap((request, index): PendingRequest[] => {
    // Each request is checked for repetition separately.
    const own = { ...context, replay: { wantsAnswer: false, replayed: false } };
    try {
      return [{ index, context: own, prepared: prepareSend(own, request) }];
    } catch (error) {
      outcomes[index] = { error };
      return [];
    }
  });
}

/** A valid request whose outcome is not known yet. */
export interface PendingRequest {
  /** Its place in the call. */
  readonly index: number;
  readonly context: Context;
  readonly prepared: PreparedSend;
}

/** A request whose message may be written. */
export interface DecidedRequest extends PendingRequest {
  readonly send: DecidedSend;
}

/** Reads and decides all pending requests. @returns those to write */
export async function decideAll(
  context: Context,
  db: Db,
  pending: readonly PendingRequest[],
  outcomes: AcceptOutcome[],
): Promise<DecidedRequest[]> {
  const queries = pending.map(({ prepared }) => prepared.query);
  const found = await readManySendFacts(db, tenantOf(context), queries);
  const decided = await Promise.all(
    pending.map(async (one, place): Promise<DecidedRequest | undefined> => {
      const row = found[place];
      if (!row) throw new Error('The batch was read without one of its sends.');
      try {
        const decision = await decide(one.context, one.prepared, row);
        if ('send' in decision) return { ...one, send: decision.send };
        outcomes[one.index] = { message: decision.repeated };
      } catch (error) {
        outcomes[one.index] = { error };
      }
      return undefined;
    }),
  );
  return decided.filter(one => one !== undefined);
}

/** Accepts, in order, the sends left out of their batch. A refusal by the plan applies to the following sends too. */
async function acceptEach(leftOut: readonly DecidedRequest[], outcomes: AcceptOutcome[]): Promise<void> {
  const refusals = new Map<PlanFeature, CodedError>();
  for (const { index, context, prepared, send } of leftOut.toSorted((a, b) => a.index - b.index)) {
    const refusal = [...refusals].find(([feature]) => isAlsoRefused(send, feature))?.[1];
    if (refusal) {
      outcomes[index] = { error: refusal };
      continue;
    }
    try {
      outcomes[index] = { message: await sendPrepared(context, prepared, 'alone') };
    } catch (error) {
      if (error instanceof PreconditionFailed) throw error;
      outcomes[index] = { error };
      const feature = planFeatureOf(error);
      if (feature) refusals.set(feature, error as CodedError);
    }
  }
}

function planFeatureOf(error: unknown): PlanFeature | undefined {
  if (!(error instanceof CodedError) || error.code !== 'FEATURE_LIMIT_EXCEEDED') return undefined;
  const { feature } = error.details as { readonly feature?: unknown };
  return feature === 'messages' || feature === 'conversations' || feature === 'contacts' ? feature : undefined;
}
