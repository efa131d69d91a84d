import type { EnumRef, InputRef, ObjectRef } from '@pothos/core';
import { builder } from '../../builder.ts';
import { type ListArgs, MAX_PAGE_SIZE, type Page } from './list.ts';

/** Inputs and objects that every list shares. */

type Types = typeof builder.$inferSchemaTypes;

const OrderDirection = builder.enumType('OrderDirection', {
  description: 'Which end of an order comes first.',
  values: {
    ASC: { value: 'asc', description: 'Smallest first.' },
    DESC: { value: 'desc', description: 'Largest first.' },
  } as const,
});

export const IDFilter = builder.inputType('IDFilter', {
  description: 'Compares an id (a global id, or a `databaseId`). Several conditions all have to hold.',
  fields: t => ({
    eq: t.id({ description: 'Equal.' }),
    ne: t.id({ description: 'Not equal, or none.' }),
    gt: t.id({ description: 'Greater.' }),
    gte: t.id({ description: 'Greater or equal.' }),
    lt: t.id({ description: 'Less.' }),
    lte: t.id({ description: 'Less or equal.' }),
    in: t.idList({ description: 'One of these.' }),
    notIn: t.idList({ description: 'None of these.' }),
    between: t.idList({ description: 'From the first to the second value, both included.' }),
    isNull: t.boolean({ description: 'Has none (true) or has one (false).' }),
  }),
});

export const StringFilter = builder.inputType('StringFilter', {
  description: 'Compares text. Several conditions all have to hold.',
  fields: t => ({
    eq: t.string({ description: 'Equal.' }),
    ne: t.string({ description: 'Not equal, or none.' }),
    gt: t.string({ description: 'Sorts after.' }),
    gte: t.string({ description: 'Sorts after, or is equal.' }),
    lt: t.string({ description: 'Sorts before.' }),
    lte: t.string({ description: 'Sorts before, or is equal.' }),
    like: t.string({ description: 'Contains, whatever the case; `%` stands for any text and `_` for one character.' }),
    in: t.stringList({ description: 'One of these.' }),
    notIn: t.stringList({ description: 'None of these.' }),
    between: t.stringList({ description: 'From the first to the second value, both included.' }),
    isNull: t.boolean({ description: 'Has none (true) or has one (false).' }),
  }),
});

export const DateTimeFilter = builder.inputType('DateTimeFilter', {
  description: 'Compares an instant. Several conditions all have to hold.',
  fields: t => ({
    eq: t.field({ type: 'DateTime', description: 'At this instant.' }),
    ne: t.field({ type: 'DateTime', description: 'At another instant, or never.' }),
    gt: t.field({ type: 'DateTime', description: 'After.' }),
    gte: t.field({ type: 'DateTime', description: 'At or after.' }),
    lt: t.field({ type: 'DateTime', description: 'Before.' }),
    lte: t.field({ type: 'DateTime', description: 'At or before.' }),
    in: t.field({ type: ['DateTime'], description: 'At one of these.' }),
    notIn: t.field({ type: ['DateTime'], description: 'At none of these.' }),
    between: t.field({ type: ['DateTime'], description: 'From the first to the second instant, both included.' }),
    isNull: t.boolean({ description: 'Never (true) or at some time (false).' }),
  }),
});

export const BooleanFilter = builder.inputType('BooleanFilter', {
  description: 'Compares yes and no.',
  fields: t => ({
    eq: t.boolean({ description: 'Equal.' }),
    ne: t.boolean({ description: 'Not equal, or none.' }),
    in: t.booleanList({ description: 'One of these.' }),
    notIn: t.booleanList({ description: 'None of these.' }),
    isNull: t.boolean({ description: 'Has none (true) or has one (false).' }),
  }),
});

/** Defines `<Enum>Filter`: what can be asked of a field that is one of a closed list of words. */
export const enumFilter = <Word extends string>(of: EnumRef<Types, Word>) =>
  builder.inputType(`${of.name}Filter`, {
    description: `Compares a ${of.name}. Several conditions all have to hold.`,
    fields: t => ({
      eq: t.field({ type: of, description: 'Equal.' }),
      ne: t.field({ type: of, description: 'Not equal, or none.' }),
      in: t.field({ type: [of], description: 'One of these.' }),
      notIn: t.field({ type: [of], description: 'None of these.' }),
      isNull: t.boolean({ description: 'Has none (true) or has one (false).' }),
    }),
  });

/** Defines `<Name>Order` and `<Name>OrderField`. @param keys names in GraphQL with those of the list's definition */
export function orderOf(
  name: string,
  plural: string,
  keys: Readonly<Record<string, { readonly value: string; readonly description: string }>>,
) {
  const Field = builder.enumType(`${name}OrderField`, {
    description: `What ${plural} can be sorted by.`,
    values: keys,
  });
  return builder.inputType(`${name}Order`, {
    description: `One key of the order of ${plural}.`,
    fields: t => ({
      field: t.field({ type: Field, required: true, description: 'What to sort by.' }),
      direction: t.field({
        type: OrderDirection,
        required: true,
        defaultValue: 'asc',
        description: 'Which end first.',
      }),
    }),
  });
}

const PAGE = `1 to ${MAX_PAGE_SIZE}`;

/** All arguments of a connection: where a page begins, what is in the list, in which order. */
export const listArgs = <Filter extends object>(
  filter: InputRef<Filter>,
  order: InputRef<NonNullable<ListArgs['orderBy']>[number]>,
) => ({
  ...pageArgs(),
  ...builder.args(t => ({
    filter: t.field({ type: filter, description: 'Which of them.' }),
    orderBy: t.field({ type: [order], description: 'In which order; the id breaks ties.' }),
  })),
});

/** The paging arguments of a connection. `offset` is for page-numbered clients; cursors go on where a page ended, however far. */
const pageArgs = () =>
  builder.args(t => ({
    first: t.int({ description: `The first rows (${PAGE}; 20 when nothing is said).` }),
    after: t.string({ description: 'Begin behind this cursor.' }),
    last: t.int({ description: `The last rows (${PAGE}).` }),
    before: t.string({ description: 'End in front of this cursor.' }),
    offset: t.int({
      description: 'Skip this many rows (for numbered pages; a cursor is faster the further one goes).',
    }),
    search: t.string({ description: 'Text to look for.' }),
  }));

/** Defines `<Name>Connection` and `<Name>Edge` over pages of rows. Cursors are only made where they are asked for. */
export function connectionOf<Row extends object>(name: string, node: ObjectRef<Types, Row, Row>) {
  const edge = builder.objectRef<{ readonly row: Row; readonly page: Page<Row> }>(`${name}Edge`).implement({
    description: `A ${name} in a list, with its place there.`,
    fields: t => ({
      cursor: t.string({
        description: 'This place: pass it as `after` or `before`.',
        resolve: ({ row, page }) => page.cursor(row),
      }),
      node: t.field({ type: node, description: `The ${name}.`, resolve: ({ row }) => row as never }),
    }),
  });
  return builder.objectRef<Page<Row>>(`${name}Connection`).implement({
    description: `A page of a list of ${name} objects.`,
    fields: t => ({
      edges: t.field({
        type: [edge],
        description: 'The rows of this page with their cursors.',
        resolve: page => page.rows.map(row => ({ row, page })),
      }),
      nodes: t.field({ type: [node], description: 'The rows of this page.', resolve: page => page.rows as never }),
      pageInfo: t.field({
        type: builder.pageInfoRef(),
        description: 'Where this page stands in the list.',
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
        description: 'How many rows the whole list has. Counted only when selected.',
        resolve: page => page.total(),
      }),
    }),
  });
}
