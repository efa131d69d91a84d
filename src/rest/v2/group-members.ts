import type { TypedDocumentNode } from '@graphql-typed-document-node/core';
import { z } from 'zod';
import { rowId } from '../openapi/schema.ts';
import { alias, body, dropUndefined, requiredIds } from '../runtime/fields.ts';
import { type Route, route } from '../runtime/route.ts';
import {
  AddContactsToGroupDocument,
  type AddContactsToGroupMutationVariables,
  RemoveContactsFromGroupDocument,
} from '../wire/documents.generated.ts';

type Members = TypedDocumentNode<
  { readonly result: { readonly changedCount: number } },
  AddContactsToGroupMutationVariables
>;

const members = (
  method: 'POST' | 'DELETE',
  document: Members,
  answer: 'contacts_added' | 'contacts_removed',
  message: string,
): Route =>
  route({
    method,
    path: '/groups/:id/contacts',
    resource: 'Group',
    document,
    body: body({ contact_ids: alias(requiredIds({ minItems: 1, maxItems: 1_000 }), 'ids') }),
    example: { contact_ids: [1207, 1208] },
    answer: z.object({
      group_id: rowId('Id of the group.'),
      [answer]: z.int().describe('Number of contacts that were added or removed.'),
    }),
    variables: ({ call, id, body: { contact_ids } }) => ({
      input: dropUndefined({
        groupId: id,
        contactIds: contact_ids,
        // Removing is idempotent by itself.
        idempotencyKey: method === 'POST' ? call.idempotencyKey : undefined,
      }),
    }),
    respond: ({ result }, { id }) => ({ message, data: { group_id: Number(id), [answer]: result.changedCount } }),
  });

export const groupMemberRoutes: readonly Route[] = [
  members('POST', AddContactsToGroupDocument, 'contacts_added', 'Contacts added to the group'),
  members('DELETE', RemoveContactsFromGroupDocument, 'contacts_removed', 'Contacts removed from the group'),
];
