import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  isCompositeType,
  isInterfaceType,
  isListType,
  isNonNullType,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
  type ValueNode,
} from 'graphql';
import { CodedError } from '../../core/errors.ts';
import { DEFAULT_PAGE_SIZE } from '../../core/list-args.ts';
import { findUnstorableLiteral } from './storable-text.ts';

/** Limits of one operation. They do not apply to built-in documents (REST). */
export const LIMITS = {
  tokens: 2_000,
  depth: 12,
  aliases: 30,
  rootFields: 20,
  directives: 20,
  connections: 12,
  cost: 10_000,
  introspection: 500_000,
} as const;

/** Rows that a list without a page size counts as, unless its field has the extension `listSize`. */
const LIST_SIZE = 10;
const MUTATION_COST = 10;
/** More than the largest list of REST has: a hundred contacts with groups, source, status and other objects. */
const OBJECTS_PER_POINT = 3_000;

export interface Measured {
  readonly depth: number;
  readonly aliases: number;
  readonly rootFields: number;
  /**
   * The number of REST calls that this would take: one for each mutation, and for each object or list at the root. A field that does
   * more than read sets the extension `points`.
   */
  readonly calls: number;
  readonly directives: number;
  /** Number of connection fields at any depth; each executes at least one statement. */
  readonly connections: number;
  /** The argument with a string literal that cannot be stored. */
  readonly unstorableLiteral: string | undefined;
  /** The deprecated fields and arguments in the operation: `Contact.name`, `Query.contacts(sort:)`. */
  readonly deprecated: ReadonlySet<string>;
  /** Whether the operation selects `__schema` or `__type`. */
  readonly introspects: boolean;
  /** One point for each schema value that can be returned; the query of GraphiQL has about 200,000. */
  readonly introspection: number;
  /** One point for each object that can be returned, ten for each mutation. */
  readonly cost: CostOf;
}

/** A cost that depends on the variables of a request. */
type CostOf = (variables: Readonly<Record<string, unknown>>) => number;

/** Measures an operation in one walk, which follows fragment spreads. Validation has excluded cycles. */
export function measure(schema: GraphQLSchema, document: DocumentNode, operation: OperationDefinitionNode): Measured {
  const fragments = new Map<string, FragmentDefinitionNode>();
  for (const definition of document.definitions)
    if (definition.kind === Kind.FRAGMENT_DEFINITION) fragments.set(definition.name.value, definition);
  const walk = new Walk(schema, fragments, defaultsOf(operation));
  const root = schema.getRootType(operation.operation) ?? undefined;
  const cost = walk.selectionSet(operation.selectionSet, root, 1);
  const isMutation = operation.operation === 'mutation';
  const mutations = isMutation ? walk.rootFields * MUTATION_COST : 0;
  return {
    depth: walk.depth,
    aliases: walk.aliases,
    rootFields: walk.rootFields,
    calls: isMutation ? walk.rootFields : walk.rootReads,
    directives: walk.directives,
    connections: walk.connections,
    unstorableLiteral: findUnstorableLiteral(document),
    deprecated: walk.deprecated,
    introspects: walk.introspects,
    introspection: walk.introspection,
    cost: variables => mutations + cost(variables),
  };
}

/** Estimated lengths of the lists in an introspection result. */
const INTROSPECTION_LIST_SIZES: Readonly<Record<string, number>> = {
  types: 100,
  fields: 10,
  inputFields: 10,
  args: 5,
  enumValues: 10,
  possibleTypes: 10,
  interfaces: 2,
  directives: 5,
  locations: 5,
};

/** Bounds the walk: nested fragment spreads make it exponential. */
const MAX_STEPS = 20_000;

class Walk {
  depth = 0;
  aliases = 0;
  rootFields = 0;
  rootReads = 0;
  directives = 0;
  connections = 0;
  readonly deprecated = new Set<string>();
  introspects = false;
  introspection = 0;
  #steps = 0;
  readonly #schema: GraphQLSchema;
  readonly #fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  readonly #defaults: Defaults;

  constructor(schema: GraphQLSchema, fragments: ReadonlyMap<string, FragmentDefinitionNode>, defaults: Defaults) {
    this.#schema = schema;
    this.#fragments = fragments;
    this.#defaults = defaults;
  }

  selectionSet(set: SelectionSetNode, type: GraphQLNamedType | undefined, depth: number): CostOf {
    const costs: CostOf[] = [];
    for (const selection of set.selections) {
      this.#step();
      this.directives += selection.directives?.length ?? 0;
      if (selection.kind === Kind.FIELD) costs.push(this.#field(selection, type, depth));
      else if (selection.kind === Kind.INLINE_FRAGMENT) {
        const on = selection.typeCondition ? this.#schema.getType(selection.typeCondition.name.value) : type;
        costs.push(this.selectionSet(selection.selectionSet, on, depth));
      } else {
        const fragment = this.#fragments.get(selection.name.value);
        if (fragment)
          costs.push(
            this.selectionSet(fragment.selectionSet, this.#schema.getType(fragment.typeCondition.name.value), depth),
          );
      }
    }
    return variables => costs.reduce((sum, cost) => sum + cost(variables), 0);
  }

  #step(): void {
    this.#steps += 1;
    if (this.#steps > MAX_STEPS) throw tooComplex('size', MAX_STEPS, this.#steps);
  }

  /** Estimates the values that an introspection field returns. */
  #introspected({ name, selectionSet }: FieldNode): number {
    if (!selectionSet) return 1;
    return (INTROSPECTION_LIST_SIZES[name.value] ?? 1) * this.#introspectedSet(selectionSet);
  }

  #introspectedSet(set: SelectionSetNode): number {
    let sum = 0;
    for (const selection of set.selections) {
      this.#step();
      this.directives += selection.directives?.length ?? 0;
      if (selection.kind === Kind.FIELD) {
        if (selection.alias) this.aliases += 1;
        sum += this.#introspected(selection);
      } else {
        const inner = selection.kind === Kind.INLINE_FRAGMENT ? selection : this.#fragments.get(selection.name.value);
        if (inner) sum += this.#introspectedSet(inner.selectionSet);
      }
    }
    return sum;
  }

