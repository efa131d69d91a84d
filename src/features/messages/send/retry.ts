import { CodedError, conflict, invalid, notFound } from '../../../core/errors.ts';
import { requireFeature } from '../../../core/plan-features.ts';
import { callerOf, tenantOf } from '../../../core/principal.ts';
import { violationOf } from '../../../database/violations.ts';
import type { OutgoingType } from '../../../network/network.ts';
import { DAY, SECOND } from '../../../platform/clock.ts';
import type { Context } from '../../../schema/context.ts';
import { resentTemplate } from '../../templates/sending/resend-template.ts';
import { fileOf, MIN_REMAINING_MS } from '../content/media/file.ts';
import { fileStateLoader, findMessage } from '../loaders.ts';
import type { MessageRow } from '../message.ts';
import type { Content } from './content.ts';
import { DISCONNECTED_IN_DOUBT, NOT_SENT_IN_TIME } from './outcome.ts';
import { findRetry } from './retries.sql.ts';
import { send } from './send.ts';

/** Plan feature that a content type requires; null: none. */
const FEATURES = {
  text: null,
  image: 'media',
  video: 'media',
  audio: 'media',
  document: 'media',
  sticker: 'media',
  template: 'templates',
  interactive: 'interactive',
  location: null,
  contacts: null,
} as const satisfies Record<Exclude<OutgoingType, 'reaction'>, string | null>;

/** The network's error for its limit of marketing messages to one person, after which it asks to wait a day. */
const PER_USER_LIMIT = 131_049;
/** The network's error for a free-form message outside the service window. */
const REENGAGEMENT = 131_047;
/** Titles of our own failures after which the network may still turn out to have accepted the message. */
const UNKNOWN_OUTCOMES: ReadonlySet<string> = new Set([NOT_SENT_IN_TIME, DISCONNECTED_IN_DOUBT]);

export interface RetryOptions {
  readonly echoId?: string | null | undefined;
  readonly idempotencyKey?: string | null | undefined;
}

/**
 * Sends a failed or cancelled message again, as a new one with the same content, to the same person from the same channel. A message is
 * sent again once: a repetition returns the first retry, also of a concurrent request.
 *
 * @throws NOT_FOUND, CONFLICT if it may have arrived or may still arrive, RATE_LIMIT_EXCEEDED with retry_after if it is too early,
 *   VALIDATION_ERROR on id, OUTSIDE_SERVICE_WINDOW, and the errors of `send`
 */
export async function retryMessage(
  context: Context,
  id: string,
  { echoId, idempotencyKey }: RetryOptions,
): Promise<MessageRow> {
  const tenantId = tenantOf(context);
  const message = await findMessage(context.db.write, tenantId, id);
  if (!message) throw notFound('Message');
  const repeated = await findRetry(context.db.write, tenantId, id);
  if (repeated) return repeated;
  checkState(message);
  checkTime(message, context.clock.now(), context.config.network.reconcileMs);
  const input = {
    to: { contactId: message.contact_id },
    channelId: message.channel_id,
    replyToWamid: message.reply_to_wamid,
    retryOf: id,
    echoId,
    idempotencyKey,
    // It would be refused again.
    ...(message.error?.code === REENGAGEMENT && { requireOpenWindow: true }),
  };
  try {
    return await send(context, 'retryMessage', input, await contentOf(context, message));
  } catch (error) {
    if (violationOf(error)?.constraint !== 'message_retries_pkey') throw error;
    const first = await findRetry(context.db.write, tenantId, id);
    if (!first) throw error;
    return first;
  }
}

/** Failures are final here, but the network may tell later that it delivered the message all the same. */
function checkState(message: MessageRow): void {
  const { status, error, wamid } = message;
  if (message.direction === 'inbound') throw invalid({ id: ['Only a message of the business can be sent again.'] });
  const current = { ...message, __typename: 'Message' };
  if (status !== 'failed' && status !== 'cancelled')
    throw conflict(`The message is ${status}: only one that failed or was cancelled can be sent again.`, { current });
  const hasArrived = message.delivered_at !== null || message.read_at !== null;
  const isAccepted = error?.code === 0 && wamid !== null;
  if (hasArrived || isAccepted)
    throw conflict('The network accepted the message after it had counted as failed.', { current });
}

/** @throws RATE_LIMIT_EXCEEDED */
function checkTime({ error, failed_at, updated_at }: MessageRow, nowMs: number, reconcileMs: number): void {
  const waitMs =
    error?.code === PER_USER_LIMIT ? DAY : error?.code === 0 && UNKNOWN_OUTCOMES.has(error.title) ? reconcileMs : 0;
  const restMs = Date.parse(failed_at ?? updated_at) + waitMs - nowMs;
  if (waitMs === 0 || restMs <= 0) return;
  throw new CodedError(
    'RATE_LIMIT_EXCEEDED',
    error?.code === PER_USER_LIMIT
      ? 'The network limits marketing messages to this person. Try again later.'
      : 'The network may still have accepted the message. Try again later.',
    { details: { retry_after: Math.ceil(restMs / SECOND) } },
  );
}

async function contentOf(context: Context, message: MessageRow): Promise<Content> {
  const { type, body, content } = message;
  if (!Object.hasOwn(FEATURES, type)) throw invalid({ id: [`A message of the type ${type} cannot be sent again.`] });
  const feature = FEATURES[type as keyof typeof FEATURES];
  if (feature) requireFeature(callerOf(context).tenant, feature);
  await checkFile(context, message);
  const same: Content = {
    type: type as OutgoingType,
    freeForm: true,
    texts: {},
    compose: () => ({ body, content }),
  };
  return type === 'template' ? { ...same, ...(await resentTemplate(context, message)) } : same;
}

/** The network keeps an upload for 30 days. */
async function checkFile(context: Context, message: MessageRow): Promise<void> {
  const networkId = fileOf(message)?.networkId;
  if (!networkId) return;
  const livesForMs = (await fileStateLoader(context).load(`${message.id} ${networkId}`))?.lives_for_ms;
  if (livesForMs != null && livesForMs < MIN_REMAINING_MS)
    throw invalid({ id: ['Its file has expired: upload it again.'] });
}
