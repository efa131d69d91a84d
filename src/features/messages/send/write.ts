import { CodedError } from '../../../core/errors.ts';
import { callerOf } from '../../../core/principal.ts';
import type { Db } from '../../../database/database.ts';
import { isUnavailable } from '../../../database/unavailable.ts';
import { isDeadlock, violationOf } from '../../../database/violations.ts';
import { QueueOverload } from '../../../platform/keyed-semaphore.ts';
import type { Context } from '../../../schema/context.ts';
import { contactRefusal } from '../../contacts/create.ts';
import { findErased, restoreOptOuts } from '../../contacts/erasure/erased-people.ts';
import { forgetExpiredKey } from '../../tenancy/idempotency/keys.ts';
import {
  type MonthlyFeature,
  messagesLeft,
  monthlyLimitOf,
  monthlyRefusal,
  monthOf,
} from '../../tenancy/usage/usage.ts';
import type { MessageRow } from '../message.ts';
import { insertOutbound } from './accept.sql.ts';
import type { DecidedSend } from './decide.ts';
import { expectsLast, requireUnanswered } from './expected-last.ts';
import { PreconditionFailed } from './request.ts';

/**
 * Result of a write: the message; `later` if it has to follow another send of its batch; `left_out` if nothing was written for it, or
 * if it follows such a send to the same recipient: it has to be retried by itself, in order.
 */
export type Written = MessageRow | 'later' | 'left_out';

/**
 * Accepts decided sends of one tenant in one statement. One that fails, or would wait for a lock, is left out, and those to other
 * recipients are not affected.
 */
export async function writeTogether(context: Context, sends: readonly DecidedSend[]): Promise<Written[]> {
  const isLater = laterOnes(sends);
  // Recipients of sends that are written alone, after this statement: what follows to them waits too, to keep the order.
  const held = new Set<string>();
  const chosen: number[] = [];
  const written = sends.map((send, index): Written => {
    if (held.has(recipientKey(send))) return 'left_out';
    if (isLater[index]) return 'later';
    if (mayShare(send)) chosen.push(index);
    else held.add(recipientKey(send));
    return 'left_out';
  });
  if (chosen.length === 0) return written;
  const rows = await insertFitting(
    context,
    chosen.map(index => sends[index] as DecidedSend),
  );
  for (const [place, row] of rows) written[chosen[place] as number] = row;
  // The same for sends that the statement left out: those that would follow in another statement.
  return written.map((what, index) => {
    const recipient = recipientKey(sends[index] as DecidedSend);
    if (what === 'left_out') held.add(recipient);
    return what === 'later' && held.has(recipient) ? 'left_out' : what;
  });
}

/** Whether one statement can accept the send: others need a transaction. */
const mayShare = (send: DecidedSend): boolean => send.restoredKey === undefined && !expectsLast(send);

const recipientKey = ({ to }: Pick<DecidedSend, 'to'>): string =>
  'fields' in to ? `number ${to.fields.phone_key}` : `contact ${to.contactId}`;

/** Marks sends that must follow another of the batch: the second to a new number finds its contact, the second with a key is a repetition. */
export function laterOnes(sends: readonly DecidedSend[]): boolean[] {
  const seen = new Set<string>();
  return sends.map(send => {
    const names = namesOf(send);
    const isLater = names.some(name => seen.has(name));
    for (const name of names) seen.add(name);
    return isLater;
  });
}

function namesOf({ to, message }: DecidedSend): string[] {
  const names = 'fields' in to ? [recipientKey({ to })] : [];
  return message.idempotency ? [...names, `key ${message.idempotency.storedKey}`] : names;
}

/** Runs `insert`, behind the precondition of the sends where they have one. @throws PreconditionFailed */
function runInsert<T>({ db }: Context, sends: readonly DecidedSend[], insert: (db: Db) => Promise<T>): Promise<T> {
  const precondition = sends[0]?.prepared.precondition;
  if (!precondition && sends.every(mayShare)) return insert(db.write);
  return db.transaction(async trx => {
    await precondition?.(trx).catch(error => {
      throw new PreconditionFailed(error);
    });
    return insert(trx);
  });
}

