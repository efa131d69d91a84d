import type { TypedDocumentNode } from '@graphql-typed-document-node/core';
import { said } from '../body.ts';
import {
  AddContactsToGroupDocument,
  type AddContactsToGroupMutation,
  type AddContactsToGroupMutationVariables,
  CreateGroupDocument,
  DeleteGroupDocument,
  GetGroupDocument,
  ListGroupsDocument,
  RemoveContactsFromGroupDocument,
  UpdateGroupDocument,
} from '../documents.generated.ts';
import { given, id, integer, object, required } from '../openapi/shape.ts';
import { type Route, route } from '../route.ts';
import { type LabelKind, labelRoutes } from './labels.ts';

type Members = TypedDocumentNode<AddContactsToGroupMutation, AddContactsToGroupMutationVariables>;

const members = (
  method: 'POST' | 'DELETE',
  document: Members,
  answer: 'contacts_added' | 'contacts_removed',
  message: string,
): Route =>
  route({
    method,
    path: '/groups/:id/contacts',
    document,
    body: object({ contact_ids: required(given('input.contactIds')) }),
    example: { contact_ids: [1207, 1208] },
    answer: object({ group_id: id('The group.'), [answer]: integer('How many it really changed.') }),
    plan: call => {
      const groupId = call.id('Group');
      const contactIds = call.body().ids('contact_ids', 'ids');
      if (contactIds == null && call.errors.isEmpty) call.errors.add('contact_ids', 'Is required.');
      // Removing is the same however often it is asked for; adding has its key like every POST.
      const idempotencyKey = method === 'POST' ? call.idempotencyKey : undefined;
      return {
        variables: { input: said({ groupId, contactIds: contactIds ?? [], idempotencyKey }) },
        respond: ({ members: { count } }) => ({ message, data: { group_id: Number(groupId), [answer]: count } }),
      };
    },
  });

export const GROUPS: LabelKind = {
  path: '/groups',
  type: 'Group',
  plural: 'Groups',
  documents: {
    list: ListGroupsDocument,
    get: GetGroupDocument,
    create: CreateGroupDocument,
    update: UpdateGroupDocument,
    remove: DeleteGroupDocument,
  },
  example: { name: 'VIP' },
  input: () => ({}),
};

export const groupRoutes: readonly Route[] = [
  ...labelRoutes(GROUPS),
  members('POST', AddContactsToGroupDocument, 'contacts_added', 'Contacts added to the group'),
  members('DELETE', RemoveContactsFromGroupDocument, 'contacts_removed', 'Contacts removed from the group'),
];
