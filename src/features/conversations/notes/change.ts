import { invalid, notFound } from '../../../core/errors.ts';
import { tenantOf } from '../../../core/principal.ts';
import { violationOf } from '../../../database/violations.ts';
import type { Context } from '../../../schema/context.ts';
import { authorOf } from '../../tenancy/audit/author.ts';
import { once } from '../../tenancy/idempotency/once.ts';
import { resolveConversation } from '../state.sql.ts';
import { type NoteRow, parseBody } from './note.ts';
import { deleteNote, getNotes, insertNote, updateNote } from './store.ts';

type Key = string | null | undefined;

export interface NewNote {
  readonly body: string;
  readonly contactId: number | undefined;
  readonly conversationId: number | undefined;
  readonly idempotencyKey?: Key;
}

const GONE = 'The object with this id does not exist.';

async function requireNote(context: Context, id: number): Promise<NoteRow> {
  const [note] = await getNotes(context.db.write, tenantOf(context), [id]);
  if (!note) throw notFound('Note');
  return note;
}

/** Notes something about a contact, or about a conversation and its contact. @throws VALIDATION_ERROR */
export async function createNote(
  context: Context,
  { body, contactId, conversationId, idempotencyKey }: NewNote,
): Promise<NoteRow> {
  const tenantId = tenantOf(context);
  const text = parseBody(body);
  if (contactId === undefined && conversationId === undefined)
    throw invalid({ contactId: ['Give a contact or a conversation.'] }, 'REQUIRED');
  const conversation =
    conversationId === undefined ? undefined : await resolveConversation(context.db.write, tenantId, conversationId);
  if (conversationId !== undefined && !conversation) throw invalid({ conversationId: [GONE] }, 'REFERENCE_NOT_FOUND');
  if (conversation && contactId !== undefined && conversation.contact_id !== contactId)
    throw invalid({ contactId: ['Is not the contact of the conversation: leave it out.'] }, 'SURPLUS');
  const note = {
    contact_id: conversation?.contact_id ?? contactId ?? 0,
    conversation_id: conversation?.id ?? null,
    body: text,
    author: authorOf(context),
  };
  const input = { body, contactId, conversationId };
  try {
    return await once(
      context,
      { operation: 'createNote', key: idempotencyKey, input },
      {
        run: trx => insertNote(trx, tenantId, note),
        store: ({ id }) => ({ id }),
        contactId: row => row.contact_id,
        rebuild: stored => requireNote(context, (stored as { id: number }).id),
      },
    );
  } catch (error) {
    if (violationOf(error)?.constraint?.startsWith('notes_'))
      throw invalid({ contactId: [GONE] }, 'REFERENCE_NOT_FOUND');
    throw error;
  }
}

/** @throws NOT_FOUND, VALIDATION_ERROR */
export const changeNote = (context: Context, id: number, body: string, idempotencyKey: Key): Promise<NoteRow> => {
  const text = parseBody(body);
  return once(
    context,
    { operation: 'updateNote', key: idempotencyKey, input: { id, body } },
    {
      run: async trx => {
        const note = await updateNote(trx, tenantOf(context), id, text);
        if (!note) throw notFound('Note');
        return note;
      },
      store: () => ({ id }),
      contactId: row => row.contact_id,
      rebuild: () => requireNote(context, id),
    },
  );
};

/** @throws NOT_FOUND */
export const removeNote = (context: Context, id: number, idempotencyKey: Key): Promise<number> =>
  once(
    context,
    { operation: 'deleteNote', key: idempotencyKey, input: { id } },
    {
      run: async trx => {
        if (!(await deleteNote(trx, tenantOf(context), id))) throw notFound('Note');
        return id;
      },
      store: () => ({ id }),
      rebuild: async () => id,
    },
  );