/**
 * Inserts the sends; where they exceed the monthly limit, the first that fit. Any other error returns no messages: each send is then
 * accepted alone and reports its own error.
 * @throws PreconditionFailed, or why the database is unavailable
 * @returns messages by place
 */
async function insertFitting(context: Context, sends: readonly DecidedSend[]): Promise<Map<number, MessageRow>> {
  const { id: tenantId } = callerOf(context).tenant;
  const month = monthOf(context.clock.now());
  try {
    return await runInsert(context, sends, db => insertOutbound(db, tenantId, month, sends, 'skip'));
  } catch (error) {
    if (isUnavailable(error) || error instanceof PreconditionFailed) throw error;
    if (sends.length === 1 || monthlyLimitOf(error) !== 'messages') return new Map();
    const room = (await messagesLeft(context.db.write, tenantId, month)) ?? 0;
    return room < 1 || room >= sends.length ? new Map() : insertFitting(context, sends.slice(0, room));
  }
}

/**
 * Accepts a send by itself. It waits for locks; sends that wait for the same one queue before they take a connection, because
 * otherwise forty sends to one contact hold all connections of the process.
 * @returns `left_out` if nothing was written, and another attempt may find out why
 * @throws FEATURE_LIMIT_EXCEEDED, SERVICE_UNAVAILABLE
 */
export async function writeAlone(context: Context, send: DecidedSend): Promise<Written> {
  const { id: tenantId } = callerOf(context).tenant;
  const lock = 'contactId' in send.to ? `contact ${send.to.contactId}` : 'new contacts';
  const month = monthOf(context.clock.now());
  try {
    const row = await context.sendSemaphore.run(`${tenantId} ${lock}`, () => insertOne(context, tenantId, month, send));
    return row ?? 'left_out';
  } catch (error) {
    if (error instanceof QueueOverload) throw 'contactId' in send.to ? tooManyToContact() : tooManyWaiting();
    // Rolled back, to let another transaction pass that holds this one's next lock.
    if (isDeadlock(error)) return 'left_out';
    const feature = monthlyLimitOf(error);
    if (feature) throw await monthlyRefusal(context.db.write, tenantId, month, feature);
    const storedKey = send.message.idempotency?.storedKey;
    if (violationOf(error)?.constraint !== 'idempotency_keys_pkey' || storedKey === undefined) throw error;
    // The next attempt reads the key that a concurrent request has just created.
    await forgetExpiredKey(context, storedKey);
    return 'left_out';
  }
}

const tooManyToContact = (): CodedError =>
  new CodedError('SERVICE_UNAVAILABLE', 'Too many messages to this contact are waiting to be accepted. Try again.');

/** For a full queue that all sends of the tenant share, or all those to new numbers. */
export const tooManyWaiting = (): CodedError =>
  new CodedError('SERVICE_UNAVAILABLE', 'Too many messages of this account are waiting to be accepted. Try again.');

async function insertOne(
  context: Context,
  tenantId: number,
  month: string,
  send: DecidedSend,
): Promise<MessageRow | undefined> {
  const { db, secrets } = context;
  const { restoredKey } = send;
  const insert = async (trx: Db): Promise<MessageRow | undefined> => {
    await requireUnanswered(context, trx, send);
    const row = (await insertOutbound(trx, tenantId, month, [send], 'wait')).get(0);
    if (row && restoredKey)
      await restoreOptOuts(trx, tenantId, await findErased(trx, secrets, tenantId, [restoredKey]));
    return row;
  };
  const row = await runInsert(context, [send], insert);
  if (row || 'contactId' in send.to) return row;
  const refusal = await contactRefusal(db.write, tenantId);
  if (refusal) throw refusal;
  return undefined;
}

export type PlanFeature = MonthlyFeature | 'contacts';

/** Whether the plan's refusal of one send applies to another. */
export function isAlsoRefused({ to }: DecidedSend, feature: PlanFeature): boolean {
  if (feature === 'messages') return true;
  return 'fields' in to || (feature === 'conversations' && to.conversationId === null);
}
