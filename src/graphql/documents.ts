import {
  type DocumentNode,
  GraphQLError,
  type GraphQLSchema,
  getOperationAST,
  type OperationDefinitionNode,
  parse,
  specifiedRules,
  validate,
} from 'graphql';
import { type CompiledQuery, compileQuery, isCompiledQuery } from 'graphql-jit';
import { LRUCache } from 'lru-cache';
import type { Clock } from '../platform/clock.ts';
import { MINUTE } from '../platform/clock.ts';
import { LIMITS, type Measured, measure } from './limits.ts';

/** One operation of a document, ready to be executed. */
export interface Operation {
  readonly document: DocumentNode;
  readonly name: string | undefined;
  readonly node: OperationDefinitionNode;
  readonly measured: Measured;
  /** Present once the operation is compiled: compiled operations run up to ten times as fast as interpreted ones. */
  compiled: CompiledQuery | undefined;
  uses: number;
}

export type Prepared = { readonly operation: Operation } | { readonly errors: readonly GraphQLError[] };

/** Texts of clients are kept parsed and validated: that costs as much as executing them. */
const MAX_DOCUMENTS = 1_000;
/** A text is compiled when it has proved hot, and only so many in a minute: nobody can make the process compile. */
const HOT_USES = 32;
const COMPILATIONS_PER_MINUTE = 10;

interface Document {
  readonly parsed: DocumentNode | undefined;
  readonly errors: readonly GraphQLError[];
  /** By operation name: two operations of one document are two programs. */
  readonly operations: Map<string, Prepared>;
}

export interface Documents {
  /** Parses, validates and finds the operation; nothing of it twice for the same text. */
  prepare(text: string, operationName: string | undefined): Prepared;
  /** A document of our own: compiled at once. @throws when it does not fit the schema: the process must not start */
  compile(document: DocumentNode, operationName?: string): Operation;
  /** Counts a use, and compiles when it is time. */
  use(operation: Operation): void;
}

/**
 * Documents of our own, compiled: what becomes of one depends on it and on the schema alone. Both versions of REST bring the
 * same documents, and one process may start several gateways (tests do, and compiled for a fifth of a second each time).
 */
const OWN = new WeakMap<GraphQLSchema, Map<DocumentNode, Operation>>();

export function createDocuments(schema: GraphQLSchema, clock: Clock): Documents {
  const documents = new LRUCache<string, Document>({
    max: MAX_DOCUMENTS,
    maxSize: 20_000_000,
    sizeCalculation: (_value, text) => text.length + 1_000,
  });
  const own = OWN.get(schema) ?? new Map<DocumentNode, Operation>();
  OWN.set(schema, own);
  let compilations = 0;
  let minuteEndsAt = 0;

  function load(text: string): Document {
    let document = documents.get(text);
    if (!document) {
      document = read(schema, text);
      documents.set(text, document);
    }
    return document;
  }

  function mayCompile(): boolean {
    const now = clock.now();
    if (now >= minuteEndsAt) {
      minuteEndsAt = now + MINUTE;
      compilations = 0;
    }
    compilations += 1;
    return compilations <= COMPILATIONS_PER_MINUTE;
  }

  return {
    prepare(text, operationName) {
      const document = load(text);
      if (!document.parsed) return { errors: document.errors };
      const known = document.operations.get(operationName ?? '');
      if (known) return known;
      const prepared = find(schema, document.parsed, operationName);
      // Names that do not exist are the client's to invent: they are not kept.
      if ('operation' in prepared) document.operations.set(operationName ?? '', prepared);
      return prepared;
    },

    compile(document, operationName) {
      const known = operationName === undefined ? own.get(document) : undefined;
      if (known) return known;
      const [error] = validate(schema, document);
      if (error) throw error;
      const prepared = find(schema, document, operationName);
      if ('errors' in prepared) throw prepared.errors[0];
      const compiled = compileQuery(schema, document, operationName);
      if (!isCompiledQuery(compiled)) throw new Error('A document of our own could not be compiled.');
      prepared.operation.compiled = compiled;
      if (operationName === undefined) own.set(document, prepared.operation);
      return prepared.operation;
    },

    use(operation) {
      operation.uses += 1;
      if (
        operation.compiled ||
        operation.uses !== HOT_USES ||
        operation.node.operation === 'subscription' ||
        operation.measured.introspects
      )
        return;
      if (!mayCompile()) {
        operation.uses = 0;
        return;
      }
      const compiled = compileQuery(schema, operation.document, operation.name);
      if (isCompiledQuery(compiled)) operation.compiled = compiled;
    },
  };
}

function read(schema: GraphQLSchema, text: string): Document {
  const operations = new Map<string, Prepared>();
  try {
    const parsed = parse(text, { maxTokens: LIMITS.tokens });
    const errors = validate(schema, parsed, specifiedRules, { maxErrors: 20 });
    if (errors.length === 0) return { parsed, errors, operations };
    return { parsed: undefined, errors: errors.map(error => coded(error, 'GRAPHQL_VALIDATION_FAILED')), operations };
  } catch (error) {
    // The parser calls itself for every bracket, and the stack may end before the tokens do.
    const fault = error instanceof RangeError ? new GraphQLError('The document is nested too deeply.') : error;
    if (!(fault instanceof GraphQLError)) throw error;
    return { parsed: undefined, errors: [coded(fault, 'GRAPHQL_PARSE_FAILED')], operations };
  }
}

function find(schema: GraphQLSchema, document: DocumentNode, operationName: string | undefined): Prepared {
  const node = getOperationAST(document, operationName);
  if (!node) {
    const message = operationName
      ? `Unknown operation named "${operationName}".`
      : 'The document has several operations: say which by operationName.';
    return { errors: [new GraphQLError(message, { extensions: { code: 'OPERATION_RESOLUTION_FAILURE' } })] };
  }
  try {
    return {
      operation: {
        document,
        name: operationName,
        node,
        measured: measure(schema, document, node),
        compiled: undefined,
        uses: 0,
      },
    };
  } catch (error) {
    if (error instanceof GraphQLError) return { errors: [error] };
    throw error;
  }
}

const coded = (error: GraphQLError, code: string): GraphQLError =>
  new GraphQLError(error.message, {
    nodes: error.nodes ?? null,
    source: error.source ?? null,
    positions: error.positions ?? null,
    extensions: { ...error.extensions, code },
  });
