import { notFound } from '../../errors.ts';
import { said } from '../body.ts';
import type { Call } from '../call.ts';
import {
  type ContactFilter,
  type ContactOrderField,
  CreateContactDocument,
  DeleteContactDocument,
  GetContactDocument,
  ListContactsDocument,
  UpdateContactDocument,
} from '../documents.generated.ts';
import { type ListFields, readList } from '../list-query.ts';
import { type Changes, given, selected } from '../openapi/shape.ts';
import { readShown, rowFields } from '../query.ts';
import { type Route, route } from '../route.ts';
import { CONTACT, contactDetails, contactGroups, contactRow, TYPES } from './contact-row.ts';

const FIELDS = rowFields(ListContactsDocument);

export const CONTACTS: ListFields<ContactFilter, ContactOrderField> = {
  filters: {
    type: ['type', TYPES],
    status_id: ['statusId', 'id'],
    source_id: ['sourceId', 'id'],
    assigned_id: ['assigneeId', 'id'],
    group_id: ['groupId', 'id'],
    created_at: ['createdAt', 'time'],
    updated_at: ['updatedAt', 'time'],
  },
  sorts: {
    id: 'ID',
    firstname: 'FIRST_NAME',
    lastname: 'LAST_NAME',
    created_at: 'CREATED_AT',
    updated_at: 'UPDATED_AT',
  },
};

/** Groups are known by their ids here. */
const BY_ID: Changes = { without: ['group_names'] };

/** After a change the groups are always shown. */
const shownAfterChange = (call: Call) => readShown(call.query, FIELDS, call.errors, ['groups']);

export const contactRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/contacts',
    document: ListContactsDocument,
    list: CONTACTS,
    answer: selected('contacts.nodes', CONTACT),
    plan: call => {
      const shown = readShown(call.query, FIELDS, call.errors);
      const list = readList(call.query, CONTACTS, call.errors);
      return {
        variables: { ...list, ...shown },
        respond: ({ contacts }) => ({
          message: 'Contacts',
          data: contacts.nodes.map(contactRow),
          page: { ...list, total: contacts.totalCount },
        }),
      };
    },
  }),
  route({
    method: 'GET',
    path: '/contacts/:id',
    document: GetContactDocument,
    answer: selected('contact', CONTACT),
    plan: call => {
      const shown = readShown(call.query, FIELDS, call.errors);
      return {
        variables: { id: call.id('Contact'), ...shown },
        respond: ({ contact }) => {
          if (!contact) throw notFound('Contact');
          return { message: 'Contact', data: contactRow(contact) };
        },
      };
    },
  }),
  route({
    method: 'POST',
    path: '/contacts',
    document: CreateContactDocument,
    status: 201,
    body: given('input', BY_ID),
    example: { phone: '+14155550123', firstname: 'Ana', lastname: 'Silva', type: 'lead' },
    answer: selected('contact', CONTACT),
    errors: ['FEATURE_LIMIT_EXCEEDED'],
    plan: call => {
      const shown = shownAfterChange(call);
      const body = call.body();
      const phone = body.requiredText('phone', 'phone_number');
      const input = said({
        ...contactDetails(body),
        ...contactGroups(body),
        phone,
        isOptedOut: body.flag('is_opted_out'),
        idempotencyKey: call.idempotencyKey,
      });
      return {
        variables: { input, ...shown },
        respond: ({ contact }) => ({ message: 'Contact created', data: contactRow(contact) }),
      };
    },
  }),
  route({
    method: 'PATCH',
    path: '/contacts/:id',
    document: UpdateContactDocument,
    body: given('input', BY_ID),
    example: { type: 'customer', company: 'Silva Flowers' },
    answer: selected('contact', CONTACT),
    plan: call => {
      const shown = shownAfterChange(call);
      const body = call.body();
      const phone = body.text('phone', 'phone_number');
      const isOptedOut = body.flag('is_opted_out');
      const input = said({
        ...contactDetails(body),
        ...contactGroups(body),
        phone,
        isOptedOut,
        idempotencyKey: call.idempotencyKey,
      });
      return {
        variables: { id: call.id('Contact'), input, ...shown },
        respond: ({ contact }) => ({ message: 'Contact updated', data: contactRow(contact) }),
      };
    },
  }),
  route({
    method: 'DELETE',
    path: '/contacts/:id',
    document: DeleteContactDocument,
    plan: call => ({
      variables: { id: call.id('Contact') },
      respond: ({ contact }) => ({ message: 'Contact deleted', data: contact }),
    }),
  }),
];
