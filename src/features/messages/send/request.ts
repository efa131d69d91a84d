import type { Author } from '../../../core/author.ts';
import { invalid } from '../../../core/errors.ts';
import { decodeGlobalId } from '../../../core/global-ids.ts';
import { callerOf, tenantOf } from '../../../core/principal.ts';
import type { Db } from '../../../database/database.ts';
import { isLonger } from '../../../platform/text.ts';
import type { Context } from '../../../schema/context.ts';
import { type ContactInput, PHONE_ERROR, phoneOf } from '../../contacts/contact.ts';
import { identityDigest } from '../../contacts/erasure/subject.ts';
import { authorOf } from '../../tenancy/audit/author.ts';
import { type Keyed, keyOf } from '../../tenancy/idempotency/once.ts';
import type { Priority } from '../dispatch/lane.ts';
import type { ScheduledAt } from '../scheduling/scheduled-at.ts';
import { type Content, checkTexts } from './content.ts';
import type { SendQuery } from './facts.sql.ts';
import type { Recipient } from './recipient.sql.ts';

/** Input common to all kinds of content. */
export interface SendInput {
  /** A phone number in international format, the global id of a contact, or a recipient that was read already. */
  readonly to: string | Recipient;
  /** If given, `to` must belong to this contact. */
  readonly contactId?: number | null | undefined;
  readonly channelId?: number | null | undefined;
  /** Used if this send creates the contact. */
  readonly contact?: Omit<ContactInput, 'phone'> | null | undefined;
  readonly requireOpenWindow?: boolean | null | undefined;
  readonly waitForAcceptance?: boolean | null | undefined;
  readonly idempotencyKey?: string | null | undefined;
  /** The network's id of the message that this one answers. */
  readonly replyToWamid?: string | null | undefined;
  /** The client's key of the message, returned with it. */
  readonly echoId?: string | null | undefined;
  /** A message after which nobody else may have answered. */
  readonly expectedLastMessageId?: string | undefined;
  /** Author. Default: the caller. Not for callers of the API. */
  readonly author?: Author | undefined;
  /** The failed message that this one sends again. Not for callers of the API. */
  readonly retryOf?: string | undefined;
  readonly scheduledAt?: ScheduledAt | null | undefined;
  /** Whether merge fields without a value and without a fallback are removed. Default: they are an error. Not for callers of the API. */
  readonly removesEmptyFields?: boolean;
  /** Default: by content and service window. Not for callers of the API. */
  readonly priority?: Priority | undefined;
  /** Whether a bot sends it. Every other free-form message takes the conversation from the bot. Not for callers of the API. */
  readonly isFromBot?: boolean;
  /** Whether the contact in `to` must not have been merged since it was read. Default: the survivor gets it. Not for callers of the API. */
  readonly isUnmerged?: boolean;
  /** The message's id (a new UUIDv7), if the sender must know it beforehand. A duplicate violates the primary key. */
  readonly id?: string | undefined;
}

/** Longest client's key of a message, in characters. */
export const MAX_ECHO_ID = 255;

/** A message to accept. */
export interface SendRequest {
  /** Scopes the idempotency key. */
  readonly operation: string;
  /** With an idempotency key: also what the content is made of, so that another content is another request. */
  readonly input: SendInput;
  readonly content: Content;
  /**
   * Runs first in the transaction that accepts the message; what it locks stays locked until that ends. If it rejects, nothing is accepted.
   * Only for `acceptMessages`, whose requests all have the same one. Not for callers of the API.
   */
  readonly precondition?: ((trx: Db) => Promise<void>) | undefined;
}

/** Why the precondition of a batch rejected. */
export class PreconditionFailed extends Error {
  override readonly name = 'PreconditionFailed';
  constructor(cause: unknown) {
    super('The precondition of a send does not hold.', { cause });
  }
}

/** A request whose own fields are valid. */
export interface PreparedSend extends SendRequest {
  /** What identifies the request under its idempotency key. */
  readonly idempotency: Keyed;
  /** The idempotency key as stored; undefined without one. */
  readonly storedKey: string | undefined;
  readonly recipient: Recipient;
  readonly author: Author;
  /** Query that the decision needs. */
  readonly query: SendQuery;
}

/** Checks what needs no database. @throws VALIDATION_ERROR */
export function prepareSend(context: Context, request: SendRequest): PreparedSend {
  const { operation, input, content } = request;
  // Neither is part of the idempotent request: a retry may wait where the first attempt did not, and a bot may be renamed.
  const { waitForAcceptance: _waits, author = authorOf(context), ...sent } = input;
  const idempotency = { operation, key: input.idempotencyKey, input: sent };
  const storedKey = keyOf(idempotency);
  const recipient = parseRecipient(tenantOf(context), input.to);
  checkTexts(content.texts, content.mergeValues);
  checkEchoId(input.echoId);
  const query = {
    ...sendQuery(context, recipient, { channelId: input.channelId ?? content.channelId }),
    key: storedKey ?? null,
    category: content.category ?? null,
  };
  return { ...request, idempotency, storedKey, recipient, author, query };
}

/** Query about a recipient, without the key and the category of a message. */
export const sendQuery = (
  context: Context,
  recipient: Recipient,
  { channelId }: Pick<SendInput, 'channelId'>,
): SendQuery => ({
  channelId: channelId ?? null,
  recipient,
  key: null,
  category: null,
  digest: digestOf(context, recipient),
});

/** @throws VALIDATION_ERROR */
export function checkEchoId(echoId: string | null | undefined): void {
  if (echoId != null && isLonger(echoId, MAX_ECHO_ID))
    throw invalid({ echoId: [`May have at most ${MAX_ECHO_ID} characters.`] }, 'TOO_LONG');
}

/** Null for a contact known by id: it already exists, so no opt-out from before an erasure applies. */
const digestOf = ({ secrets, principal }: Context, recipient: Recipient): Buffer | null =>
  'phoneKey' in recipient ? identityDigest(secrets, callerOf({ principal }).tenant.id, recipient.phoneKey) : null;

function parseRecipient(tenantId: number, to: string | Recipient): Recipient {
  if (typeof to !== 'string') return to;
  const decoded = decodeGlobalId(to);
  if (decoded?.typename === 'Contact' && decoded.tenantId === tenantId && /^\d{1,15}$/.test(decoded.id))
    return { contactId: Number(decoded.id) };
  const phone = phoneOf(to);
  // The message does not mention ids, because REST has a separate field for them.
  if (!phone) throw invalid({ to: [PHONE_ERROR] });
  return { phoneKey: phone.key, phone: phone.e164 };
}
