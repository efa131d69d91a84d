import { invalid, notFound } from '../../../core/errors.ts';
import { inputId, parseId } from '../../../core/global-ids.ts';
import { callerOf, requireScope, tenantOf } from '../../../core/principal.ts';
import type { OutgoingType } from '../../../network/network.ts';
import type { Context } from '../../../schema/context.ts';
import { type Given, oneOf } from '../../../schema/one-of.ts';
import { PHONE_ERROR, phoneOf } from '../../contacts/contact.ts';
import { contactOfUserId } from '../../contacts/find.ts';
import { templateRequest } from '../../templates/sending/send-template.ts';
import { getCannedReplies } from '../canned-replies/store.ts';
import { cardsContent } from '../content/contact-cards.ts';
import { interactiveContent } from '../content/interactive/send-interactive.ts';
import { locationContent } from '../content/location.ts';
import { mediaContent } from '../content/media/send-media.ts';
import { type Content, refusing } from './content.ts';
import { mediaFields } from './content-fields.ts';
import type { ContentFields, GivenContent } from './content-schema.ts';
import { conversationOf, type Recipient } from './recipient.sql.ts';
import type { SendInput, SendRequest } from './request.ts';
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

/** Conversations and user ids take one statement to resolve; numbers and contacts are read together with all else. */
export async function resolveRecipient(
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
      const contactId = parseId(tenantId, 'Contact', to.value);
      if (contactId === undefined) throw notFound('Contact', 'to');
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

/** The request of a content. @throws VALIDATION_ERROR with fields of the content */
export async function contentRequest(
  context: Context,
  content: Given<ContentFields>,
  options: Options,
): Promise<SendRequest> {
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
      return request(sent, await orRefusing(options, content.value.kind, mediaContent(context, sent)));
    }
    case 'interactive':
      return request({ ...content.value, ...options } as SendInput, interactiveContent(context, content.value));
    case 'location':
      return request({ ...content.value, ...options } as SendInput, locationContent(content.value));
    case 'contacts':
      return request({ cards: content.value, ...options } as SendInput, cardsContent(content.value));
    case 'template':
      return templateRequest(context, { ...content.value, ...options }, { operation: OPERATION, feature: 'templates' });
    case 'cannedReplyId': {
      const canned = cannedContent(context, content.value)
        .then(fields => contentRequest(context, oneOf(fields, 'cannedReplyId'), options))
        .then(made => made.content);
      return request(
        { ...options, cannedReplyId: content.value } as SendInput,
        await orRefusing(options, 'text', canned),
      );
    }
  }
}

/** A repetition gets the first result even if an upload or a canned reply can no longer be sent. */
const orRefusing = (
  { idempotencyKey }: Pick<Options, 'idempotencyKey'>,
  type: OutgoingType,
  content: Promise<Content>,
): Promise<Content> => (idempotencyKey ? content.catch((error: unknown) => refusing(type, error)) : content);

/** The content of a canned reply. Sending it shows it, so the scope to read it is required. */
async function cannedContent(context: Context, id: string): Promise<ContentFields> {
  requireScope(callerOf(context), 'conversations:read');
  const key = parseId(tenantOf(context), 'CannedReply', id);
  const [reply] = key === undefined ? [] : await getCannedReplies(context.db.read, tenantOf(context), [key]);
  if (!reply) throw invalid({ cannedReplyId: ['There is no canned reply with this id.'] }, 'REFERENCE_NOT_FOUND');
  return reply.content;
}
