import type { EnumRef, InputFieldRef, InputRef, InterfaceRef, ObjectRef } from '@pothos/core';
import {
  DEFAULT_PAGE_SIZE,
  type Filter,
  type ListArgs,
  MAX_CONDITIONS,
  MAX_FILTER_DEPTH,
  MAX_PAGE_SIZE,
} from '../core/list-args.ts';
import { builder } from './builder.ts';

/** Inputs and objects that every list shares. */

type Types = typeof builder.$inferSchemaTypes;

const OrderDirection = builder.enumType('OrderDirection', {
  description: 'Direction of a sort order.',
  values: {
    ASC: { value: 'asc', description: 'Ascending: smallest, earliest or first in the alphabet first.' },
    DESC: { value: 'desc', description: 'Descending: largest, latest or last in the alphabet first.' },
  } as const,
});

export const IDFilter = builder.inputType('IDFilter', {
  description: 'Conditions for an id, given as global id or databaseId; all of them must hold.',
  fields: t => ({
    eq: t.id({ description: 'Equal to this value.' }),
    ne: t.id({ description: 'Not equal to this value, or null.' }),
    gt: t.id({ description: 'Greater than this value.' }),
    gte: t.id({ description: 'Greater than or equal to this value.' }),
    lt: t.id({ description: 'Less than this value.' }),
    lte: t.id({ description: 'Less than or equal to this value.' }),
    in: t.idList({ description: 'Equal to one of these values.' }),
    notIn: t.idList({ description: 'Equal to none of these values, or null.' }),
    between: t.idList({ description: 'Between the two values, both included.' }),
    isNull: t.boolean({ description: 'True for rows without a value, false for rows with one.' }),
  }),
});

export const StringFilter = builder.inputType('StringFilter', {
  description: 'Conditions for a text; all of them must hold.',
  fields: t => ({
    eq: t.string({ description: 'Equal to this value.' }),
    ne: t.string({ description: 'Not equal to this value, or null.' }),
    gt: t.string({ description: 'Sorts after this value.' }),
    gte: t.string({ description: 'Sorts after this value, or equals it.' }),
    lt: t.string({ description: 'Sorts before this value.' }),
    lte: t.string({ description: 'Sorts before this value, or equals it.' }),
    like: t.string({
      description: 'Contains this text, ignoring case; `%` stands for any text and `_` for one character.',
    }),
    in: t.stringList({ description: 'Equal to one of these values.' }),
    notIn: t.stringList({ description: 'Equal to none of these values, or null.' }),
    between: t.stringList({ description: 'Between the two values, both included.' }),
    isNull: t.boolean({ description: 'True for rows without a value, false for rows with one.' }),
  }),
});

export const DateTimeFilter = builder.inputType('DateTimeFilter', {
  description: 'Conditions for an instant; all of them must hold.',
  fields: t => ({
    eq: t.field({ type: 'DateTime', description: 'At this instant.' }),
    ne: t.field({ type: 'DateTime', description: 'At another instant, or null.' }),
    gt: t.field({ type: 'DateTime', description: 'After this instant.' }),
    gte: t.field({ type: 'DateTime', description: 'At or after this instant.' }),
    lt: t.field({ type: 'DateTime', description: 'Before this instant.' }),
    lte: t.field({ type: 'DateTime', description: 'At or before this instant.' }),
    in: t.field({ type: ['DateTime'], description: 'At one of these instants.' }),
    notIn: t.field({ type: ['DateTime'], description: 'At none of these instants, or null.' }),
    between: t.field({ type: ['DateTime'], description: 'Between the two instants, both included.' }),
    isNull: t.boolean({ description: 'True for rows without a value, false for rows with one.' }),
  }),
});