  #noteDeprecated(
    node: FieldNode,
    type: string,
    { name, args, deprecationReason }: GraphQLField<unknown, unknown>,
  ): void {
    if (deprecationReason != null) this.deprecated.add(`${type}.${name}`);
    for (const argument of args)
      if (argument.deprecationReason != null && node.arguments?.some(given => given.name.value === argument.name))
        this.deprecated.add(`${type}.${name}(${argument.name}:)`);
  }

  #field(field: FieldNode, type: GraphQLNamedType | undefined, depth: number): CostOf {
    const name = field.name.value;
    if (depth === 1) this.rootFields += 1;
    if (field.alias) this.aliases += 1;
    if (name === '__schema' || name === '__type') {
      // Introspection is deep but needs no database, so it has its own measure instead of depth and cost.
      this.introspects = true;
      this.introspection += this.#introspected(field);
      return () => 1;
    }
    this.depth = Math.max(this.depth, depth);
    const definition =
      isObjectType(type) || isInterfaceType(type) ? (type as GraphQLObjectType).getFields()[name] : undefined;
    if (definition && type) this.#noteDeprecated(field, type.name, definition);
    const result = definition && getNamedType(definition.type);
    if (!definition || !field.selectionSet || !isCompositeType(result)) return () => 0;
    const below = this.selectionSet(field.selectionSet, result, depth + 1);
    const nullable = isNonNullType(definition.type) ? definition.type.ofType : definition.type;
    const isPage = result.name.endsWith('Connection');
    const points = definition.extensions['points'];
    if (depth === 1) this.rootReads += typeof points === 'number' ? points : 1;
    if (isPage) {
      this.connections += 1;
      const size = pageSize(field, this.#defaults);
      return variables => 2 + size(variables) * below(variables);
    }
    // `edges` and `nodes` are multiplied by the page size in their connection.
    if (type?.name.endsWith('Connection')) return variables => (name === 'pageInfo' ? 0 : 1 + below(variables));
    const known = definition.extensions['listSize'];
    const size = isListType(nullable) ? (typeof known === 'number' ? known : LIST_SIZE) : 1;
    return variables => size * (1 + below(variables));
  }
}

/** Returns the largest page size that the arguments can mean. Invalid sizes are rejected by the list; here they must not lower the cost. */
function pageSize(field: FieldNode, defaults: Defaults): CostOf {
  const sizes = (field.arguments ?? [])
    .filter(({ name }) => name.value === 'first' || name.value === 'last')
    .map(({ value }) => sizeOf(value, defaults));
  if (sizes.length === 0) return () => DEFAULT_PAGE_SIZE;
  return variables => Math.max(...sizes.map(size => size(variables)));
}

function sizeOf(value: ValueNode, defaults: Defaults): CostOf {
  const known = (size: number | undefined): number => (size === undefined || !(size > 0) ? DEFAULT_PAGE_SIZE : size);
  if (value.kind === Kind.INT) return () => known(Number(value.value));
  if (value.kind !== Kind.VARIABLE) return () => DEFAULT_PAGE_SIZE;
  const name = value.name.value;
  return variables => {
    const given = variables[name] === undefined ? defaults.get(name) : variables[name];
    return known(typeof given === 'number' ? given : undefined);
  };
}

/** Default values of integer variables, which may be page sizes. */
type Defaults = ReadonlyMap<string, number>;

const defaultsOf = (operation: OperationDefinitionNode): Defaults =>
  new Map(
    (operation.variableDefinitions ?? []).flatMap(({ variable, defaultValue }) =>
      defaultValue?.kind === Kind.INT ? [[variable.name.value, Number(defaultValue.value)] as const] : [],
    ),
  );

const tooComplex = (limit: string, maximum: number, actual: number): CodedError =>
  new CodedError(
    'QUERY_TOO_COMPLEX',
    `The operation is too complex: its ${limit} is ${actual}; the limit is ${maximum}.`,
    { details: { limit, maximum, actual } },
  );

/**
 * Returns the cost of an operation against the rate limits, where a REST call costs one point. An operation costs the same as
 * over REST: one point for each mutation (a batch is one) and for each object or list at the root. Each point includes 3,000
 * nested objects, counted as for `cost`: the largest number that can be returned, by page sizes.
 * @returns a whole number, at least 1
 */
export const pointsOf = (measured: Measured, variables: Readonly<Record<string, unknown>>): number =>
  Math.max(1, measured.calls, Math.ceil(measured.cost(variables) / OBJECTS_PER_POINT));

/** @throws QUERY_TOO_COMPLEX naming the limit */
export function checkLimits(measured: Measured, variables: Readonly<Record<string, unknown>>): void {
  for (const limit of ['depth', 'aliases', 'rootFields', 'directives', 'connections', 'introspection'] as const) {
    if (measured[limit] > LIMITS[limit]) throw tooComplex(limit, LIMITS[limit], measured[limit]);
  }
  const cost = measured.cost(variables);
  if (cost > LIMITS.cost) throw tooComplex('cost', LIMITS.cost, cost);
}
