import type { TypedDocumentNode } from '@graphql-typed-document-node/core';
import { notFound } from '../../errors.ts';
import { type Body, said } from '../body.ts';
import type { Call } from '../call.ts';
import type { GroupFilter, GroupOrderField } from '../documents.generated.ts';
import { type ListArguments, type ListFields, readList } from '../list-query.ts';
import { given, required } from '../openapi/shape.ts';
import { readShown, rowFields } from '../query.ts';
import { type Route, route } from '../route.ts';
import type { Switches } from '../sparse.ts';
import { time, type WriteTime } from '../wire-time.ts';

const LABELS: ListFields<GroupFilter, GroupOrderField> = {
  filters: {
    id: ['id', 'id'],
    name: ['name', 'text'],
    created_at: ['createdAt', 'time'],
    updated_at: ['updatedAt', 'time'],
  },
  sorts: { id: 'ID', name: 'NAME', created_at: 'CREATED_AT', updated_at: 'UPDATED_AT' },
};

interface LabelRow {
  readonly id?: number;
  readonly name?: string;
  readonly color?: string;
  readonly contacts_count?: number;
  readonly created_at?: string;
  readonly updated_at?: string;
}

/** A label on the wire, in the order of the contract. What was not read, or is not of its kind, is undefined, and so not written. */
const labelRow = (row: LabelRow, time: WriteTime) => ({
  id: row.id,
  name: row.name,
  color: row.color,
  contacts_count: row.contacts_count,
  created_at: time(row.created_at),
  updated_at: time(row.updated_at),
});

interface Page {
  readonly list: { readonly totalCount: number; readonly nodes: readonly LabelRow[] };
}
interface One {
  readonly row: LabelRow;
}
interface Create {
  readonly name: string;
  readonly color?: string | null | undefined;
  readonly idempotencyKey?: string | undefined;
}
type Update = Omit<Create, 'name'> & { readonly name?: string | null | undefined };

/** One kind of label: groups, sources and statuses differ in these points alone. */
export interface LabelKind {
  readonly path: string;
  /** As messages name it. */
  readonly type: 'Group' | 'Source' | 'Status';
  readonly plural: string;
  readonly documents: {
    readonly list: TypedDocumentNode<Page, ListArguments<GroupFilter, GroupOrderField> & Switches>;
    readonly get: TypedDocumentNode<{ readonly row: LabelRow | null }, { readonly id: string } & Switches>;
    readonly create: TypedDocumentNode<One, { readonly input: Create } & Switches>;
    readonly update: TypedDocumentNode<One, { readonly id: string; readonly input: Update } & Switches>;
    readonly remove: TypedDocumentNode<{ readonly row: { readonly id: number } }, { readonly id: string }>;
  };
  /** A body that makes one, as an example. */
  readonly example: object;
  /** Further fields of the input. */
  input(body: Body): Pick<Create, 'color'>;
}

/** How a version tells of labels, and has them changed. */
export interface LabelStyle {
  /** PUT has to say the name. */
  readonly update: 'PATCH' | 'PUT';
  readonly time: WriteTime;
  /** Whether `fields` chooses what is shown. */
  readonly sparse: boolean;
}

const STYLE: LabelStyle = { update: 'PATCH', time, sparse: true };

export function labelRoutes(
  { path, type, plural, documents, example, input }: LabelKind,
  { update, time, sparse }: LabelStyle = STYLE,
): Route[] {
  const one = `${path}/:id`;
  const fields = rowFields(documents.list);
  const shownOf = (call: Call): Switches => (sparse ? readShown(call.query, fields, call.errors) : {});
  const rowOf = (row: LabelRow) => labelRow(row, time);
  return [
    route({
      method: 'GET',
      path,
      document: documents.list,
      list: LABELS,
      plan: call => {
        const list = readList(call.query, LABELS, call.errors);
        return {
          variables: { ...list, ...shownOf(call) },
          respond: ({ list: { nodes, totalCount } }) => ({
            message: plural,
            data: nodes.map(rowOf),
            page: { ...list, total: totalCount },
          }),
        };
      },
    }),
    route({
      method: 'GET',
      path: one,
      document: documents.get,
      plan: call => ({
        variables: { id: call.id(type), ...shownOf(call) },
        respond: ({ row }) => {
          if (!row) throw notFound(type);
          return { message: type, data: rowOf(row) };
        },
      }),
    }),
    route({
      method: 'POST',
      path,
      document: documents.create,
      status: 201,
      example,
      plan: call => {
        const body = call.body();
        const given = said({ name: body.requiredText('name'), ...input(body), idempotencyKey: call.idempotencyKey });
        return {
          variables: { input: given, ...shownOf(call) },
          respond: ({ row }) => ({ message: `${type} created`, data: rowOf(row) }),
        };
      },
    }),
    route({
      method: update,
      ...(update === 'PUT' && { body: given('input', { with: { name: required(given('input.name')) } }) }),
      path: one,
      document: documents.update,
      example,
      plan: call => {
        const body = call.body();
        const given = said({
          name: update === 'PUT' ? body.requiredText('name') : body.text('name'),
          ...input(body),
          idempotencyKey: call.idempotencyKey,
        });
        return {
          variables: { id: call.id(type), input: given, ...shownOf(call) },
          respond: ({ row }) => ({ message: `${type} updated`, data: rowOf(row) }),
        };
      },
    }),
    route({
      method: 'DELETE',
      path: one,
      document: documents.remove,
      ...(type !== 'Group' && { errors: ['CONFLICT'] }),
      plan: call => ({
        variables: { id: call.id(type) },
        respond: ({ row }) => ({ message: `${type} deleted`, data: row }),
      }),
    }),
  ];
}