export const IntFilter = builder.inputType('IntFilter', {
  description: 'Conditions for a whole number; all of them must hold.',
  fields: t => ({
    eq: t.int({ description: 'Equal to this value.' }),
    ne: t.int({ description: 'Not equal to this value, or null.' }),
    gt: t.int({ description: 'Greater than this value.' }),
    gte: t.int({ description: 'Greater than or equal to this value.' }),
    lt: t.int({ description: 'Less than this value.' }),
    lte: t.int({ description: 'Less than or equal to this value.' }),
    in: t.intList({ description: 'Equal to one of these values.' }),
    notIn: t.intList({ description: 'Equal to none of these values, or null.' }),
    between: t.intList({ description: 'Between the two values, both included.' }),
    isNull: t.boolean({ description: 'True for rows without a value, false for rows with one.' }),
  }),
});

export const BooleanFilter = builder.inputType('BooleanFilter', {
  description: 'Conditions for a Boolean; all of them must hold.',
  fields: t => ({
    eq: t.boolean({ description: 'Equal to this value.' }),
    ne: t.boolean({ description: 'Not equal to this value, or null.' }),
    in: t.booleanList({ description: 'Equal to one of these values.' }),
    notIn: t.booleanList({ description: 'Equal to none of these values, or null.' }),
    isNull: t.boolean({ description: 'True for rows without a value, false for rows with one.' }),
  }),
});

/** Defines `<Enum>Filter`: the conditions on a field of an enum type. */
export const enumFilter = <Word extends string>(of: EnumRef<Types, Word>) =>
  builder.inputType(`${of.name}Filter`, {
    description: `Conditions for a value of ${of.name}; all of them must hold.`,
    fields: t => ({
      eq: t.field({ type: of, description: 'Equal to this value.' }),
      ne: t.field({ type: of, description: 'Not equal to this value, or null.' }),
      in: t.field({ type: [of], description: 'Equal to one of these values.' }),
      notIn: t.field({ type: [of], description: 'Equal to none of these values, or null.' }),
      isNull: t.boolean({ description: 'True for rows without a value, false for rows with one.' }),
    }),
  });

/** How deep `and`, `or` and `not` may nest, and how many conditions a filter may have. */
const GRAMMAR = `Nested at most ${MAX_FILTER_DEPTH} deep, with at most ${MAX_CONDITIONS} conditions in all.`;

export type FilterFields = (
  t: PothosSchemaTypes.InputFieldBuilder<Types, 'InputObject'>,
) => Record<string, InputFieldRef<Types, unknown>>;

/**
 * Defines `<Name>Filter`: conditions on fields, all of which must hold, and `and`, `or` and `not` over such filters. Field names
 * are those of the list's definition.
 */
export function filterOf(name: string, plural: string, fields: FilterFields): InputRef<Filter> {
  const ref = builder.inputRef<Filter>(`${name}Filter`);
  return ref.implement({
    description: `Conditions for ${plural}; all of them must hold.`,
    fields: t => ({
      ...fields(t),
      and: t.field({ type: [ref], description: `All of these filters hold. ${GRAMMAR}` }),
      or: t.field({ type: [ref], description: `At least one of these filters holds. ${GRAMMAR}` }),
      not: t.field({ type: ref, description: `This filter does not hold. ${GRAMMAR}` }),
    }),
  });
}

/** Sort keys: names in GraphQL with those of the list's definition. */
export type OrderKeys = Readonly<Record<string, { readonly value: string; readonly description: string }>>;

/** Defines `<Name>Order` and `<Name>OrderField`. */
export function orderOf(name: string, plural: string, keys: OrderKeys) {
  const Field = builder.enumType(`${name}OrderField`, {
    description: `Fields by which ${plural} can be sorted.`,
    values: keys,
  });
  return builder.inputType(`${name}Order`, {
    description: `A sort key for ${plural}.`,
    fields: t => ({
      field: t.field({ type: Field, required: true, description: 'Field to sort by.' }),
      direction: t.field({
        type: OrderDirection,
        required: true,
        defaultValue: 'asc',
        description: 'Ascending or descending.',
      }),
    }),
  });
}

