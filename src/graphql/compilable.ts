import {
  defaultTypeResolver,
  type GraphQLAbstractType,
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  isAbstractType,
  isInterfaceType,
  isLeafType,
  isListType,
  isObjectType,
  lexicographicSortSchema,
} from 'graphql';
import type { Context } from '../context.ts';
import { encodeGlobalId } from '../global-ids.ts';

/**
 * A copy of the schema for the compiler, in which the leaves of nodes are properties instead of resolvers.
 *
 * graphql-jit reads a property where it stands, but for a resolver it makes three closures, an info and a path: nine
 * resolvers for each row of a list are most of what such a list costs to execute. And Relay's plugin makes an async
 * function of every `id`: two hundred promises for a page of 50 contacts. Here a row is wrapped into a view whose getters
 * call those resolvers (a page of 50 contacts with source, status and groups: 117 µs before, 45 with it).
 *
 * What a leaf of a node may not do is wait. A resolver of one parameter has nothing that it could wait for: database and
 * loaders come with the context. Resolvers that take more stay resolvers.
 */
export function compilable(schema: GraphQLSchema): GraphQLSchema {
  const copy = lexicographicSortSchema(schema);
  const node = copy.getType('Node');
  const views = new Map<string, ViewClass>();
  if (isInterfaceType(node)) for (const type of copy.getPossibleTypes(node)) views.set(type.name, viewOf(type));
  for (const type of Object.values(copy.getTypeMap())) {
    if (isObjectType(type) && !type.name.startsWith('__')) adaptFields(copy, type, views);
    if (isAbstractType(type)) adaptAbstract(type);
  }
  return copy;
}

type Resolve = NonNullable<GraphQLField<unknown, Context>['resolve']>;
type Wrap = (value: unknown, context: Context, info: GraphQLResolveInfo) => unknown;

/** A row, seen through the fields of its type. */
class View {
  readonly row: unknown;
  readonly typename: string;

  constructor(row: unknown, typename: string) {
    this.row = row;
    this.typename = typename;
  }
}

type ViewClass = new (row: unknown) => View;

const rowOf = (value: unknown): unknown => (value instanceof View ? value.row : value);

function viewOf(type: GraphQLObjectType): ViewClass {
  class NodeView extends View {
    constructor(row: unknown) {
      super(row, type.name);
    }
  }
  for (const field of Object.values(type.getFields())) {
    const read = field.name === 'id' ? globalId(type) : plainRead(field);
    if (!read) continue;
    Object.defineProperty(NodeView.prototype, field.name, {
      get(this: View) {
        try {
          return read(this.row);
        } catch (error) {
          // The compiled program takes an error that it finds for one that was thrown: with its path, and null as the value.
          return error instanceof Error ? error : new Error(String(error));
        }
      },
    });
    delete field.resolve;
  }
  return NodeView;
}

type Read = (row: unknown) => unknown;

/** The global id, made at once. Pothos keeps what the type said of its id. */
function globalId(type: GraphQLObjectType): Read | undefined {
  const { id } = type.extensions['pothosOptions'] as { id?: { resolve?: (row: unknown) => string | number } };
  const resolve = id?.resolve;
  return resolve?.length === 1 ? row => encodeGlobalId(type.name, resolve(row)) : undefined;
}

function plainRead({ name, type, resolve }: GraphQLField<unknown, Context>): Read | undefined {
  // What the view itself is made of cannot be a getter.
  if (!isLeafType(getNullableType(type)) || name === 'row' || name === 'typename') return undefined;
  if (!resolve) return row => (row as Readonly<Record<string, unknown>>)[name];
  return resolve.length === 1 && resolve.constructor.name === 'Function' ? (resolve as Read) : undefined;
}

/** Whatever gives a node gives its view; whatever is asked of a view is asked of its row. */
function adaptFields(schema: GraphQLSchema, type: GraphQLObjectType, views: ReadonlyMap<string, ViewClass>): void {
  const onView = views.has(type.name);
  for (const field of Object.values(type.getFields())) {
    const { resolve } = field;
    const wrap = wrapper(schema, field.type, views);
    // A leaf that has become a getter.
    if (!wrap && !resolve) continue;
    if (!wrap && !onView) continue;
    const inner: Resolve = resolve ?? (source => (source as Readonly<Record<string, unknown>>)[field.name]);
    field.resolve = (source, args, context, info) => {
      const value = inner(rowOf(source), args, context, info);
      return wrap ? wrap(value, context, info) : value;
    };
  }
  const { isTypeOf } = type;
  if (isTypeOf) type.isTypeOf = (value, context, info) => isTypeOf(rowOf(value), context, info);
}

function adaptAbstract(type: GraphQLAbstractType): void {
  const resolveType = type.resolveType ?? defaultTypeResolver;
  type.resolveType = (value, context, info, abstract) => (value instanceof View ? value.typename : resolveType(value, context, info, abstract));
}

/** @returns undefined where nothing can be a node */
function wrapper(schema: GraphQLSchema, type: GraphQLOutputType, views: ReadonlyMap<string, ViewClass>): Wrap | undefined {
  const named = getNamedType(type);
  const possible = isAbstractType(named) ? schema.getPossibleTypes(named) : [named];
  return possible.some(({ name }) => views.has(name)) ? later(wrapperOf(type, views)) : undefined;
}

function wrapperOf(type: GraphQLOutputType, views: ReadonlyMap<string, ViewClass>): Wrap {
  const nullable = getNullableType(type);
  if (isListType(nullable)) {
    const wrapItem = later(wrapperOf(nullable.ofType, views));
    return (value, context, info) => (Array.isArray(value) ? value.map(item => wrapItem(item, context, info)) : value);
  }
  if (isAbstractType(nullable)) {
    return (value, context, info) => {
      const name = (nullable.resolveType ?? defaultTypeResolver)(value, context, info, nullable);
      const Class = typeof name === 'string' ? views.get(name) : undefined;
      return Class ? new Class(value) : value;
    };
  }
  const Class = views.get(nullable.name);
  return Class ? value => new Class(value) : value => value;
}

const isThenable = (value: object): value is PromiseLike<unknown> => 'then' in value && typeof value.then === 'function';

/** Leaves null and errors as they are, and waits for promises. */
function later(wrap: Wrap): Wrap {
  const wrapNow: Wrap = (value, context, info) => (value == null || value instanceof Error || value instanceof View ? value : wrap(value, context, info));
  return (value, context, info) =>
    value !== null && typeof value === 'object' && isThenable(value) ? value.then(result => wrapNow(result, context, info)) : wrapNow(value, context, info);
}
