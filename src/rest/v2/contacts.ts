import type { z } from 'zod';
import { selectionOf } from '../openapi/schema.ts';
import type { Call } from '../runtime/call.ts';
import { alias, body, dropUndefined, flag, requiredText, text } from '../runtime/fields.ts';
import { listResponse, type Route, requireRow, route } from '../runtime/route.ts';
import {
  CONTACT_DETAILS,
  CONTACT_LIST,
  CONTACT_OVERRIDES,
  COUNTRY_ID,
  contactInput,
  contactReadAt,
  contactRowBy,
  DELETED_CONTACT,
  deletedKey,
  GROUP_IDS,
} from '../wire/contact.ts';
import {
  CreateContactDocument,
  DeleteContactDocument,
  GetContactDocument,
  ListContactsDocument,
  UpdateContactDocument,
} from '../wire/documents.generated.ts';
import { time } from '../wire/values.ts';

export const contactRow = contactRowBy(time);

const DETAILS = { ...CONTACT_DETAILS, ...COUNTRY_ID, ...GROUP_IDS, is_opted_out: flag() };

const detailsInput = (
  call: Call,
  { groups, is_opted_out, country_id, ...details }: z.output<z.ZodObject<typeof DETAILS>>,
) =>
  dropUndefined({
    ...contactInput(details, country_id),
    groupIds: groups,
    isOptedOut: is_opted_out,
    idempotencyKey: call.idempotencyKey,
  });

export const contactRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/contacts',
    document: ListContactsDocument,
    list: CONTACT_LIST,
    answer: selectionOf('contacts.nodes', CONTACT_OVERRIDES),
    variables: ({ list }) => list,
    respond: ({ contacts }, { list }) => listResponse('Contacts', contacts, list, contactRow),
  }),
  route({
    method: 'GET',
    path: '/contacts/:id',
    resource: 'Contact',
    document: GetContactDocument,
    answer: selectionOf('contact', CONTACT_OVERRIDES),
    variables: ({ id }) => ({ id }),
    respond: ({ contact }) => ({ message: 'Contact', data: contactRow(requireRow(contact, 'Contact')) }),
  }),
  route({
    method: 'POST',
    path: '/contacts',
    document: CreateContactDocument,
    status: 201,
    always: ['groups'],
    body: body({ phone: alias(requiredText(), 'phone_number'), ...DETAILS }),
    example: { phone: '+14155550123', firstname: 'Ana', lastname: 'Silva', type: 'lead' },
    answer: selectionOf('result.row', CONTACT_OVERRIDES),
    errors: ['FEATURE_LIMIT_EXCEEDED'],
    variables: ({ call, body: { phone, ...details } }) => ({ input: { ...detailsInput(call, details), phone } }),
    respond: ({ result: { row } }) => ({ message: 'Contact created', data: contactRow(requireRow(row, 'Contact')) }),
  }),
  route({
    method: 'PATCH',
    path: '/contacts/:id',
    resource: 'Contact',
    document: UpdateContactDocument,
    readAt: contactReadAt,
    always: ['groups'],
    body: body({ phone: alias(text(), 'phone_number'), ...DETAILS }),
    example: { type: 'customer', company: 'Silva Flowers' },
    answer: selectionOf('result.row', CONTACT_OVERRIDES),
    variables: ({ call, id, body: { phone, ...details } }) => ({
      input: { ...dropUndefined({ ...detailsInput(call, details), phone }), id },
    }),
    respond: ({ result: { row } }) => ({ message: 'Contact updated', data: contactRow(requireRow(row, 'Contact')) }),
  }),
  route({
    method: 'DELETE',
    path: '/contacts/:id',
    resource: 'Contact',
    document: DeleteContactDocument,
    readAt: contactReadAt,
    answer: DELETED_CONTACT,
    variables: ({ id }) => ({ input: { id } }),
    respond: ({ result: { deletedId } }) => ({ message: 'Contact deleted', data: { id: deletedKey(deletedId) } }),
  }),
];
