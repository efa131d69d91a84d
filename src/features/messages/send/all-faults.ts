import { CodedError, FieldErrorList } from '../../../core/errors.ts';
import { optionalInputId } from '../../../core/global-ids.ts';
import { tenantOf } from '../../../core/principal.ts';
import type { Context } from '../../../schema/context.ts';
import { oneOf } from '../../../schema/one-of.ts';
import { scheduledInstant } from '../scheduling/scheduled-at.ts';
import { newAddressee } from './addressee.ts';
import { type Content, checkTexts, compose, recipientFields } from './content.ts';
import { contentFieldsOf } from './content-fields.ts';
import type { SendContext } from './context.sql.ts';
import { expecting } from './expected-last.ts';
import { contentRequest, recipientOf, type SendMessageInput } from './message-parts.ts';
import { quoting } from './quote.ts';
import type { Recipient } from './recipient.sql.ts';
import { checkEchoId, sendQuery } from './request.ts';
import { readContext } from './send.ts';

/** Stands in for a recipient that the input does not name: content is checked without one. */
const NOBODY: Recipient = { contactId: 0 };

/**
 * The error of a message with all faults of its input. Sending checks step by step, and the first faulty step ends it; here the other
 * steps run as far as they do not depend on it. Only on the path of an error, so that a valid message costs no more statements.
 * @param error what sending threw, with fields of the request; returned as it is unless it is about fields
 */
export async function withAllFaults(context: Context, error: unknown, input: SendMessageInput): Promise<unknown> {
  if (!(error instanceof CodedError) || error.faults.length === 0) return error;
  const errors = new FieldErrorList();
  const known = new Set<string>();
  const add = ({ faults }: CodedError): void => {
    for (const { field, message, code } of faults) {
      if (known.has(`${field} ${message}`)) continue;
      known.add(`${field} ${message}`);
      errors.add(field, message, code);
    }
  };
  add(error);
  /** What is refused for another reason than a fault of a field is not found here: the first error stays the answer. */
  async function attempt<T>(step: () => T | Promise<T>): Promise<T | undefined> {
    try {
      return await step();
    } catch (other) {
      if (!(other instanceof CodedError)) throw other;
      add(other);
      return undefined;
    }
  }
  const tenantId = tenantOf(context);
  const contactId = await attempt(() =>
    optionalInputId(tenantId, 'Contact', input.expectedContactId ?? undefined, 'expectedContactId'),
  );
  const channelId = await attempt(() =>
    optionalInputId(tenantId, 'Channel', input.channelId ?? undefined, 'channelId'),
  );
  const named = { contactId, channelId };
  const found = await attempt(() => recipientOf(context, oneOf(input.to, 'to'), channelId));
  const person = { ...named, ...(found?.to as { contactId?: number } | undefined), ...found };
  const { replyToId, expectedLastMessageId } = input;
  if (found && replyToId != null) await attempt(() => quoting(context, replyToId, person));
  if (found && expectedLastMessageId != null) await attempt(() => expecting(context, expectedLastMessageId, person));
  await attempt(() => checkEchoId(input.echoId));
  const content = await attempt(async () => {
    const given = oneOf(contentFieldsOf(input.content), 'content');
    const request = await contentRequest(context, given, { ...named, to: NOBODY });
    checkTexts(request.content.texts, request.content.mergeValues);
    return request.content;
  });
  const read = found && (await attempt(() => readContext(context, { query: sendQuery(context, found.to, person) })));
  await checkPerson(context, attempt, input, found?.to, read, content);
  return errors.toError(error.message);
}

/** What depends on whether the contact exists: a number that cannot be read is nobody's. */
async function checkPerson(
  context: Context,
  attempt: <T>(step: () => T | Promise<T>) => Promise<T | undefined>,
  { contact: given, scheduledAt }: SendMessageInput,
  recipient: Recipient | undefined,
  read: SendContext | undefined,
  content: Content | undefined,
): Promise<void> {
  const isNew = !read?.contact && (recipient === undefined || 'phoneKey' in recipient);
  const phoned = recipient && 'phoneKey' in recipient ? recipient : { phoneKey: '', phone: '' };
  const added = isNew ? await attempt(() => newAddressee(context, phoned, given ?? {})) : undefined;
  const zone = read?.contact ? read.contact.time_zone : added?.fields.time_zone;
  const place = { timeZone: zone || null, phone: read?.contact?.phone ?? recipient?.phone ?? null };
  if (scheduledAt) await attempt(() => scheduledInstant(scheduledAt, place, context.clock.now()));
  const person = read?.contact ?? (added && recipient ? recipientFields(added) : undefined);
  if (content && person) await attempt(() => compose(content, person, false));
}
