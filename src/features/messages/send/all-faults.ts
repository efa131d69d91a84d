import { CodedError, type FieldCode, FieldErrorList } from '../../../core/errors.ts';
import { optionalInputId } from '../../../core/global-ids.ts';
import { tenantOf } from '../../../core/principal.ts';
import type { Context } from '../../../schema/context.ts';
import { keyFaults } from '../../../schema/idempotency-key.ts';
import { oneOf } from '../../../schema/one-of.ts';
import { parseContact } from '../../contacts/contact.ts';
import { scheduledInstant } from '../scheduling/scheduled-at.ts';
import { checkContact, newAddressee } from './addressee.ts';
import { type Content, checkTexts, checkUpload, compose, personOf, recipientFields } from './content.ts';
import { checkExpectedLast } from './expected-last.ts';
import type { SendFacts } from './facts.sql.ts';
import { resolveRecipient, type SendMessageInput } from './message-parts.ts';
import { resolveQuote } from './quote.ts';
import type { Recipient } from './recipient.sql.ts';
import { checkEchoId, sendQuery } from './request.ts';
import { readSendFacts } from './send.ts';

/** Placeholder to check content without a recipient. */
export const NOBODY: Recipient = { contactId: 0 };

/** Arguments of a send besides its content. */
export type Delivery = Omit<SendMessageInput, 'content'>;

/** Runs a check and collects its faults. @param field gets the fault if the check throws NOT_FOUND @returns undefined after a fault */
type Attempt = <T>(step: () => T | Promise<T>, field?: string) => Promise<T | undefined>;

/**
 * Adds the remaining faults of the input to the error of a send. A send checks step by step and stops at the first step that fails; this
 * runs the independent ones too. Called only after an error, so that a valid message costs no extra statements.
 * @param error what sending threw, with fields of the request. A contact or channel that does not exist stays a NOT_FOUND where
 *   nothing else is wrong, and is a fault of its field otherwise; any other refusal is returned as it is
 * @param contentOf makes the content for anybody, from the channel with this id
 */
export async function withAllFaults(
  context: Context,
  error: unknown,
  input: Delivery,
  contentOf: (channelId: number | undefined) => Promise<Content>,
): Promise<unknown> {
  if (!(error instanceof CodedError)) return error;
  if (error.faults.length === 0 && error.code !== 'NOT_FOUND' && !context.isRehearsal) return error;
  const errors = new FieldErrorList();
  errors.include(error.faults);
  const missing = new FieldErrorList();
  /** Collects faults of fields only; for other refusals the first error is the answer. */
  const attempt: Attempt = async (step, field) => {
    try {
      return await step();
    } catch (other) {
      if (!(other instanceof CodedError)) throw other;
      errors.include(other.faults);
      if (other.code === 'NOT_FOUND' && field !== undefined) missing.add(field, other.message, 'REFERENCE_NOT_FOUND');
      return undefined;
    }
  };
  const { contactId, channelId } = await attemptIds(context, attempt, input);
  const named = { contactId, channelId };
  const found = await attempt(() => resolveRecipient(context, oneOf(input.to, 'to'), channelId), 'to');
  const person = { ...named, ...(found?.to as { contactId?: number } | undefined), ...found };
  const { replyToId, expectedLastMessageId, idempotencyKey } = input;
  // Compared with the recipient only where there is one.
  if (replyToId != null) await attempt(() => resolveQuote(context, replyToId, found ? person : {}));
  if (expectedLastMessageId != null)
    await attempt(() => checkExpectedLast(context, expectedLastMessageId, found ? person : {}));
  await attempt(() => checkEchoId(input.echoId));
  errors.include(keyFaults(idempotencyKey));
  const content = await attempt(async () => {
    const made = await contentOf(channelId);
    checkTexts(made.texts, made.mergeValues);
    return made;
  });
  const read = await attempt(() => readSendFacts(context, { query: sendQuery(context, found?.to ?? NOBODY, person) }));
  if (read) addMissing(missing, person.channelId, found?.to, read);
  await checkPerson(context, attempt, input, found?.to, read, content, contactId);
  if (errors.isEmpty && !context.isRehearsal) return error;
  errors.include(missing.faults);
  return errors.isEmpty ? error : errors.toError(error.faults.length > 0 ? error.message : undefined);
}

async function attemptIds(context: Context, attempt: Attempt, input: Delivery) {
  const tenantId = tenantOf(context);
  const { expectedContactId, channelId } = input;
  return {
    contactId: await attempt(() =>
      optionalInputId(tenantId, 'Contact', expectedContactId ?? undefined, 'expectedContactId'),
    ),
    channelId: await attempt(() => optionalInputId(tenantId, 'Channel', channelId ?? undefined, 'channelId')),
  };
}

/** Adds faults for referenced objects that do not exist. */
function addMissing(
  missing: FieldErrorList,
  channelId: number | null | undefined,
  recipient: Recipient | undefined,
  read: SendFacts,
): void {
  const code: FieldCode = 'REFERENCE_NOT_FOUND';
  if (channelId != null && read.channel_id === null) missing.add('channelId', 'Channel not found.', code);
  if (recipient && 'contactId' in recipient && !read.contact) missing.add('to', 'Contact not found.', code);
}

/** The merge fields of a contact whose values are not all valid. */
function givenPerson(given: Delivery['contact'], phone: string | null = null): ReturnType<typeof personOf> {
  const { firstName, lastName, email = null, company = null, city = null, state = null } = given ?? {};
  const { country_id = null } = parseContact(given ?? {}, new FieldErrorList());
  return personOf({
    firstname: firstName ?? '',
    lastname: lastName ?? '',
    email,
    company,
    city,
    state,
    country_id,
    phone,
  });
}

/** Checks that depend on the contact; an invalid number has none. */
async function checkPerson(
  context: Context,
  attempt: Attempt,
  { contact: given, scheduledAt }: Delivery,
  recipient: Recipient | undefined,
  read: SendFacts | undefined,
  content: Content | undefined,
  contactId: number | undefined,
): Promise<void> {
  if (recipient && read) await attempt(() => checkContact(context, { contactId }, read));
  const isNew = !read?.contact && (recipient === undefined || 'phoneKey' in recipient);
  const phoned = recipient && 'phoneKey' in recipient ? recipient : { phoneKey: '', phone: '' };
  const added = isNew ? await attempt(() => newAddressee(context, phoned, given ?? {})) : undefined;
  const zone = read?.contact ? read.contact.time_zone : added?.fields.time_zone;
  const phone = read?.contact?.phone ?? recipient?.phone ?? null;
  const place = { timeZone: zone || null, phone, userId: read?.contact_user_id ?? null };
  const at = scheduledAt && (await attempt(() => scheduledInstant(scheduledAt, place, context.clock.now())));
  if (content && at) await attempt(() => checkUpload(content, at));
  // Invalid contact fields still count as given, so that their merge fields are not also reported as empty.
  const person =
    read?.contact ??
    (isNew && recipient ? (added ? recipientFields(added) : givenPerson(given, recipient.phone)) : undefined);
  if (content && person) await attempt(() => compose(content, person, false));
}
