import { inputId, requireId } from '../../../core/global-ids.ts';
import type { ListArgs } from '../../../core/list-args.ts';
import { tenantOf } from '../../../core/principal.ts';
import { type ListDefinition, listColumns, readPage } from '../../../database/list.ts';
import { builder, IDEMPOTENCY_KEY } from '../../../schema/builder.ts';
import type { Context } from '../../../schema/context.ts';
import { databaseId } from '../../../schema/database-id.ts';
import { deleteMutation } from '../../../schema/delete-mutation.ts';
import { connectionOf, DateTimeFilter, filterOf, IDFilter, listArgs, orderOf } from '../../../schema/lists.ts';
import { findByNumber, nodesByNumber } from '../../../schema/nodes.ts';
import { entityPayload, mutation } from '../../../schema/payload.ts';
import { contactLoader } from '../../contacts/loaders.ts';
import { Contact } from '../../contacts/schema.ts';
import { Author } from '../../tenancy/audit/schema.ts';
import { conversationLoader } from '../loaders.ts';
import { Conversation } from '../schema.ts';
import { changeNote, createNote, removeNote } from './change.ts';
import { MAX_NOTE, type NoteRow } from './note.ts';
import { getNotes, NOTE_COLUMNS } from './store.ts';

const Note = builder.objectRef<NoteRow>('Note');

builder.node(Note, {
  name: 'Note',
  description: 'What staff note about a contact or a conversation. The person never sees it.',
  id: { resolve: note => note.id },
  brandLoadedObjects: true,
  loadManyWithoutCache: nodesByNumber('notes:read', getNotes),
  fields: t => ({
    databaseId: databaseId(t),
    body: t.exposeString('body', { description: 'Text of the note.' }),
    author: t.expose('author', { type: Author, description: 'Who wrote it first.' }),
    contact: t.field({
      type: Contact,
      nullable: true,
      description: 'The contact that it is about.',
      authScopes: { scope: 'contacts:read' },
      resolve: (note, _args, context) => contactLoader(context).load(note.contact_id),
    }),
    conversation: t.field({
      type: Conversation,
      nullable: true,
      description: 'The conversation that it is about; null: the contact as such.',
      authScopes: { scope: 'conversations:read' },
      resolve: ({ conversation_id }, _args, context) =>
        conversation_id === null ? null : conversationLoader(context).load(conversation_id),
    }),
    createdAt: t.expose('created_at', { type: 'DateTime', description: 'Time of creation.' }),
    updatedAt: t.expose('updated_at', { type: 'DateTime', description: 'Time of the last change.' }),
  }),
});

const column = listColumns('notes', 'n');
const id = column('id', 'bigint');
const dates = { createdAt: column('created_at', 'timestamptz'), updatedAt: column('updated_at', 'timestamptz') };
const NOTES: ListDefinition = {
  from: 'notes n',
  tenantColumn: 'n.tenant_id',
  filters: {
    id: { ...id, node: 'Note' },
    contactId: { ...column('contact_id', 'bigint'), node: 'Contact' },
    conversationId: { ...column('conversation_id', 'bigint'), node: 'Conversation' },
    ...dates,
  },
  sorts: { id, ...dates },
  id,
  defaultOrder: [{ column: id, descending: true }],
  search: 'search_fold(n.body)',
};

const NoteFilter = filterOf('Note', 'notes', t => ({
  id: t.field({ type: IDFilter, description: 'Id of the note.' }),
  createdAt: t.field({ type: DateTimeFilter, description: 'Time of creation.' }),
  updatedAt: t.field({ type: DateTimeFilter, description: 'Time of the last change.' }),
}));
const NoteOrder = orderOf('Note', 'notes', {
  ID: { value: 'id', description: 'Order of creation.' },
  CREATED_AT: { value: 'createdAt', description: 'Time of creation.' },
  UPDATED_AT: { value: 'updatedAt', description: 'Time of the last change.' },
});
const NoteConnection = connectionOf('Note', Note);

const notesOf = (context: Context, args: ListArgs, about: Readonly<Record<string, unknown>>) =>
  readPage<NoteRow>(
    context.db.read,
    NOTES,
    tenantOf(context),
    { ...args, filter: { and: [args.filter ?? {}], ...about } },
    NOTE_COLUMNS.map(one => `n.${one}` as const),
  );

builder.objectField(Contact, 'notes', t =>
  t.field({
    type: NoteConnection,
    nullable: true,
    description: 'Notes about the contact and their conversations, newest first by default.',
    authScopes: { scope: 'notes:read' },
    args: { ...listArgs(NoteFilter, NoteOrder, { offset: false }) },
    resolve: (contact, args, context) => notesOf(context, args, { contactId: { eq: String(contact.id) } }),
  }),
);
builder.objectField(Conversation, 'notes', t =>
  t.field({
    type: NoteConnection,
    nullable: true,
    description: 'Notes about the conversation, newest first by default.',
    authScopes: { scope: 'notes:read' },
    args: { ...listArgs(NoteFilter, NoteOrder, { offset: false }) },
    resolve: (conversation, args, context) =>
      notesOf(context, args, { conversationId: { eq: String(conversation.id) } }),
  }),
);

builder.queryField('note', t =>
  t.field({
    type: Note,
    nullable: true,
    description: 'Returns one note; null if there is none.',
    authScopes: { scope: 'notes:read' },
    args: { id: t.arg.id({ required: true, description: 'Global id or databaseId of the note.' }) },
    resolve: (_root, { id }, context) => findByNumber(context, 'Note', id, getNotes),
  }),
);

const NotePayload = entityPayload('note', Note, 'The note after the mutation.');
const BODY = `Text, 1 to ${MAX_NOTE} characters.`;

mutation('createNote', {
  description: 'Notes something about a contact or a conversation.',
  scope: 'notes:write',
  input: builder.inputType('CreateNoteInput', {
    description: 'A new note, about a contact or a conversation.',
    fields: t => ({
      body: t.string({ required: true, description: BODY }),
      contactId: t.id({ description: 'Global id or databaseId of the contact.' }),
      conversationId: t.id({ description: 'Global id or databaseId of the conversation.' }),
      idempotencyKey: t.string({ description: IDEMPOTENCY_KEY }),
    }),
  }),
  payload: NotePayload,
  resolve: async ({ body, contactId, conversationId, idempotencyKey }, context) => {
    const key = (type: string, text: string | null | undefined, field: string) =>
      text == null ? undefined : inputId(tenantOf(context), type, text, field);
    const about = {
      contactId: key('Contact', contactId, 'contactId'),
      conversationId: key('Conversation', conversationId, 'conversationId'),
    };
    return { note: await createNote(context, { body, ...about, idempotencyKey }) };
  },
});
mutation('updateNote', {
  description: 'Changes the text of a note. Its author stays.',
  scope: 'notes:write',
  input: builder.inputType('UpdateNoteInput', {
    description: 'The new text of a note.',
    fields: t => ({
      id: t.id({ required: true, description: 'Global id or databaseId of the note.' }),
      body: t.string({ required: true, description: BODY }),
      idempotencyKey: t.string({ description: IDEMPOTENCY_KEY }),
    }),
  }),
  payload: NotePayload,
  resolve: async (input, context) => ({
    note: await changeNote(context, requireId(tenantOf(context), 'Note', input.id), input.body, input.idempotencyKey),
  }),
});
deleteMutation('Note', {
  noun: 'note',
  description: 'Deletes a note.',
  scope: 'notes:write',
  remove: removeNote,
});
