import { CodedError, conflict, invalid } from '../../../core/errors.ts';
import { tenantOf } from '../../../core/principal.ts';
import { isUnavailable } from '../../../database/unavailable.ts';
import { sha256 } from '../../../platform/crypto.ts';
import type { Context } from '../../../schema/context.ts';
import { type UserErrorShape, userErrorsOf } from '../../../schema/user-errors.ts';
import { type Outcome, ROLLED_BACK, refusalAt } from '../../contacts/batch.ts';
import { type Keyed, once, onceAfter } from '../../tenancy/idempotency/once.ts';
import { monthlyLimitOf, monthlyRefusal, monthOf } from '../../tenancy/usage/usage.ts';
import type { MessageRow } from '../message.ts';
import { getMessages } from '../messages.sql.ts';
import { acceptAllOrNone } from './accept-all-or-none.ts';
import { type AcceptOutcome, acceptMessages, decideAll, MAX_ACCEPTED, prepareAll } from './accept-messages.ts';
import type { SendMessageInput } from './message-parts.ts';
import type { SendRequest } from './request.ts';
import { messageRequest, refusalOf } from './send-message.ts';

export interface SendMessagesInput {
  readonly messages: readonly SendMessageInput[];
  readonly onError?: 'continue' | 'roll_back' | null | undefined;
  readonly isDryRun?: boolean | null | undefined;
  readonly idempotencyKey?: string | null | undefined;
}

/** Outcome of one message. */
export interface MessageResult {
  /** Its place in the input, from 0. */
  readonly index: number;
  readonly outcome: Extract<Outcome, 'created' | 'failed' | 'rolled_back'>;
  readonly message: MessageRow | null;
  readonly userErrors: readonly UserErrorShape[];
}

export interface MessageBatch {
  /** In the order of the input. */
  readonly results: readonly MessageResult[];
  /** Whether an error undid the whole batch. */
  readonly isRolledBack: boolean;
}

/**
 * Thrown where an idempotency key is not to be stored, because nothing was written, or a repetition may accept what is missing; carries
 * the result.
 */
class Unwritten extends Error {
  readonly batch: MessageBatch;

  constructor(batch: MessageBatch) {
    super('The batch was not written as a whole.');
    this.batch = batch;
  }
}

/**
 * Sends up to 500 messages. Each has an outcome; an error of one does not affect others, unless the batch is to be rolled back.
 *
 * Idempotent as a whole: a repetition returns the first result. Without rolling back, messages are accepted under keys of their own,
 * which are made from the batch's: if the process dies in between, or some could not be accepted at the moment (CONFLICT), the repetition
 * accepts what is missing, and nothing twice.
 *
 * @throws VALIDATION_ERROR for an empty or too long list; FEATURE_LIMIT_EXCEEDED for a batch to be rolled back that exceeds the month
 */
export async function sendMessages(context: Context, input: SendMessagesInput): Promise<MessageBatch> {
  const { messages, isDryRun, onError, idempotencyKey } = input;
  if (messages.length === 0 || messages.length > MAX_ACCEPTED)
    throw invalid(
      { messages: [`Takes 1 to ${MAX_ACCEPTED} messages.`] },
      messages.length === 0 ? 'REQUIRED' : 'TOO_MANY',
    );
  if (isDryRun) return resultOf(input, await dryRun(context, messages), true);
  const keyed: Keyed = { operation: 'sendMessages', key: idempotencyKey, input: { messages, onError } };
  try {
    return await (onError === 'roll_back' ? sendAll(context, input, keyed) : sendEach(context, input, keyed));
  } catch (error) {
    if (error instanceof Unwritten) return error.batch;
    throw error;
  }
}

async function sendEach(context: Context, input: SendMessagesInput, keyed: Keyed): Promise<MessageBatch> {
  let isFinal = true;
  const accept = async (): Promise<MessageBatch> => {
    const key = input.idempotencyKey ? sha256(input.idempotencyKey).toString('hex') : undefined;
    const named = input.messages.map((message, index) => ({
      ...message,
      idempotencyKey: message.idempotencyKey ?? (key && `${key}:${index}`),
    }));
    const outcomes = await acceptAsRequests(context, named, requests => acceptMessages(context, requests));
    isFinal = !outcomes.some(isTransient);
    return resultOf(input, withOwnErrors(context, outcomes));
  };
  return onceAfter<MessageBatch, MessageBatch>(context, keyed, accept, {
    run: async (_trx, batch) => {
      if (!isFinal || batch.results.every(({ message }) => message === null)) throw new Unwritten(batch);
      return batch;
    },
    store,
    rebuild: stored => repeated(context, stored as Stored),
  });
}

/** Whether a message was refused for a reason that its sender cannot remove; a repetition may be accepted. */
const isTransient = (outcome: AcceptOutcome): boolean =>
  'error' in outcome && outcome.error !== undefined && userErrorsOf(outcome.error) === undefined;

/**
 * Replaces errors that would fail the whole request by a CONFLICT of their message, if other messages were accepted: a client that gets
 * no outcomes would send those twice.
 */
