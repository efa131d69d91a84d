import { builder } from '../../schema/builder.ts';
import { listArgs } from '../../schema/lists.ts';
import { selectionOf } from '../../schema/selection.ts';
import { Contact } from '../contacts/schema.ts';
import { Template, templateLoader } from '../templates/schema.ts';
import { Author } from '../tenancy/audit/schema.ts';
import { messagePage } from './list.ts';
import { messageByWamidLoader, messageLoader } from './loaders.ts';
import { Message, MessageConnection, MessageFilter, MessageOrder } from './schema.ts';

/** References of a message: its sender, its template, other messages. */
builder.objectFields(Message, t => ({
  sentBy: t.field({
    type: Author,
    nullable: true,
    description:
      'Who sent the message, with the name at that time. Null for an inbound message, and if another system sent it.',
    resolve: ({ author }) => author ?? null,
  }),
  echoId: t.exposeString('echo_id', {
    nullable: true,
    description: "The client's own key of the message, as given to the send; null if it gave none.",
  }),
  template: t.field({
    type: Template,
    nullable: true,
    description: 'The template that was sent; null for other content, and once the template is removed.',
    authScopes: { scope: 'templates:read' },
    resolve: ({ template_id }, _args, context) =>
      template_id === null ? null : templateLoader(context).load(template_id),
  }),
  retryOf: t.field({
    type: Message,
    nullable: true,
    description: 'The failed message that this one sends again; null if there is none or it was deleted.',
    authScopes: { scope: 'messages:read' },
    resolve: ({ retry_of }, _args, context) => (retry_of === null ? null : messageLoader(context).load(retry_of)),
  }),
  replyTo: t.field({
    type: Message,
    nullable: true,
    description: 'The message that this one answers or reacts to; null if there is none or it is not stored.',
    authScopes: { scope: 'messages:read' },
    resolve: ({ reply_to_wamid }, _args, context) =>
      reply_to_wamid === null ? null : messageByWamidLoader(context).load(reply_to_wamid),
  }),
}));

builder.objectField(Contact, 'messages', t =>
  t.field({
    type: MessageConnection,
    nullable: true,
    description:
      'Messages of the contact in all conversations, newest first by default. Lists of contacts read it once for each.',
    authScopes: { scope: 'messages:read' },
    args: { ...listArgs(MessageFilter, MessageOrder, { offset: false }) },
    resolve: ({ id }, args, context, info) =>
      messagePage(context, args, selectionOf(info), { contactId: { eq: String(id) } }),
  }),
);
