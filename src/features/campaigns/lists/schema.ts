import { requireId } from '../../../core/global-ids.ts';
import { tenantOf } from '../../../core/principal.ts';
import { builder, IDEMPOTENCY_KEY } from '../../../schema/builder.ts';
import { databaseId } from '../../../schema/database-id.ts';
import { deleteMutation } from '../../../schema/delete-mutation.ts';
import { DATES, listQueries } from '../../../schema/list-queries.ts';
import { StringFilter } from '../../../schema/lists.ts';
import { entityPayload, mutation } from '../../../schema/payload.ts';
import { MAX } from '../campaign.ts';
import { isComplete, type ListError, MAX_LIST, type RecipientListRow } from './list-row.ts';
import { uploadedListPage } from './page.ts';
import { removeList } from './remove.ts';
import { getErrors, getLists } from './store.ts';
import { addRows, createList } from './upload.ts';

export const ListErrorType = builder.objectRef<ListError>('RecipientListError').implement({
  description: 'A row of an uploaded file that was left out.',
  fields: t => ({
    row: t.exposeInt('row_number', { description: 'Number of the row, from 1, without the line of column names.' }),
    message: t.exposeString('message', { description: 'What is wrong with it.' }),
  }),
});

export const RecipientList = builder.objectRef<RecipientListRow>('RecipientList');

builder.node(RecipientList, {
  name: 'RecipientList',
  description: 'An uploaded list of people for campaigns, with values of its own for each of them.',
  id: { resolve: list => list.id },
  brandLoadedObjects: true,
  loadManyWithoutCache: async (ids, context) => {
    if (!context.principal?.scopes.has('campaigns:read')) return ids.map(() => undefined);
    const rows = await getLists(context.db.read, tenantOf(context), ids.map(Number).filter(Number.isSafeInteger));
    return ids.map(id => rows.find(row => row.id === Number(id)));
  },
  fields: t => ({
    databaseId: databaseId(t),
    name: t.exposeString('name', { description: 'Name of the list.' }),
    columns: t.stringList({
      description: 'Names of the columns. A template gets the value of a column by `@{column.name|fallback}`.',
      resolve: ({ columns }) => [...columns],
    }),
    isComplete: t.boolean({
      description: 'False while parts of an upload are missing: it is not listed, and no audience.',
      resolve: isComplete,
    }),
    rowCount: t.exposeInt('row_count', { description: 'Rows that are people.' }),
    errorCount: t.exposeInt('error_count', { description: 'Rows that were left out.' }),
    errors: t.field({
      type: [ListErrorType],
      description: `The rows that were left out, at most ${MAX_LIST.errors} of them.`,
      // At most 100, but most lists have none: a page of lists is one point.
      extensions: { listSize: 20 },
      resolve: ({ id }, _args, context) => getErrors(context.db.read, tenantOf(context), id),
    }),
    createdAt: t.expose('created_at', { type: 'DateTime', description: 'Time of creation.' }),
    updatedAt: t.expose('updated_at', { type: 'DateTime', description: 'Time at which rows were last added.' }),
  }),
});

listQueries(RecipientList, {
  list: 'recipientLists',
  one: 'recipientList',
  noun: 'uploaded list',
  plural: 'uploaded lists',
  description: 'Lists the uploaded lists of people, newest first by default. `search` matches names.',
  scope: 'campaigns:read',
  filter: t => ({
    name: t.field({ type: StringFilter, description: 'Name of the list.' }),
  }),
  order: {
    NAME: { value: 'name', description: 'Name of the list.' },
  },
  dates: { createdAt: DATES.createdAt },
  page: uploadedListPage,
  get: getLists,
});

export const MappingInputType = builder.inputType('RecipientListMappingInput', {
  description: 'The columns that have the number and the fields of a contact, by their names in the first line.',
  fields: t => ({
    phone: t.string({ required: true, description: 'Column with the phone number.' }),
    firstName: t.string({ description: 'Column with the first name, for contacts that the upload creates.' }),
    lastName: t.string({ description: 'Column with the last name, for contacts that the upload creates.' }),
    company: t.string({ description: 'Column with the company, for contacts that the upload creates.' }),
    email: t.string({ description: 'Column with the e-mail address, for contacts that the upload creates.' }),
    city: t.string({ description: 'Column with the city, for contacts that the upload creates.' }),
    timeZone: t.string({ description: 'Column with the time zone, for contacts that the upload creates.' }),
  }),
});

export const CSV = `A CSV file: a line with the names of the columns, then at most ${MAX_LIST.upload} rows. A value may have at most ${MAX_LIST.value} characters, the values of a row ${MAX_LIST.row} together.`;

const CreateInput = builder.inputType('CreateRecipientListInput', {
  description: 'An uploaded list of people.',
  fields: t => ({
    name: t.string({ required: true, description: `Name of the list, at most ${MAX.name} characters.` }),
    csv: t.string({ required: true, description: CSV }),
    mapping: t.field({
      type: MappingInputType,
      description: 'Which columns have which fields. Default: the number is in the column `phone`.',
    }),
    isComplete: t.boolean({
      description:
        'False: `addRecipientListRows` adds further parts, and the list is not listed, and no audience, until the last one. Default: true.',
    }),
    idempotencyKey: t.string({ description: IDEMPOTENCY_KEY }),
  }),
});

const AddInput = builder.inputType('AddRecipientListRowsInput', {
  description: 'Further rows of a list.',
  fields: t => ({
    id: t.id({ required: true, description: 'Global id or databaseId of the list.' }),
    csv: t.string({ required: true, description: `${CSV} The columns are those of the list.` }),
    isComplete: t.boolean({
      description: 'False: further parts follow, for a list that is not complete. Default: true.',
    }),
    idempotencyKey: t.string({ description: IDEMPOTENCY_KEY }),
  }),
});

const ListPayload = entityPayload('recipientList', RecipientList, 'The list after the mutation.');

mutation('createRecipientList', {
  description:
    'Uploads a list of people for campaigns. Numbers that no contact has become contacts; contacts that exist are not changed.',
  scope: ['campaigns:write', 'contacts:write'],
  input: CreateInput,
  payload: ListPayload,
  resolve: async (input, context) => ({ recipientList: await createList(context, input) }),
});
mutation('addRecipientListRows', {
  description: `Adds rows to an uploaded list, which may have at most ${MAX_LIST.rows} rows.`,
  scope: ['campaigns:write', 'contacts:write'],
  input: AddInput,
  payload: ListPayload,
  resolve: async ({ id, ...input }, context) => ({
    recipientList: await addRows(context, { ...input, id: requireId(tenantOf(context), 'RecipientList', id) }),
  }),
});
deleteMutation('RecipientList', {
  noun: 'list',
  description: 'Deletes an uploaded list that no waiting or running campaign uses. Its people remain contacts.',
  scope: 'campaigns:write',
  remove: removeList,
});
