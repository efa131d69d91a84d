import { CodedError, FieldErrorList } from '../../../core/errors.ts';
import { optionalInputId } from '../../../core/global-ids.ts';
import { tenantOf } from '../../../core/principal.ts';
import type { Context } from '../../../schema/context.ts';
import { oneOf } from '../../../schema/one-of.ts';
import type { MessageRow } from '../message.ts';
import { IS_OTHER_NUMBER } from './addressee.ts';
import { NOBODY, withAllFaults } from './all-faults.ts';
import { contentFieldsOf, contentPath } from './content-fields.ts';
import { checkExpectedLast } from './expected-last.ts';
import { contentRequest, resolveRecipient, type SendMessageInput } from './message-parts.ts';
import { NOT_IN_CONVERSATION, resolveQuote } from './quote.ts';
import type { SendRequest } from './request.ts';
import { send } from './send.ts';

/**
 * Sends any content to any kind of recipient.
 * @throws like `send`, with fields below the input: `to.phone`, `content.template.body.0`
 */
export async function sendMessage(context: Context, input: SendMessageInput): Promise<MessageRow> {
  try {
    const request = await messageRequest(context, input);
    return await send(context, request.operation, request.input, request.content);
  } catch (error) {
    throw await refusalOf(context, error, input);
  }
}

/** Why a message is refused, with all faults of its input, as paths of `sendMessage`. */
export async function refusalOf(context: Context, error: unknown, input: SendMessageInput): Promise<unknown> {
  const contentOf = async (channelId: number | undefined) => {
    const given = oneOf(contentFieldsOf(input.content), 'content');
    return (await contentRequest(context, given, { channelId, to: NOBODY })).content;
  };
  return withPaths(await withAllFaults(context, error, input, contentOf), input);
}

/** The request of a message. @throws why it cannot be sent to anybody, with fields of the request */
export async function messageRequest(context: Context, input: SendMessageInput): Promise<SendRequest> {
  const tenantId = tenantOf(context);
  const to = oneOf(input.to, 'to');
  const content = oneOf(contentFieldsOf(input.content), 'content');
  const { contact, requireOpenWindow, waitForAcceptance, idempotencyKey, echoId, scheduledAt } = input;
  const named = {
    contactId: optionalInputId(tenantId, 'Contact', input.expectedContactId ?? undefined, 'expectedContactId'),
    channelId: optionalInputId(tenantId, 'Channel', input.channelId ?? undefined, 'channelId'),
  };
  const found = await resolveRecipient(context, to, named.channelId);
  const quoted = input.replyToId == null ? {} : await resolveQuote(context, input.replyToId, { ...named, ...found });
  const last = input.expectedLastMessageId;
  const expected = last == null ? {} : await checkExpectedLast(context, last, { ...named, ...found.to, ...found });
  const options = {
    contact,
    requireOpenWindow,
    waitForAcceptance,
    idempotencyKey,
    echoId,
    scheduledAt,
    ...named,
    ...found,
    ...quoted,
    ...expected,
  };
  return contentRequest(context, content, options);
}

/** Faults of these fields belong to the delivery; those of all others to the content. */
const DELIVERY: ReadonlySet<string> = new Set([
  'to',
  'contact',
  'contactId',
  'expectedContactId',
  'channelId',
  'echoId',
  'replyToId',
  'expectedLastMessageId',
  'scheduledAt',
  'idempotencyKey',
]);

/** The error with the paths of the input of `sendMessage`. */
function withPaths(error: unknown, input: Pick<SendMessageInput, 'to' | 'content' | 'replyToId'>): unknown {
  if (!(error instanceof CodedError)) return error;
  const [recipient, content] = [fieldOf(input.to), fieldOf(input.content)];
  if (error.field === 'to' && recipient !== undefined)
    return new CodedError(error.code, error.message, { details: error.details, field: `to.${recipient}` });
  if (error.faults.length === 0) return error;
  if (recipient === undefined || content === undefined) return error;
  const errors = new FieldErrorList();
  // A quoted message names its contact too.
  const isQuoteOfOther = input.replyToId != null && error.faults.some(({ field }) => field === 'contactId');
  if (isQuoteOfOther && !error.faults.some(({ field }) => field === 'replyToId'))
    errors.add('replyToId', NOT_IN_CONVERSATION);
  for (const { field, message, code } of error.faults) {
    if (isQuoteOfOther && (field === 'contactId' || message === IS_OTHER_NUMBER)) continue;
    const [first = '', ...others] = field.split('.');
    const path = DELIVERY.has(first)
      ? [first === 'to' ? `to.${recipient}` : first === 'contactId' ? 'expectedContactId' : first, ...others].join('.')
      : contentPath(content, field);
    errors.add(path, message, code);
  }
  return errors.toError(isQuoteOfOther ? NOT_IN_CONVERSATION : error.message);
}

/** The one field that is given; undefined for none or several, whose error has its path already. */
function fieldOf<Fields extends object>(fields: Fields): (keyof Fields & string) | undefined {
  const [first, second] = Object.entries(fields).filter(([, value]) => value != null);
  return second ? undefined : (first?.[0] as (keyof Fields & string) | undefined);
}
