import { CodedError, FieldErrorList, invalid, notFound } from '../../../core/errors.ts';
import { inputId, lookupId, optionalInputId } from '../../../core/global-ids.ts';
import { callerOf, requireScope, tenantOf } from '../../../core/principal.ts';
import type { Context } from '../../../schema/context.ts';
import { type Given, oneOf } from '../../../schema/one-of.ts';
import { PHONE_ERROR, phoneOf } from '../../contacts/contact.ts';
import { templateRequest } from '../../templates/sending/send-template.ts';
import { getCannedReplies } from '../canned-replies/store.ts';
import { cardsContent } from '../content/contact-cards.ts';
import { interactiveContent } from '../content/interactive/send-interactive.ts';
import { locationContent } from '../content/location.ts';
import { mediaContent } from '../content/media/send-media.ts';
import type { MessageRow } from '../message.ts';
import { checkTexts } from './content.ts';
import { contentFieldsOf, contentPath, mediaFields } from './content-fields.ts';
import type { ContentFields, GivenContent } from './content-schema.ts';
import { expecting } from './expected-last.ts';
import { NOT_IN_CONVERSATION, quoting } from './quote.ts';
import type { Recipient } from './recipient.sql.ts';
import type { SendInput, SendRequest } from './request.ts';
import { contactOfUserId, conversationOf } from './resolve-recipient.sql.ts';
import { send } from './send.ts';
import { textContent } from './send-text.ts';

/** A recipient as the caller names it. */
export interface RecipientFields {
  readonly phone?: string | null | undefined;
  readonly contactId?: string | null | undefined;
  readonly conversationId?: string | null | undefined;
  readonly userId?: string | null | undefined;
}

/** The input of `sendMessage`. Ids are global ids or database ids. */
export interface SendMessageInput
  extends Pick<
    SendInput,
    'contact' | 'requireOpenWindow' | 'waitForAcceptance' | 'idempotencyKey' | 'echoId' | 'scheduledAt'
  > {
  readonly to: RecipientFields;
  readonly content: GivenContent;
  readonly channelId?: string | null | undefined;
  readonly expectedContactId?: string | null | undefined;
  readonly replyToId?: string | null | undefined;
  readonly expectedLastMessageId?: string | null | undefined;
}

const OPERATION = 'sendMessage';

/**
 * Sends any content to any kind of recipient.
 * @throws like `send`, with fields below the input: `to.phone`, `content.template.body.0`
 */
