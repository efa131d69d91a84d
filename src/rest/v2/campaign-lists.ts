import { selectionOf } from '../openapi/schema.ts';
import { body, flag, object, requiredText, text } from '../runtime/fields.ts';
import { listResponse, type Route, requireRow, route } from '../runtime/route.ts';
import { listPreview, MAPPING_NAMES, recipientListRowBy, UPLOADED_LIST } from '../wire/campaigns.ts';
import {
  AddRecipientListRowsDocument,
  CreateRecipientListDocument,
  DeleteRecipientListDocument,
  GetRecipientListDocument,
  ListRecipientListsDocument,
  PreviewRecipientListDocument,
} from '../wire/documents.generated.ts';
import { camelKeys } from '../wire/names.ts';
import { time } from '../wire/values.ts';

const listRow = recipientListRowBy(time);

const FILE = {
  csv: requiredText({ description: 'A CSV file: a line with the names of the columns, then rows.' }),
  mapping: object({
    phone: requiredText(),
    first_name: text(),
    last_name: text(),
    company: text(),
    email: text(),
    city: text(),
    time_zone: text(),
  }),
};

/** Uploaded lists of people for campaigns. */
export const recipientListRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/campaigns/lists',
    document: ListRecipientListsDocument,
    list: UPLOADED_LIST,
    answer: selectionOf('list.nodes'),
    variables: ({ list }) => list,
    respond: ({ list: connection }, { list }) => listResponse('Lists', connection, list, listRow),
  }),
  route({
    method: 'GET',
    path: '/campaigns/lists/:id',
    resource: 'RecipientList',
    document: GetRecipientListDocument,
    answer: selectionOf('row'),
    variables: ({ id }) => ({ id }),
    respond: ({ row }) => ({ message: 'List', data: listRow(requireRow(row, 'RecipientList')) }),
  }),
  route({
    method: 'POST',
    path: '/campaigns/lists',
    document: CreateRecipientListDocument,
    status: 201,
    body: body({
      name: requiredText({ maxLength: 255 }),
      ...FILE,
      is_complete: flag(),
    }),
    answer: selectionOf('result.row'),
    example: { name: 'Fair', csv: 'phone,code\n+4915123456789,A1', mapping: { phone: 'phone' } },
    names: MAPPING_NAMES,
    variables: ({ call, body: given }) => ({ input: camelKeys({ ...given, idempotencyKey: call.idempotencyKey }) }),
    respond: ({ result: { row } }) => ({ message: 'List created', data: listRow(requireRow(row, 'RecipientList')) }),
  }),
  route({
    method: 'POST',
    path: '/campaigns/lists/preview',
    document: PreviewRecipientListDocument,
    body: body(FILE),
    answer: selectionOf('result.preview'),
    example: { csv: 'phone,code\n+4915123456789,A1', mapping: { phone: 'phone' } },
    names: MAPPING_NAMES,
    variables: ({ body: given }) => ({ input: camelKeys(given) }),
    respond: ({ result: { preview } }) => ({
      message: 'Preview',
      data: listPreview(requireRow(preview, 'RecipientList')),
    }),
  }),
  route({
    method: 'POST',
    path: '/campaigns/lists/:id/rows',
    resource: 'RecipientList',
    document: AddRecipientListRowsDocument,
    body: body({
      csv: requiredText({ description: 'A CSV file with the columns of the list.' }),
      is_complete: flag(),
    }),
    answer: selectionOf('result.row'),
    example: { csv: 'phone,code\n+4915123456780,A2' },
    errors: ['CONFLICT'],
    variables: ({ call, id, body: given }) => ({
      input: camelKeys({ ...given, id, idempotencyKey: call.idempotencyKey }),
    }),
    respond: ({ result: { row } }) => ({ message: 'Rows added', data: listRow(requireRow(row, 'RecipientList')) }),
  }),
  route({
    method: 'DELETE',
    path: '/campaigns/lists/:id',
    resource: 'RecipientList',
    document: DeleteRecipientListDocument,
    errors: ['CONFLICT'],
    variables: ({ id }) => ({ input: { id } }),
    respond: (_data, { id }) => ({ message: 'List deleted', data: { id: Number(id) } }),
  }),
];
