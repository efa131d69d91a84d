import { requireId } from '../../../core/global-ids.ts';
import { tenantOf } from '../../../core/principal.ts';
import { type ListDefinition, listColumns, readPage } from '../../../database/list.ts';
import { builder, IDEMPOTENCY_KEY } from '../../../schema/builder.ts';
import { databaseId } from '../../../schema/database-id.ts';
import { deleteMutation } from '../../../schema/delete-mutation.ts';
import { inputJson } from '../../../schema/input-json.ts';
import { listQueries } from '../../../schema/list-queries.ts';
import { StringFilter } from '../../../schema/lists.ts';
import { nodesByNumber } from '../../../schema/nodes.ts';
import { entityPayload, mutation } from '../../../schema/payload.ts';
import { ContactFilter } from '../inputs.ts';
import { changeSavedFilter, createSavedFilter, removeSavedFilter } from './change.ts';
import { MAX_NAME, MAX_SAVED, type SavedFilterRow } from './saved-filter.ts';
import { getSavedFilters, SAVED_FILTER_COLUMNS } from './store.ts';

export const SavedFilter = builder.objectRef<SavedFilterRow>('SavedFilter');

builder.node(SavedFilter, {
  name: 'SavedFilter',
  description: 'A filter of contacts with a name, shared by the account.',
  id: { resolve: row => row.id },
  brandLoadedObjects: true,
  loadManyWithoutCache: nodesByNumber('contacts:read', getSavedFilters),
  fields: t => ({
    databaseId: databaseId(t),
    name: t.exposeString('name', { description: 'Name of the filter; unique in the account, ignoring case.' }),
    filter: t.field({
      type: 'JSON',
      description: 'The filter, as `ContactFilter` writes it.',
      resolve: ({ filter }, _args, _context, { schema }) => inputJson(schema, 'ContactFilter', filter),
    }),
    createdAt: t.expose('created_at', { type: 'DateTime', description: 'Time of creation.' }),
    updatedAt: t.expose('updated_at', { type: 'DateTime', description: 'Time of the last change.' }),
  }),
});

const column = listColumns('saved_filters', 't');
const id = column('id', 'bigint');
const name = column('name', 'text');
const dates = { createdAt: column('created_at', 'timestamptz'), updatedAt: column('updated_at', 'timestamptz') };
const SAVED_FILTERS: ListDefinition = {
  from: 'saved_filters t',
  tenantColumn: 't.tenant_id',
  filters: { id: { ...id, node: 'SavedFilter' }, name, ...dates },
  sorts: { id, name, ...dates },
  id,
  defaultOrder: [{ column: name, descending: false }],
  search: 'search_fold(t.name)',
};

listQueries(SavedFilter, {
  list: 'savedFilters',
  one: 'savedFilter',
  noun: 'saved filter',
  plural: 'saved filters',
  description: 'Lists the saved filters of contacts, by name.',
  scope: 'contacts:read',
  filter: t => ({ name: t.field({ type: StringFilter, description: 'Name of the filter.' }) }),
  order: { NAME: { value: 'name', description: 'Name of the filter.' } },
  page: (context, args) =>
    readPage<SavedFilterRow>(
      context.db.read,
      SAVED_FILTERS,
      tenantOf(context),
      args,
      SAVED_FILTER_COLUMNS.map(one => `t.${one}` as const),
    ),
  get: getSavedFilters,
});

const SavedFilterPayload = entityPayload('savedFilter', SavedFilter, 'The saved filter after the mutation.');
const NAME = `Name of the filter, 1 to ${MAX_NAME} characters; unique in the account, ignoring case.`;

mutation('createSavedFilter', {
  description: `Saves a filter of contacts under a name; an account may have ${MAX_SAVED}.`,
  scope: 'contacts:write',
  input: builder.inputType('CreateSavedFilterInput', {
    description: 'A filter to save.',
    fields: t => ({
      name: t.string({ required: true, description: NAME }),
      filter: t.field({ type: ContactFilter, required: true, description: 'The conditions that contacts meet.' }),
      idempotencyKey: t.string({ description: IDEMPOTENCY_KEY }),
    }),
  }),
  payload: SavedFilterPayload,
  resolve: async (input, context) => ({ savedFilter: await createSavedFilter(context, input) }),
});
mutation('updateSavedFilter', {
  description: 'Changes a saved filter. Campaigns that were made from it keep the filter that they have.',
  scope: 'contacts:write',
  input: builder.inputType('UpdateSavedFilterInput', {
    description: 'Changes to a saved filter. Omitted fields keep their values.',
    fields: t => ({
      id: t.id({ required: true, description: 'Global id or databaseId of the saved filter.' }),
      name: t.string({ description: NAME }),
      filter: t.field({ type: ContactFilter, description: 'The conditions that contacts meet.' }),
      idempotencyKey: t.string({ description: IDEMPOTENCY_KEY }),
    }),
  }),
  payload: SavedFilterPayload,
  resolve: async ({ id: text, ...input }, context) => ({
    savedFilter: await changeSavedFilter(context, requireId(tenantOf(context), 'SavedFilter', text), input),
  }),
});
deleteMutation('SavedFilter', {
  noun: 'saved filter',
  description: 'Deletes a saved filter. Contacts and campaigns stay as they are.',
  scope: 'contacts:write',
  remove: removeSavedFilter,
});