const PAGE = `1 to ${MAX_PAGE_SIZE}`;

/** Optional arguments of a connection. */
interface PageOptions {
  /** False for a list whose definition has no `search`. */
  readonly search?: boolean;
  /** False for connections below other objects: only REST's numbered pages of root lists need it. */
  readonly offset?: boolean;
}

/** All arguments of a connection: paging, filter and order. */
export const listArgs = <Filter extends object>(
  filter: InputRef<Filter>,
  order: InputRef<NonNullable<ListArgs['orderBy']>[number]>,
  options: PageOptions = {},
) => ({
  ...pageArgs(options),
  ...builder.args(t => ({
    filter: t.field({ type: filter, description: 'Returns only rows that meet these conditions.' }),
    orderBy: t.field({ type: [order], description: 'Sort keys, most significant first; ties are broken by id.' }),
  })),
});

/** Arguments of a connection that has cursors as its only paging. */
export const cursorArgs = () =>
  builder.args(t => ({
    first: t.int({ description: `Return this many rows from the start (${PAGE}; default ${DEFAULT_PAGE_SIZE}).` }),
    after: t.string({ description: 'Return the rows after this cursor.' }),
    last: t.int({ description: `Return this many rows from the end (${PAGE}).` }),
    before: t.string({ description: 'Return the rows before this cursor.' }),
  }));

/** The paging and search arguments of a connection. `offset` is for numbered pages. */
export const pageArgs = ({ search = true, offset = true }: PageOptions = {}) => ({
  ...cursorArgs(),
  ...builder.args(t => ({
    ...(offset && {
      offset: t.int({
        description: 'Skip this many rows, for numbered pages. Cursors are faster on later pages.',
      }),
    }),
    ...(search && { search: t.string({ description: 'Returns only rows that contain this text.' }) }),
  })),
});

/** One page of rows, as a connection shows it. */
export interface ConnectionPage<Row extends object> {
  readonly rows: readonly Row[];
  readonly hasNextPage: boolean;
  readonly hasPreviousPage: boolean;
  /** Counts the whole list; called only if the count is selected. */
  readonly total: () => Promise<number>;
  cursor(row: Row): string;
}

/** Defines `<Name>Connection` and `<Name>Edge` over pages of rows. Cursors are made only if they are selected. */
export function connectionOf<Row extends object>(
  name: string,
  node: ObjectRef<Types, Row, Row> | InterfaceRef<Types, Row, Row>,
) {
  const edge = builder.objectRef<{ readonly row: Row; readonly page: ConnectionPage<Row> }>(`${name}Edge`).implement({
    description: `${name} with its cursor.`,
    fields: t => ({
      cursor: t.string({
        description: 'Cursor of this row. Pass it as `after` or `before`.',
        resolve: ({ row, page }) => page.cursor(row),
      }),
      node: t.field({ type: node, description: `The ${name} at this position.`, resolve: ({ row }) => row as never }),
    }),
  });
  return builder.objectRef<ConnectionPage<Row>>(`${name}Connection`).implement({
    description: `One page of ${name} objects.`,
    fields: t => ({
      edges: t.field({
        type: [edge],
        description: 'The rows of this page with their cursors.',
        resolve: page => page.rows.map(row => ({ row, page })),
      }),
      nodes: t.field({ type: [node], description: 'The rows of this page.', resolve: page => page.rows as never }),
      pageInfo: t.field({
        type: builder.pageInfoRef(),
        description: 'The position of this page in the list.',
        resolve: page => {
          const [start, end] = [page.rows[0], page.rows.at(-1)];
          return {
            hasNextPage: page.hasNextPage,
            hasPreviousPage: page.hasPreviousPage,
            startCursor: start ? page.cursor(start) : null,
            endCursor: end ? page.cursor(end) : null,
          };
        },
      }),
      totalCount: t.int({
        description: 'Number of rows in the whole list. Counted only when selected.',
        resolve: page => page.total(),
      }),
    }),
  });
}
