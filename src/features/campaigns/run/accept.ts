import type { Author } from '../../../core/author.ts';
import { CodedError } from '../../../core/errors.ts';
import type { Db } from '../../../database/database.ts';
import type { Context } from '../../../schema/context.ts';
import { PRIORITY } from '../../messages/dispatch/lane.ts';
import { acceptMessages } from '../../messages/send/accept-messages.ts';
import type { Content } from '../../messages/send/content.ts';
import { PreconditionFailed } from '../../messages/send/request.ts';
import { contentFor } from './content.ts';

/** A message to make, with an id that is stored already: a repetition is refused by the database. */
export interface Claim {
  readonly contactId: number;
  readonly messageId: string;
  /** Of the recipient's row in the list. */
  readonly values: Readonly<Record<string, string>> | null;
}

/** Outcome of one recipient; no error: accepted. */
export interface ClaimOutcome {
  readonly claim: Claim;
  readonly error: unknown;
}

interface Sending {
  readonly content: Content;
  readonly channelId: number;
  readonly author: Author;
  /** Runs first in each transaction that accepts some of them. */
  readonly precondition: (trx: Db) => Promise<void>;
}

/**
 * Accepts the messages of a batch, at most 500. If this rejects, some of them may be accepted.
 * @throws what the precondition rejects with
 */
export async function acceptClaims(
  context: Context,
  claims: readonly Claim[],
  { content, channelId, author, precondition }: Sending,
): Promise<ClaimOutcome[]> {
  const requests = claims.map(claim => ({
    operation: 'campaign',
    input: {
      to: { contactId: claim.contactId },
      // Another recipient may be the same person by now: it is chosen anew, which finds that out.
      isUnmerged: true,
      id: claim.messageId,
      channelId,
      author,
      priority: PRIORITY.campaign,
      removesEmptyFields: true,
    },
    content: contentFor(content, claim.values),
    precondition,
  }));
  const outcomes = await acceptMessages(context, requests).catch(error => {
    throw error instanceof PreconditionFailed ? error.cause : error;
  });
  return claims.map((claim, index) => {
    const outcome = outcomes[index];
    return { claim, error: outcome && 'error' in outcome ? outcome.error : undefined };
  });
}

/** Whether the message will never be accepted, so that its recipient is skipped. */
export const isFinal = (error: unknown): error is CodedError =>
  error instanceof CodedError &&
  ['CONTACT_OPTED_OUT', 'NOT_FOUND', 'VALIDATION_ERROR', 'OUTSIDE_SERVICE_WINDOW'].includes(error.code);

/** Whether no further message would be accepted either. */
export const stopsAll = (error: unknown): error is CodedError =>
  error instanceof CodedError &&
  ['FEATURE_LIMIT_EXCEEDED', 'FEATURE_NOT_AVAILABLE', 'MESSAGING_NOT_CONFIGURED'].includes(error.code);
