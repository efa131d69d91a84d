import type { TypedDocumentNode } from '@graphql-typed-document-node/core';
import type { z } from 'zod';
import { body, dropUndefined, requiredText, text } from '../runtime/fields.ts';
import type { ListArguments, ListFields } from '../runtime/query.ts';
import { listResponse, type Route, requireRow, route } from '../runtime/route.ts';
import type { Switches } from '../runtime/sparse.ts';
import {
  type ContactGroupFilter,
  type ContactGroupOrderField,
  type CreateContactStatusInput,
  CreateGroupDocument,
  CreateSourceDocument,
  CreateStatusDocument,
  DeleteGroupDocument,
  DeleteSourceDocument,
  DeleteStatusDocument,
  GetGroupDocument,
  GetSourceDocument,
  GetStatusDocument,
  ListGroupsDocument,
  ListSourcesDocument,
  ListStatusesDocument,
  type UpdateContactStatusInput,
  UpdateGroupDocument,
  UpdateSourceDocument,
  UpdateStatusDocument,
} from './documents.generated.ts';
import { rowKey, type WriteTime } from './values.ts';

const LABEL_LIST: ListFields<ContactGroupFilter, ContactGroupOrderField> = {
  filters: {
    id: ['id', 'id'],
    name: ['name', 'text'],
    created_at: ['createdAt', 'time'],
    updated_at: ['updatedAt', 'time'],
  },
  sorts: { id: 'ID', name: 'NAME', created_at: 'CREATED_AT', updated_at: 'UPDATED_AT' },
};

interface LabelRow {
  readonly id?: string;
  readonly name?: string;
  readonly color?: string;
  readonly contacts_count?: number | null;
  readonly created_at?: string;
  readonly updated_at?: string;
}

/** A label in REST, in the order of the contract. Fields that were not read, or that its kind lacks, stay undefined, which JSON omits. */
export const labelRow = (row: LabelRow, time: WriteTime) => ({
  id: rowKey(row.id),
  name: row.name,
  color: row.color,
  contacts_count: row.contacts_count ?? undefined,
  created_at: time(row.created_at),
  updated_at: time(row.updated_at),
});

interface Page {
  readonly list: { readonly totalCount: number; readonly nodes: readonly LabelRow[] };
}
interface One {
  readonly result: { readonly row: LabelRow | null };
}
/** One kind of label: groups, sources and statuses differ only in this, and in the color that only statuses have. */
interface LabelKind {
  readonly path: string;
  readonly type: 'Group' | 'Source' | 'Status';
  readonly plural: string;
  readonly documents: {
    readonly list: TypedDocumentNode<Page, ListArguments<ContactGroupFilter, ContactGroupOrderField> & Switches>;
    readonly get: TypedDocumentNode<{ readonly row: LabelRow | null }, { readonly id: string } & Switches>;
    readonly create: TypedDocumentNode<One, { readonly input: CreateContactStatusInput } & Switches>;
    readonly update: TypedDocumentNode<One, { readonly input: UpdateContactStatusInput } & Switches>;
    readonly remove: TypedDocumentNode<unknown, { readonly input: { readonly id: string } }>;
  };
  readonly example: { readonly name: string; readonly color?: string };
}

const KINDS: readonly LabelKind[] = [
  {
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
  },
  {
    path: '/sources',
    type: 'Source',
    plural: 'Sources',
    documents: {
      list: ListSourcesDocument,
      get: GetSourceDocument,
      create: CreateSourceDocument,
      update: UpdateSourceDocument,
      remove: DeleteSourceDocument,
    },
    example: { name: 'Trade fair' },
  },
  {
    path: '/statuses',
    type: 'Status',
    plural: 'Statuses',
    documents: {
      list: ListStatusesDocument,
      get: GetStatusDocument,
      create: CreateStatusDocument,
      update: UpdateStatusDocument,
      remove: DeleteStatusDocument,
    },
    example: { name: 'Won', color: '#2E7D32' },
  },
];

const NAME = { minLength: 1, maxLength: 150 };

/** The routes of groups, sources and statuses. @param update PUT requires the name */
export const labelRoutes = (update: 'PATCH' | 'PUT', time: WriteTime): Route[] =>
  KINDS.flatMap(kind => routesOf(kind, update, time));

/** A replacement keeps the color of a status if the client sends null. */
const withoutNull = <Body extends { readonly color?: string | null | undefined }>({ color, ...body }: Body) => ({
  ...body,
  color: color ?? undefined,
});

function routesOf(
  { path, type, plural, documents, example }: LabelKind,
  update: 'PATCH' | 'PUT',
  time: WriteTime,
): Route[] {
  const one = `${path}/:id`;
  const rowOf = (row: LabelRow) => labelRow(row, time);
  const color = type === 'Status' ? { color: text() } : {};
  const complete = body({ name: requiredText(NAME), ...color }) as z.ZodType<CreateContactStatusInput>;
  const partial = body({ name: text(NAME), ...color }) as z.ZodType<Omit<UpdateContactStatusInput, 'id'>>;
  return [
    route({
      method: 'GET',
      path,
      document: documents.list,
      list: LABEL_LIST,
      variables: ({ list }) => ({ ...list }),
      respond: ({ list: connection }, { list }) => listResponse(plural, connection, list, rowOf),
    }),
    route({
      method: 'GET',
      path: one,
      resource: type,
      document: documents.get,
      variables: ({ id }) => ({ id }),
      respond: ({ row }) => ({ message: type, data: rowOf(requireRow(row, type)) }),
    }),
    route({
      method: 'POST',
      path,
      document: documents.create,
      status: 201,
      body: complete,
      example,
      variables: ({ call, body }) => ({ input: dropUndefined({ ...body, idempotencyKey: call.idempotencyKey }) }),
      respond: ({ result: { row } }) => ({ message: `${type} created`, data: rowOf(requireRow(row, type)) }),
    }),
    route({
      method: update,
      path: one,
      resource: type,
      document: documents.update,
      body: update === 'PUT' ? complete : partial,
      example,
      variables: ({ call, id, body }) => ({
        input: dropUndefined({
          ...(update === 'PUT' ? withoutNull(body) : body),
          id,
          idempotencyKey: call.idempotencyKey,
        }),
      }),
      respond: ({ result: { row } }) => ({ message: `${type} updated`, data: rowOf(requireRow(row, type)) }),
    }),
    route({
      method: 'DELETE',
      path: one,
      resource: type,
      document: documents.remove,
      ...(type !== 'Group' && { errors: ['CONFLICT'] }),
      variables: ({ id }) => ({ input: { id } }),
      respond: (_data, { id }) => ({ message: `${type} deleted`, data: { id: Number(id) } }),
    }),
  ];
}
