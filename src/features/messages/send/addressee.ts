import { CodedError, conflict, FieldErrorList, invalid, notFound } from '../../../core/errors.ts';
import { newId } from '../../../core/ids.ts';
import { callerOf } from '../../../core/principal.ts';
import { phoneKey } from '../../../platform/phone.ts';
import type { Context } from '../../../schema/context.ts';
import { EMAIL_TAKEN, parseContact } from '../../contacts/contact.ts';
import { newContact } from '../../contacts/create.ts';
import { isEmailTaken } from '../../contacts/is-email-taken.ts';
import { contactLoader } from '../../contacts/loaders.ts';
import {
  checkReferences,
  collectReferences,
  findContactReferences,
  parseReferences,
} from '../../contacts/references.ts';
import type { Addressee } from './accept.sql.ts';
import type { SendFacts } from './facts.sql.ts';
import { refuseErased } from './permission.ts';
import type { PreparedSend, SendInput } from './request.ts';

export const IS_OTHER_NUMBER = 'Is not the phone number of this contact: give one of the two fields.';

/** Recipient of the message. @throws the refusal */
export async function addresseeOf(context: Context, prepared: PreparedSend, found: SendFacts): Promise<Addressee> {
  const { input, content, recipient } = prepared;
  const { contact } = found;
  await checkContact(context, input, found);
  const mayBeOptedOut = content.isCode === true && context.config.otp.toOptedOut;
  if (contact) {
    if (input.isUnmerged && 'contactId' in recipient && recipient.contactId !== contact.id)
      throw conflict('This contact was merged into another one.');
    if (contact.opted_out_at !== null && !mayBeOptedOut)
      throw new CodedError('CONTACT_OPTED_OUT', 'This contact asked not to be messaged.', {
        details: { opted_out_at: contact.opted_out_at, category: 'all', contact_id: contact.id },
      });
    if (found.category_opted_out_at !== null)
      throw new CodedError('CONTACT_OPTED_OUT', `This contact asked not to get ${content.category} messages.`, {
        details: { opted_out_at: found.category_opted_out_at, category: content.category, contact_id: contact.id },
      });
    if (found.is_unreachable)
      throw invalid({
        to: ['This contact has no phone number, and no user id in the business portfolio of the channel.'],
      });
    if (
      content.isCode &&
      'phoneKey' in recipient &&
      contact.phone !== null &&
      phoneKey(contact.phone) !== recipient.phoneKey
    )
      throw invalid({ to: ['Messages to this contact go to its other number: the code would not prove this one.'] });
    return {
      contactId: contact.id,
      conversationId: found.conversation_id,
      takesOver:
        found.conversation_status === 'pending' &&
        content.freeForm &&
        content.type !== 'reaction' &&
        input.isFromBot !== true,
      mayBeOptedOut,
    };
  }
  if ('contactId' in recipient) throw notFound('Contact', 'to');
  refuseErased(content, found, mayBeOptedOut);
  return newAddressee(context, recipient, input.contact ?? {});
}

/** A person whom the send creates. @throws VALIDATION_ERROR on fields below `contact` */
export async function newAddressee(
  context: Context,
  recipient: Extract<PreparedSend['recipient'], { readonly phoneKey: string }>,
  given: NonNullable<SendInput['contact']>,
): Promise<Extract<Addressee, { readonly fields: unknown }>> {
  const { tenant } = callerOf(context);
  const errors = new FieldErrorList();
  const fields = {
    ...parseContact(given, errors, 'contact.'),
    phone: recipient.phone ?? '',
    phone_key: recipient.phoneKey,
  };
  const references = parseReferences(tenant.id, given);
  const wanted = collectReferences([references]);
  // Looked up only if the send names references.
  if (Object.values(wanted).some(ids => ids.length > 0))
    checkReferences(references, await findContactReferences(context.db.read, tenant.id, wanted), errors, 'contact.');
  if (await isEmailTaken(context.db.read, tenant.id, fields)) errors.add('contact.email', EMAIL_TAKEN, 'TAKEN');
  errors.throwIfAny();
  return { fields: newContact(tenant, fields, references), groupIds: references.groups ?? [], eventId: newId() };
}

/** @throws VALIDATION_ERROR on both fields when `to` and `contactId` name different people */
export async function checkContact(
  context: Context,
  { contactId }: Pick<SendInput, 'contactId'>,
  { contact }: SendFacts,
): Promise<void> {
  if (contactId == null || contact?.id === contactId) return;
  // The id of a contact that was merged away loads the survivor.
  const named = await contactLoader(context).load(contactId);
  if (named && named.id === contact?.id) return;
  throw invalid({
    to: [IS_OTHER_NUMBER],
    contactId: ['Is not the contact with this phone number: give one of the two fields.'],
  });
}