function withOwnErrors(context: Context, outcomes: readonly AcceptOutcome[]): readonly AcceptOutcome[] {
  if (!outcomes.some(outcome => 'message' in outcome)) return outcomes;
  return outcomes.map(outcome => {
    if (!isTransient(outcome) || !('error' in outcome)) return outcome;
    const { error } = outcome;
    if (error instanceof CodedError) return { error: conflict(error.message) };
    if (!isUnavailable(error)) context.log.error({ err: error, requestId: context.requestId }, 'a message failed');
    return { error: conflict('The message could not be accepted at the moment. Try again.') };
  });
}

async function sendAll(context: Context, input: SendMessagesInput, keyed: Keyed): Promise<MessageBatch> {
  let announce = (): void => undefined;
  try {
    const batch = await once<MessageBatch>(context, keyed, {
      run: async trx => {
        const outcomes = await acceptAsRequests(context, input.messages, async requests => {
          const accepted = await acceptAllOrNone(context, trx, requests);
          announce = accepted.announce;
          return accepted.outcomes;
        });
        const result = resultOf(input, outcomes);
        if (result.isRolledBack) throw new Unwritten(result);
        return result;
      },
      store,
      rebuild: stored => repeated(context, stored as Stored),
    });
    announce();
    return batch;
  } catch (error) {
    const feature = monthlyLimitOf(error);
    if (!feature) throw error;
    throw await monthlyRefusal(context.db.write, tenantOf(context), monthOf(context.clock.now()), feature);
  }
}

/**
 * Makes a request of each message, and passes those without a fault to `accept`.
 * @returns an outcome for each message, with all faults of a refused one
 */
async function acceptAsRequests(
  context: Context,
  messages: readonly SendMessageInput[],
  accept: (requests: readonly SendRequest[]) => Promise<readonly AcceptOutcome[]>,
): Promise<AcceptOutcome[]> {
  const made = await Promise.all(
    messages.map(message =>
      messageRequest(context, { ...message, waitForAcceptance: false }).then(
        request => ({ request }),
        (error: unknown) => ({ error }),
      ),
    ),
  );
  const requests = made.flatMap(one => ('request' in one ? [one.request] : []));
  const accepted = (requests.length > 0 ? await accept(requests) : []).values();
  const outcomes = made.map(
    (one): AcceptOutcome => ('error' in one ? one : (accepted.next().value ?? NOTHING_WRITTEN)),
  );
  return Promise.all(
    outcomes.map(async (outcome, index) =>
      'error' in outcome && outcome.error !== undefined
        ? { error: await refusalOf(context, outcome.error, messages[index] as SendMessageInput) }
        : outcome,
    ),
  );
}

/** Outcome of a message that was neither accepted nor refused: in a dry run, or because another one was refused. */
const NOTHING_WRITTEN: AcceptOutcome = { error: undefined };

/** Dry run of the batch, without limits of the plan. */
const dryRun = (context: Context, messages: readonly SendMessageInput[]): Promise<AcceptOutcome[]> =>
  acceptAsRequests(context, messages, async requests => {
    const outcomes: AcceptOutcome[] = [];
    const pending = prepareAll(context, requests, outcomes);
    await decideAll(context, context.db.read, pending, outcomes);
    return requests.map((_, index) => outcomes[index] ?? NOTHING_WRITTEN);
  });

/** The outcomes as results: `error: undefined` stands for what was not written, and has no fault of its own. */
function resultOf({ onError }: SendMessagesInput, outcomes: readonly AcceptOutcome[], isDryRun = false): MessageBatch {
  const results = outcomes.map((outcome, index): MessageResult => {
    if ('message' in outcome) return { index, outcome: 'created', message: outcome.message, userErrors: [] };
    if (outcome.error === undefined) return { index, outcome: 'created', message: null, userErrors: [] };
    const userErrors = refusalAt(outcome.error, ['messages', String(index)]);
    return { index, outcome: 'failed', message: null, userErrors };
  });
  const isRolledBack = onError === 'roll_back' && results.some(({ outcome }) => outcome === 'failed');
  return {
    results: isRolledBack ? results.map(undo) : results.map(one => (isDryRun ? { ...one, message: null } : one)),
    isRolledBack,
  };
}

const undo = (result: MessageResult): MessageResult =>
  result.outcome === 'failed'
    ? result
    : {
        ...result,
        outcome: 'rolled_back',
        message: null,
        userErrors: [{ ...ROLLED_BACK, path: ['messages', String(result.index)] }],
      };

/** A batch as an idempotency key stores it. */
interface Stored {
  readonly results: readonly (Omit<MessageResult, 'message'> & {
    readonly id: string | null;
    readonly contactCreated: boolean;
  })[];
}

const store = ({ results }: MessageBatch): Stored => ({
  results: results.map(({ message, ...result }) => ({
    ...result,
    id: message?.id ?? null,
    contactCreated: message?.contact_created ?? false,
  })),
});

async function repeated(context: Context, { results }: Stored): Promise<MessageBatch> {
  const ids = results.flatMap(({ id }) => id ?? []);
  const rows = new Map((await getMessages(context.db.write, tenantOf(context), ids)).map(row => [row.id, row]));
  return {
    results: results.map(({ id, contactCreated, ...result }) => {
      const row = id === null ? undefined : rows.get(id);
      return { ...result, message: row ? { ...row, contact_created: contactCreated } : null };
    }),
    isRolledBack: false,
  };
}
