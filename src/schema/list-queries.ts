import type { ObjectRef } from '@pothos/core';
import type { GraphQLResolveInfo } from 'graphql';
import type { ListArgs } from '../core/list-args.ts';
import type { Scope } from '../core/scopes.ts';
import { builder } from './builder.ts';
import type { Context } from './context.ts';
import {
  type ConnectionPage,
  connectionOf,
  DateTimeFilter,
  type FilterFields,
  filterOf,
  IDFilter,
  listArgs,
  type OrderKeys,
  orderOf,
} from './lists.ts';
import { findByNumber, type Getter } from './nodes.ts';

type Types = typeof builder.$inferSchemaTypes;

interface ListQueries<Row extends object> {
  /** Root field of the list: `cannedReplies`. */
  readonly list: string;
  /** Root field of one object: `cannedReply`. */
  readonly one: string;
  /** The type in descriptions, and its plural: `canned reply`, `canned replies`. */
  readonly noun: string;
  readonly plural: string;
  /** Of the list. */
  readonly description: string;
  readonly scope: Scope;
  /** Conditions in addition to those on id and dates. */
  readonly filter?: FilterFields;
  /** Sort keys in addition to id and dates. */
  readonly order?: OrderKeys;
  /** Column that orders by id. */
  readonly idOrder?: string;
  /** Date columns of a row; `updatedAt` undefined: rows do not have it. */
  readonly dates?: { readonly createdAt: string; readonly updatedAt?: string };
  /** False for a list whose definition has no `search`. */
  readonly search?: boolean;
  page(context: Context, args: ListArgs, info: GraphQLResolveInfo): Promise<ConnectionPage<Row>>;
  readonly get: Getter<number, Row>;
}

/** Texts of `dates` for most lists. */
export const DATES = { createdAt: 'Time of creation.', updatedAt: 'Time of the last change.' };

/**
 * Defines the two queries of a type with numeric ids, its list and one object by its id, with `<Type>Connection`, `<Type>Filter`
 * and `<Type>Order`. Filter and order have the id and the dates; their names are those of the `ListDefinition`.
 */
export function listQueries<Row extends object>(type: ObjectRef<Types, Row>, options: ListQueries<Row>): void {
  const { noun, plural, dates = DATES, scope } = options;
  const dateKeys = [
    { key: 'CREATED_AT', value: 'createdAt', description: dates.createdAt },
    ...(dates.updatedAt ? [{ key: 'UPDATED_AT', value: 'updatedAt', description: dates.updatedAt }] : []),
  ];
  const Filter = filterOf(type.name, plural, t => ({
    id: t.field({ type: IDFilter, description: `Id of the ${noun}.` }),
    ...options.filter?.(t),
    ...Object.fromEntries(
      dateKeys.map(({ value, description }) => [value, t.field({ type: DateTimeFilter, description })]),
    ),
  }));
  const Order = orderOf(type.name, plural, {
    ID: { value: 'id', description: options.idOrder ?? 'Order of creation.' },
    ...options.order,
    ...Object.fromEntries(dateKeys.map(({ key, ...order }) => [key, order])),
  });
  builder.queryFields(t => ({
    [options.list]: t.field({
      type: connectionOf(type.name, type),
      description: options.description,
      authScopes: { scope },
      args: listArgs(Filter, Order, { search: options.search ?? true }),
      resolve: (_root, args, context, info) => options.page(context, args, info),
    }),
    [options.one]: t.field({
      type,
      nullable: true,
      description: `Returns one ${noun}; null if there is none.`,
      authScopes: { scope },
      args: { id: t.arg.id({ required: true, description: `Global id or databaseId of the ${noun}.` }) },
      resolve: ((_root: unknown, { id }: { readonly id: string }, context: Context) =>
        findByNumber(context, type.name, id, options.get)) as never,
    }),
  }));
}
