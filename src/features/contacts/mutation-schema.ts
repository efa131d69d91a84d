import { notFound } from '../../core/errors.ts';
import { encodeGlobalId, parseId } from '../../core/global-ids.ts';
import { tenantOf } from '../../core/principal.ts';
import type { Context } from '../../schema/context.ts';
import { DeletePayload, entityPayload, mutation } from '../../schema/payload.ts';
import { createContact } from './create.ts';
import { CreateContactInput, DeleteContactInput, ReplaceContactInput, UpdateContactInput } from './inputs.ts';
import { removeContact } from './remove.ts';
import { Contact } from './schema.ts';
import { changeContact, replaceContact } from './update.ts';

export const ContactPayload = entityPayload('contact', Contact, 'The contact after the mutation.');

/** @throws NOT_FOUND for text that is no id */
export function contactId(context: Context, text: string, field?: string): number {
  const id = parseId(tenantOf(context), 'Contact', text);
  if (id === undefined) throw notFound('Contact', field);
  return id;
}

mutation('createContact', {
  description: 'Creates a contact; only the phone number is required.',
  scope: 'contacts:write',
  input: CreateContactInput,
  payload: ContactPayload,
  resolve: async (input, context) => ({ contact: await createContact(context, input) }),
});

mutation('updateContact', {
  description: 'Changes a contact.',
  scope: 'contacts:write',
  input: UpdateContactInput,
  payload: ContactPayload,
  resolve: async ({ id, ...input }, context) => ({
    contact: await changeContact(context, contactId(context, id), input),
  }),
});

mutation('replaceContact', {
  description:
    "Replaces all values of a contact. Omitted fields become empty, except source and status, which become the tenant's defaults, and the opt-out, which stays.",
  scope: 'contacts:write',
  input: ReplaceContactInput,
  payload: ContactPayload,
  resolve: async ({ id, ...input }, context) => ({
    contact: await replaceContact(context, contactId(context, id), input),
  }),
});

mutation('deleteContact', {
  description:
    'Erases a contact with its conversations and messages, as `eraseContact` does. Queued messages are not sent.',
  scope: 'contacts:delete',
  input: DeleteContactInput,
  payload: DeletePayload,
  resolve: async ({ id, ...options }, context) => {
    const request = { operation: 'deleteContact', reason: 'other', ...options } as const;
    const removed = await removeContact(context, contactId(context, id), {
      ...request,
      idempotencyKey: options.idempotencyKey,
    });
    return { deletedId: encodeGlobalId('Contact', tenantOf(context), removed.id) };
  },
});
