import type { TypedDocumentNode } from '@graphql-typed-document-node/core';
import { notFound } from '../../errors.ts';
import { type Body, said } from '../body.ts';
import { type ListArguments, type ListFields, readList } from '../list-query.ts';
import { type RowFields, readShown, type Shown } from '../query.ts';
import { type Route, route } from '../route.ts';
import { time } from '../wire-time.ts';
import type { GroupFilter, GroupOrderField } from './documents.generated.ts';

type Filter = keyof GroupFilter;

const LABELS: ListFields<Filter, GroupOrderField> = {
  filters: {
    id: ['id', 'id'],
    name: ['name', 'text'],
    created_at: ['createdAt', 'time'],
    updated_at: ['updatedAt', 'time'],
  },
  sorts: { id: 'ID', name: 'NAME', created_at: 'CREATED_AT', updated_at: 'UPDATED_AT' },
};

interface LabelRow {
  readonly id: number;
  readonly name: string;
  readonly color?: string;
  readonly contacts_count?: number;
  readonly created_at: string;
  readonly updated_at: string;
}

/** The wire's order; what a kind has not is undefined, and so not written. */
const labelRow = (row: LabelRow, shown: Shown): object =>
  shown.pick({
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
export interface LabelKind<Extra> {
  readonly path: string;
  /** As messages name it. */
  readonly type: 'Group' | 'Source' | 'Status';
  readonly plural: string;
  readonly fields: RowFields;
  readonly documents: {
    readonly list: TypedDocumentNode<Page, ListArguments<Filter, GroupOrderField> & Extra>;
    readonly get: TypedDocumentNode<{ readonly row: LabelRow | null }, { readonly id: string } & Extra>;
    readonly create: TypedDocumentNode<One, { readonly input: Create } & Extra>;
    readonly update: TypedDocumentNode<One, { readonly id: string; readonly input: Update } & Extra>;
    readonly remove: TypedDocumentNode<{ readonly row: { readonly id: number } }, { readonly id: string }>;
  };
  /** Further variables of the documents. */
  extra(shown: Shown): Extra;
  /** Further fields of the input. */
  input(body: Body): Pick<Create, 'color'>;
}

export function labelRoutes<Extra extends object>({
  path,
  type,
  plural,
  fields,
  documents,
  extra,
  input,
}: LabelKind<Extra>): Route[] {
  const one = `${path}/:id`;
  return [
    route({
      method: 'GET',
      path,
      document: documents.list,
      plan: call => {
        const shown = readShown(call.query, fields, call.errors);
        const list = readList(call.query, LABELS, call.errors);
        return {
          variables: { ...list, ...extra(shown) },
          respond: ({ list: { nodes, totalCount } }) => ({
            message: plural,
            data: nodes.map(row => labelRow(row, shown)),
            page: { ...list, total: totalCount },
          }),
        };
      },
    }),
    route({
      method: 'GET',
      path: one,
      document: documents.get,
      plan: call => {
        const shown = readShown(call.query, fields, call.errors);
        return {
          variables: { id: call.id(type), ...extra(shown) },
          respond: ({ row }) => {
            if (!row) throw notFound(type);
            return { message: type, data: labelRow(row, shown) };
          },
        };
      },
    }),
    route({
      method: 'POST',
      path,
      document: documents.create,
      plan: call => {
        const body = call.body();
        const shown = fields.everything;
        const given = said({ name: body.requiredText('name'), ...input(body), idempotencyKey: call.idempotencyKey });
        return {
          variables: { input: given, ...extra(shown) },
          respond: ({ row }) => ({ status: 201, message: `${type} created`, data: labelRow(row, shown) }),
        };
      },
    }),
    route({
      method: 'PATCH',
      path: one,
      document: documents.update,
      plan: call => {
        const body = call.body();
        const shown = fields.everything;
        const given = said({ name: body.text('name'), ...input(body), idempotencyKey: call.idempotencyKey });
        return {
          variables: { id: call.id(type), input: given, ...extra(shown) },
          respond: ({ row }) => ({ message: `${type} updated`, data: labelRow(row, shown) }),
        };
      },
    }),
    route({
      method: 'DELETE',
      path: one,
      document: documents.remove,
      plan: call => ({
        variables: { id: call.id(type) },
        respond: ({ row }) => ({ message: `${type} deleted`, data: row }),
      }),
    }),
  ];
}
