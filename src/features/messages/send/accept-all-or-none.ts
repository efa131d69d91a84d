import { CodedError, conflict, invalid } from '../../../core/errors.ts';
import { tenantOf } from '../../../core/principal.ts';
import type { Db } from '../../../database/database.ts';
import { lockTenantUsage } from '../../../database/tenant-lock.ts';
import type { Context } from '../../../schema/context.ts';
import { EMAIL_TAKEN } from '../../contacts/contact.ts';
import { contactRefusal } from '../../contacts/create.ts';
import { findErased, restoreOptOuts } from '../../contacts/erasure/erased-people.ts';
import { isEmailTaken } from '../../contacts/is-email-taken.ts';
import { monthOf } from '../../tenancy/usage/usage.ts';
import type { MessageRow } from '../message.ts';
import { insertOutbound } from './accept.sql.ts';
import {
  type AcceptOutcome,
  type DecidedRequest,
  decideAll,
  type PendingRequest,
  prepareAll,
} from './accept-messages.ts';
import { expectsLast, requireUnanswered } from './expected-last.ts';
import type { SendRequest } from './request.ts';
import { acceptedRow, announce } from './send.ts';
import { laterOnes } from './write.ts';

export interface AcceptedAllOrNone {
  /** For each request, in their order. If one has an error, the caller has to undo the transaction. */
  readonly outcomes: readonly AcceptOutcome[];
  /** To call after the commit. */
  readonly announce: () => void;
}

/**
 * Accepts all messages in the caller's transaction, or none. Waits for locks. Lock order as for every send.
 * @throws a check violation of messages_within_plan or conversations_within_plan
 */
export async function acceptAllOrNone(
  context: Context,
  trx: Db,
  requests: readonly SendRequest[],
): Promise<AcceptedAllOrNone> {
  const outcomes: AcceptOutcome[] = [];
  const written: DecidedRequest[] = [];
  let pending: readonly PendingRequest[] = prepareAll(context, requests, outcomes);
  while (pending.length > 0) {
    const decided = await decideAll(context, trx, pending, outcomes);
    if (outcomes.some(outcome => outcome && 'error' in outcome)) break;
    const isLater = laterOnes(decided.map(({ send }) => send));
    const chosen = decided.filter((_, place) => !isLater[place]);
    if (!(await checkAllUnanswered(context, trx, chosen, outcomes))) break;
    const rows = await insert(context, trx, chosen);
    for (const [place, one] of chosen.entries()) {
      const row = rows.get(place);
      if (!row) {
        outcomes[one.index] = { error: await leftOut(trx, tenantOf(context), one) };
        continue;
      }
      outcomes[one.index] = { message: acceptedRow(one.send, row) };
      written.push(one);
    }
    pending = decided.filter((_, place) => isLater[place]);
  }
  return {
    outcomes,
    announce: () => {
      for (const one of written) announce(one.context, one.send);
    },
  };
}

/** Why a message was left out. Another of the batch may have created a contact with the e-mail address, which only `trx` sees. */
async function leftOut(trx: Db, tenantId: number, { send: { to } }: DecidedRequest): Promise<CodedError> {
  const refusal = await contactRefusal(trx, tenantId);
  if (refusal) return refusal;
  if ('fields' in to && (await isEmailTaken(trx, tenantId, to.fields)))
    return invalid({ 'contact.email': [EMAIL_TAKEN] }, 'TAKEN');
  return conflict('The contact was changed at the same time. Try again.');
}

/**
 * Checks the sends that expect a last message, and gives those that are refused their outcome. Lock order as for every send:
 * tenant_usage if contacts are created, contacts by id. @returns false if a send is refused
 */
async function checkAllUnanswered(
  context: Context,
  trx: Db,
  sends: readonly DecidedRequest[],
  outcomes: AcceptOutcome[],
): Promise<boolean> {
  const expecting = sends.filter(({ send }) => expectsLast(send));
  if (expecting.length === 0) return true;
  if (sends.some(({ send }) => 'fields' in send.to)) await lockTenantUsage(trx, tenantOf(context));
  const contactOf = ({ send: { to } }: DecidedRequest): number => ('contactId' in to ? to.contactId : 0);
  for (const one of expecting.toSorted((a, b) => contactOf(a) - contactOf(b))) {
    try {
      await requireUnanswered(one.context, trx, one.send);
    } catch (error) {
      if (!(error instanceof CodedError)) throw error;
      outcomes[one.index] = { error };
    }
  }
  return expecting.every(({ index }) => outcomes[index] === undefined);
}

async function insert(context: Context, trx: Db, sends: readonly DecidedRequest[]): Promise<Map<number, MessageRow>> {
  const tenantId = tenantOf(context);
  const month = monthOf(context.clock.now());
  const rows = await insertOutbound(
    trx,
    tenantId,
    month,
    sends.map(({ send }) => send),
    'wait',
  );
  const restored = sends.flatMap(({ send }) => send.restoredKey ?? []);
  if (restored.length > 0)
    await restoreOptOuts(trx, tenantId, await findErased(trx, context.secrets, tenantId, restored));
  return rows;
}
