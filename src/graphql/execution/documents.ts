import { createRequire } from 'node:module';
import {
  BREAK,
  type DocumentNode,
  execute,
  GraphQLError,
  type GraphQLSchema,
  getOperationAST,
  getVariableValues,
  Kind,
  type NamedTypeNode,
  type OperationDefinitionNode,
  parse,
  specifiedRules,
  type TypeNode,
  type VariableDefinitionNode,
  validate,
  visit,
} from 'graphql';
import type { CompiledQuery } from 'graphql-jit';
import { LRUCache } from 'lru-cache';
import { type GraphQLCode, requestError } from '../../core/errors.ts';
import type { Clock } from '../../platform/clock.ts';
import { MINUTE } from '../../platform/clock.ts';
import { withExtensions } from './errors.ts';
import { LIMITS, type Measured, measure } from './limits.ts';
import { hasRepeatedConditions } from './repeated-conditions.ts';

export type Variables = Readonly<Record<string, unknown>>;

/** One operation of a validated document. */
export interface Operation {
  readonly document: DocumentNode;
  readonly name: string | undefined;
  readonly node: OperationDefinitionNode;
  readonly measured: Measured;
  /** A built-in document: compiled at its first use, outside the quota of clients' documents. */
  readonly isTrusted: boolean;
  /** Present once the operation is compiled. Compiled operations run up to ten times as fast. */
  compiled: CompiledQuery | undefined;
  /** Published by a tenant: compiled at its first use, within a separate quota. */
  isPublished: boolean;
  uses: number;
}

export type Prepared = { readonly operation: Operation } | { readonly errors: readonly GraphQLError[] };

/** Clients' documents are cached parsed and validated: that costs as much as their execution. */
const MAX_DOCUMENTS = 1_000;
/** A document is compiled after this many uses, and few are compiled per minute, so that clients cannot keep the process compiling. */
const HOT_USES = 32;
const COMPILATIONS_PER_MINUTE = 10;
const PUBLISHED_COMPILATIONS_PER_MINUTE = 120;

interface Document {
  readonly parsed: DocumentNode | undefined;
  readonly errors: readonly GraphQLError[];
  /** By operation name. */
  readonly operations: Map<string, Prepared>;
}

export interface Documents {
  /** Parses and validates a document and selects its operation; cached by text and operation name. */
  prepare(text: string, operationName: string | undefined, isPublished?: boolean): Prepared;
  /** Validates a built-in document; its first use compiles it. @throws if it is invalid, so that the process does not start */
  prepareTrusted(document: DocumentNode): Operation;
  /** Counts a use; compiles the operation when it is due. */
  use(operation: Operation): void;
}

/**
 * Operations of built-in documents, by schema. Both REST versions use the same documents, and gateways of one process (tests
 * start several) share their compiled form.
 */
const TRUSTED = new WeakMap<GraphQLSchema, Map<DocumentNode, Operation>>();

export function createDocuments(schema: GraphQLSchema, clock: Clock): Documents {
  const documents = new LRUCache<string, Document>({
    max: MAX_DOCUMENTS,
    maxSize: 20_000_000,
    sizeCalculation: (_value, text) => text.length + 1_000,
  });
  const trusted = TRUSTED.get(schema) ?? new Map<DocumentNode, Operation>();
  TRUSTED.set(schema, trusted);
  let compilations = 0;
  let publishedCompilations = 0;
  let minuteEndsAt = 0;

  function load(text: string): Document {
    let document = documents.get(text);
    if (!document) {
      document = parseAndValidate(schema, text);
      documents.set(text, document);
    }
    return document;
  }

  function mayCompile({ isTrusted, isPublished }: Operation): boolean {
    if (isTrusted) return true;
    const now = clock.now();
    if (now >= minuteEndsAt) {
      minuteEndsAt = now + MINUTE;
      compilations = 0;
      publishedCompilations = 0;
    }
    if (isPublished) {
      publishedCompilations += 1;
      return publishedCompilations <= PUBLISHED_COMPILATIONS_PER_MINUTE;
    }
    compilations += 1;
    return compilations <= COMPILATIONS_PER_MINUTE;
  }

  return {
    prepare(text, operationName, isPublished = false) {
      const document = load(text);
      if (!document.parsed) return { errors: document.errors };
      const known = document.operations.get(operationName ?? '');
      if (known) return isPublished ? asPublished(known) : known;
      const prepared = selectOperation(schema, document.parsed, operationName);
      // Unknown operation names are not cached: clients could invent any number of them.
      if ('operation' in prepared) document.operations.set(operationName ?? '', prepared);
      return isPublished ? asPublished(prepared) : prepared;
    },

    prepareTrusted(document) {
      const known = trusted.get(document);
      if (known) return known;
      const [error] = validate(schema, document);
      if (error) throw error;
      const prepared = selectOperation(schema, document, undefined, true);
      if ('errors' in prepared) throw prepared.errors[0];
      trusted.set(document, prepared.operation);
      return prepared.operation;
    },

    use(operation) {
      operation.uses += 1;
      if (operation.compiled || operation.uses !== (operation.isTrusted || operation.isPublished ? 1 : HOT_USES))
        return;
      if (operation.node.operation === 'subscription' || operation.measured.introspects) return;
      if (hasOptionalInputFields(operation.document) || hasRepeatedConditions(operation.document)) return;
      if (mayCompile(operation)) operation.compiled = compile(schema, operation);
      else operation.uses = 0;
    },
  };
}

/** Marks an operation as published, and restarts the count of its uses if it was sent as text before. */
function asPublished(prepared: Prepared): Prepared {
  if ('operation' in prepared && !prepared.operation.isPublished) {
    prepared.operation.isPublished = true;
    prepared.operation.uses = 0;
  }
  return prepared;
}

