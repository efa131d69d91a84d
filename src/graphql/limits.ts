import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
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
import { CodedError } from '../errors.ts';
import { faultyLiteral } from './text.ts';

/** What one operation may be. Documents of our own (REST) are not measured against these. */
export const LIMITS = {
  tokens: 2_000,
  depth: 12,
  aliases: 30,
  rootFields: 20,
  directives: 20,
  cost: 10_000,
  introspection: 500_000,
} as const;

/** Nested lists without a page size count as this many rows, unless the field knows better (its extension `listSize`). */
const LIST_SIZE = 10;
const DEFAULT_PAGE = 20;
const MUTATION_COST = 10;
/** The largest list of REST stays below: a hundred contacts with their groups, source, status and all. */
const OBJECTS_PER_POINT = 3_000;

export interface Measured {
  readonly depth: number;
  readonly aliases: number;
  readonly rootFields: number;
  /**
   * What would be calls of their own in REST: each mutation, each object and each list at the root. A field that takes more work
   * than reading says so (its extension `points`).
   */
  readonly calls: number;
  readonly directives: number;
  /** The argument whose literal is no text that can be stored. */
  readonly faultyLiteral: string | undefined;
  /** Whether the schema itself is asked for. */
  readonly introspects: boolean;
  /** One point for each value of the schema that can come back; what tools ask for has some 200,000. */
  readonly introspection: number;
  /** One point for each object that the operation can return, ten for each mutation. */
  readonly cost: (variables: Readonly<Record<string, unknown>>) => number;
}

type Cost = (variables: Readonly<Record<string, unknown>>) => number;

/** Walks an operation once. Fragments are followed wherever they are spread; validation has ruled out cycles before. */
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
    faultyLiteral: faultyLiteral(document),
    introspects: walk.introspects,
    introspection: walk.introspection,
    cost: variables => mutations + cost(variables),
  };
}

/** How long the lists are that make up a schema, about. */
const INTROSPECTED_LISTS: Readonly<Record<string, number>> = {
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

/** A document that is spread over and over is exponential to walk: it is refused long before. */
const MAX_STEPS = 20_000;

class Walk {
  depth = 0;
  aliases = 0;
  rootFields = 0;
  rootReads = 0;
  directives = 0;
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

  selectionSet(set: SelectionSetNode, type: GraphQLNamedType | undefined, depth: number): Cost {
    const costs: Cost[] = [];
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

  /** How many values a field of the schema's schema can give. */
  #introspected({ name, selectionSet }: FieldNode): number {
    if (!selectionSet) return 1;
    return (INTROSPECTED_LISTS[name.value] ?? 1) * this.#introspectedSet(selectionSet);
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

  #field(field: FieldNode, type: GraphQLNamedType | undefined, depth: number): Cost {
    const name = field.name.value;
    if (depth === 1) this.rootFields += 1;
    if (field.alias) this.aliases += 1;
    if (name === '__schema' || name === '__type') {
      // Deep by nature, and without a database: it has a measure of its own.
      this.introspects = true;
      this.introspection += this.#introspected(field);
      return () => 1;
    }
    this.depth = Math.max(this.depth, depth);
    const definition =
      isObjectType(type) || isInterfaceType(type) ? (type as GraphQLObjectType).getFields()[name] : undefined;
    const result = definition && getNamedType(definition.type);
    if (!definition || !field.selectionSet || !isCompositeType(result)) return () => 0;
    const below = this.selectionSet(field.selectionSet, result, depth + 1);
    const nullable = isNonNullType(definition.type) ? definition.type.ofType : definition.type;
    const isPage = result.name.endsWith('Connection');
    const points = definition.extensions['points'];
    if (depth === 1) this.rootReads += typeof points === 'number' ? points : 1;
    if (isPage) {
      const size = pageSize(field, this.#defaults);
      return variables => 2 + size(variables) * below(variables);
    }
    // A page's edges and nodes are counted by its size already.
    if (type?.name.endsWith('Connection')) return variables => (name === 'pageInfo' ? 0 : 1 + below(variables));
    const known = definition.extensions['listSize'];
    const size = isListType(nullable) ? (typeof known === 'number' ? known : LIST_SIZE) : 1;
    return variables => size * (1 + below(variables));
  }
}

/** The largest page that the arguments can mean. What is no size at all is refused by the list; here it must not lower the cost. */
function pageSize(field: FieldNode, defaults: Defaults): Cost {
  const sizes = (field.arguments ?? [])
    .filter(({ name }) => name.value === 'first' || name.value === 'last')
    .map(({ value }) => sizeOf(value, defaults));
  if (sizes.length === 0) return () => DEFAULT_PAGE;
  return variables => Math.max(...sizes.map(size => size(variables)));
}

function sizeOf(value: ValueNode, defaults: Defaults): Cost {
  const known = (size: number | undefined): number => (size === undefined || !(size > 0) ? DEFAULT_PAGE : size);
  if (value.kind === Kind.INT) return () => known(Number(value.value));
  if (value.kind !== Kind.VARIABLE) return () => DEFAULT_PAGE;
  const name = value.name.value;
  return variables => {
    const given = variables[name] === undefined ? defaults.get(name) : variables[name];
    return known(typeof given === 'number' ? given : undefined);
  };
}

/** What variables are when nothing is said of them: a page size may hide there. */
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
    `The operation is too complex: its ${limit} is ${actual}, at most ${maximum} is allowed.`,
    { limit, maximum, actual },
  );

/**
 * What an operation is charged of the rate limits, where a call of REST is charged one point. An operation costs what the
 * same would cost by REST: one point for each mutation (a batch is one) and for each object or list at the root, at least one.
 * What is nested is included, 3,000 objects with each point; what goes beyond is charged as well. Objects are counted as
 * for `cost`: the largest number that can come back, by page sizes, before anything is read.
 * @returns whole points, 1 or more
 */
export const pointsOf = (measured: Measured, variables: Readonly<Record<string, unknown>>): number =>
  Math.max(1, measured.calls, Math.ceil(measured.cost(variables) / OBJECTS_PER_POINT));

/** @throws QUERY_TOO_COMPLEX naming the limit */
export function checkLimits(measured: Measured, variables: Readonly<Record<string, unknown>>): void {
  for (const limit of ['depth', 'aliases', 'rootFields', 'directives', 'introspection'] as const) {
    if (measured[limit] > LIMITS[limit]) throw tooComplex(limit, LIMITS[limit], measured[limit]);
  }
  const cost = measured.cost(variables);
  if (cost > LIMITS.cost) throw tooComplex('cost', LIMITS.cost, cost);
}