export async function sendMessage(context: Context, input: SendMessageInput): Promise<MessageRow> {
  try {
    const request = await messageRequest(context, input);
    return await send(context, request.operation, request.input, request.content);
  } catch (error) {
    throw withPaths(error, input);
  }
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
  const found = await recipientOf(context, to, named.channelId).catch(async (error: unknown) => {
    throw await withContentFaults(context, error, content);
  });
  const quoted = input.replyToId == null ? {} : await quoting(context, input.replyToId, { ...named, ...found });
  const last = input.expectedLastMessageId;
  const expected = last == null ? {} : await expecting(context, last, { ...named, ...found.to, ...found });
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

/** Content whose faults are found without a statement. */
const PLAIN: ReadonlySet<string> = new Set<keyof ContentFields>(['text', 'interactive', 'location', 'contacts']);

/** The faults of a recipient, and those of the content that do not depend on it: all are told at once. */
async function withContentFaults(context: Context, error: unknown, content: Given<ContentFields>): Promise<unknown> {
  if (!(error instanceof CodedError) || error.faults.length === 0 || !PLAIN.has(content.field)) return error;
  try {
    checkTexts((await contentRequest(context, content, { to: { contactId: 0 } })).content.texts);
    return error;
  } catch (other) {
    if (!(other instanceof CodedError) || other.faults.length === 0) return error;
    const errors = new FieldErrorList();
    for (const { field, message, code } of [...error.faults, ...other.faults]) errors.add(field, message, code);
    return errors.toError();
  }
}

/** Conversations and user ids take one statement to resolve; numbers and contacts are read together with all else. */
async function recipientOf(
  context: Context,
  to: Given<RecipientFields>,
  channelId: number | undefined,
): Promise<{ readonly to: Recipient; readonly channelId?: number }> {
  const tenantId = tenantOf(context);
  switch (to.field) {
    case 'phone': {
      const phone = phoneOf(to.value);
      if (!phone) throw invalid({ to: [PHONE_ERROR] });
      return { to: { phoneKey: phone.key, phone: phone.e164 } };
    }
    case 'contactId': {
      const contactId = lookupId(tenantId, 'Contact', to.value);
      if (contactId === undefined) throw notFound('Contact');
      return { to: { contactId } };
    }
    case 'conversationId': {
      const id = inputId(tenantId, 'Conversation', to.value, 'to');
      const found = await conversationOf(context.db.read, tenantId, id);
      if (!found) throw invalid({ to: ['There is no conversation with this id.'] }, 'REFERENCE_NOT_FOUND');
      if (channelId !== undefined && channelId !== found.channel_id)
        throw invalid({ channelId: ['Is not the channel of the conversation: give one of the two fields.'] });
      return { to: { contactId: found.contact_id }, channelId: found.channel_id };
    }
    case 'userId': {
      const contactId = await contactOfUserId(context.db.read, tenantId, to.value);
      if (contactId === undefined)
        throw invalid(
          { to: ['No contact has this user id: it is known once the person has written.'] },
          'REFERENCE_NOT_FOUND',
        );
      return { to: { contactId } };
    }
  }
}

type Options = Omit<SendInput, 'to'> & { readonly to: Recipient };

async function contentRequest(context: Context, content: Given<ContentFields>, options: Options): Promise<SendRequest> {
  const request = (input: SendInput, sent: SendRequest['content']): SendRequest => ({
    operation: OPERATION,
    input,
    content: sent,
  });
  switch (content.field) {
    case 'text': {
      const text = { text: content.value.body, previewUrl: content.value.previewUrl };
      return request({ ...text, ...options } as SendInput, textContent(text));
    }
    case 'media': {
      const sent = { ...mediaFields(tenantOf(context), content.value), ...options };
      return request(sent, await mediaContent(context, sent));
    }
    case 'interactive':
      return request({ ...content.value, ...options } as SendInput, interactiveContent(context, content.value));
    case 'location':
      return request({ ...content.value, ...options } as SendInput, locationContent(content.value));
    case 'contacts':
      return request({ cards: content.value, ...options } as SendInput, cardsContent(content.value));
    case 'template':
      return templateRequest(context, { ...content.value, ...options }, { operation: OPERATION, feature: 'templates' });
    case 'cannedReplyId':
      return contentRequest(context, oneOf(await cannedContent(context, content.value), 'cannedReplyId'), options);
  }
}

/** The content of a canned reply. Sending it shows it, so the scope to read it is required. */
async function cannedContent(context: Context, id: string): Promise<ContentFields> {
  requireScope(callerOf(context), 'conversations:read');
  const key = lookupId(tenantOf(context), 'CannedReply', id);
  const [reply] = key === undefined ? [] : await getCannedReplies(context.db.read, tenantOf(context), [key]);
  if (!reply) throw invalid({ cannedReplyId: ['There is no canned reply with this id.'] }, 'REFERENCE_NOT_FOUND');
  return reply.content;
}

/** Faults of these fields belong to the delivery; those of all others to the content. */
const DELIVERY: ReadonlySet<string> = new Set([
  'to',
  'contact',
  'contactId',
  'channelId',
  'echoId',
  'replyToId',
  'expectedLastMessageId',
  'scheduledAt',
  'idempotencyKey',
]);

/** The error with the paths of the input of `sendMessage`. */
export function withPaths(error: unknown, input: Pick<SendMessageInput, 'to' | 'content' | 'replyToId'>): unknown {
  if (!(error instanceof CodedError) || error.faults.length === 0) return error;
  const [recipient, content] = [fieldOf(input.to), fieldOf(input.content)];
  if (recipient === undefined || content === undefined) return error;
  const errors = new FieldErrorList();
  // A quoted message names its contact too.
  if (input.replyToId != null && error.faults.some(({ field }) => field === 'contactId'))
    return invalid({ replyToId: [NOT_IN_CONVERSATION] });
  for (const { field, message, code } of error.faults) {
    const [first = '', ...others] = field.split('.');
    const path = DELIVERY.has(first)
      ? [first === 'to' ? `to.${recipient}` : first === 'contactId' ? 'expectedContactId' : first, ...others].join('.')
      : contentPath(content, field);
    errors.add(path, message, code);
  }
  return errors.toError(error.message);
}

/** The one field that is given; undefined for none or several, whose error has its path already. */
function fieldOf<Fields extends object>(fields: Fields): (keyof Fields & string) | undefined {
  const [first, second] = Object.entries(fields).filter(([, value]) => value != null);
  return second ? undefined : (first?.[0] as (keyof Fields & string) | undefined);
}