/**
 * Whether a literal of an input object contains a variable that may be omitted. graphql-jit 0.8.9 passes it on as null, which clears
 * a value and breaks `@oneOf`; graphql-js leaves the field out.
 */
export function hasOptionalInputFields(document: DocumentNode): boolean {
  const optional = new Set<string>();
  let isFound = false;
  visit(document, {
    VariableDefinition({ variable, type }) {
      if (type.kind !== Kind.NON_NULL_TYPE) optional.add(variable.name.value);
    },
  });
  visit(document, {
    ObjectField({ value }) {
      if (value.kind !== Kind.VARIABLE || !optional.has(value.name.value)) return undefined;
      isFound = true;
      return BREAK;
    },
  });
  return isFound;
}

/** As many as the executor of graphql-js reports. */
const MAX_VARIABLE_ERRORS = 50;

const require = createRequire(import.meta.url);

/**
 * Compiles an operation with graphql-jit, which the first compilation loads: 120 modules, 6 MB of an idle process.
 * @returns undefined if graphql-jit cannot compile it
 */
export function compile(
  schema: GraphQLSchema,
  { document, name, node }: Pick<Operation, 'document' | 'name' | 'node'>,
): CompiledQuery | undefined {
  const { compileQuery, isCompiledQuery }: typeof import('graphql-jit') = require('graphql-jit');
  const compiled = compileQuery(schema, withPlainVariables(document), name);
  if (!isCompiledQuery(compiled)) return undefined;
  const { query } = compiled;
  const definitions = node.variableDefinitions ?? [];
  const switches = definitions.filter(isNullableBoolean).map(({ variable }) => variable.name.value);
  return {
    ...compiled,
    query: (rootValue, contextValue, variables) => {
      const { coerced, errors } = getVariableValues(schema, definitions, variables ?? {}, {
        maxErrors: MAX_VARIABLE_ERRORS,
      });
      if (errors) return { errors };
      // A condition of null is an error, but hides its field in graphql-jit.
      if (switches.some(name => coerced[name] === null))
        return execute({ schema, document, rootValue, contextValue, variableValues: coerced, operationName: name });
      return query(rootValue, contextValue, coerced);
    },
  };
}

const isNullableBoolean = ({ type }: VariableDefinitionNode): boolean =>
  type.kind === Kind.NAMED_TYPE && type.name.value === 'Boolean';

/** Types whose values are the same before and after coercion. The variables of `@skip` and `@include` must keep theirs. */
const BUILT_IN: ReadonlySet<string> = new Set(['Boolean', 'Float', 'ID', 'Int', 'String']);

/**
 * Declares variables as JSON, which graphql-jit passes on unchanged, because graphql-js has coerced them already. graphql-jit 0.8.9
 * generates the coercion of an input type again at each place where it occurs: for a filter that contains filters (`and`, `or`, `not`)
 * it ran for 4 s until the stack overflowed. It also accepts `@oneOf` inputs that graphql-js rejects.
 */
function withPlainVariables(document: DocumentNode): DocumentNode {
  const plain = (definition: VariableDefinitionNode): VariableDefinitionNode => {
    if (BUILT_IN.has(namedType(definition.type).name.value)) return definition;
    const { defaultValue: _coerced, ...rest } = definition;
    return { ...rest, type: { kind: Kind.NAMED_TYPE, name: { kind: Kind.NAME, value: 'JSON' } } };
  };
  const definitions = document.definitions.map(definition =>
    definition.kind === Kind.OPERATION_DEFINITION && definition.variableDefinitions
      ? { ...definition, variableDefinitions: definition.variableDefinitions.map(plain) }
      : definition,
  );
  return { ...document, definitions };
}

const namedType = (type: TypeNode): NamedTypeNode => (type.kind === Kind.NAMED_TYPE ? type : namedType(type.type));

function parseAndValidate(schema: GraphQLSchema, text: string): Document {
  const operations = new Map<string, Prepared>();
  try {
    const parsed = parse(text, { maxTokens: LIMITS.tokens });
    const errors = validate(schema, parsed, specifiedRules, { maxErrors: 20 });
    if (errors.length === 0) return { parsed, errors, operations };
    const coded = errors.map(error =>
      withExtensions(error, { code: 'GRAPHQL_VALIDATION_FAILED' satisfies GraphQLCode }),
    );
    return { parsed: undefined, errors: coded, operations };
  } catch (error) {
    // The parser is recursive: deep nesting can exhaust the stack below the token limit.
    const fault = error instanceof RangeError ? new GraphQLError('The document is nested too deeply.') : error;
    if (!(fault instanceof GraphQLError)) throw error;
    const coded = withExtensions(fault, { code: 'GRAPHQL_PARSE_FAILED' satisfies GraphQLCode });
    return { parsed: undefined, errors: [coded], operations };
  }
}

function selectOperation(
  schema: GraphQLSchema,
  document: DocumentNode,
  operationName: string | undefined,
  isTrusted = false,
): Prepared {
  const node = getOperationAST(document, operationName);
  if (!node) {
    const message = operationName
      ? `Unknown operation named "${operationName}".`
      : 'The document has several operations: set operationName.';
    return { errors: [requestError('OPERATION_RESOLUTION_FAILURE', message)] };
  }
  try {
    return {
      operation: {
        document,
        name: operationName,
        node,
        measured: measure(schema, document, node),
        isTrusted,
        compiled: undefined,
        isPublished: false,
        uses: 0,
      },
    };
  } catch (error) {
    if (error instanceof GraphQLError) return { errors: [error] };
    throw error;
  }
}
