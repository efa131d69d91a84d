import { createRequire } from 'node:module';
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
import type { CompiledQuery } from 'graphql-jit';
import { LRUCache } from 'lru-cache';
import type { Clock } from '../../platform/clock.ts';
import { MINUTE } from '../../platform/clock.ts';
import { LIMITS, type Measured, measure } from './limits.ts';

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
  uses: number;
}

export type Prepared = { readonly operation: Operation } | { readonly errors: readonly GraphQLError[] };

/** Clients' documents are cached parsed and validated: that costs as much as their execution. */
const MAX_DOCUMENTS = 1_000;
/** A document is compiled after this many uses, and few are compiled per minute, so that clients cannot keep the process compiling. */
const HOT_USES = 32;
const COMPILATIONS_PER_MINUTE = 10;

interface Document {
  readonly parsed: DocumentNode | undefined;
  readonly errors: readonly GraphQLError[];
  /** By operation name. */
  readonly operations: Map<string, Prepared>;
}

export interface Documents {
  /** Parses and validates a document and selects its operation; cached by text and operation name. */
  prepare(text: string, operationName: string | undefined): Prepared;
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
      // Unknown operation names are not cached: clients could invent any number of them.
      if ('operation' in prepared) document.operations.set(operationName ?? '', prepared);
      return prepared;
    },

    prepareTrusted(document) {
      const known = trusted.get(document);
      if (known) return known;
      const [error] = validate(schema, document);
      if (error) throw error;
      const prepared = find(schema, document, undefined, true);
      if ('errors' in prepared) throw prepared.errors[0];
      trusted.set(document, prepared.operation);
      return prepared.operation;
    },

    use(operation) {
      operation.uses += 1;
      if (operation.compiled || operation.uses !== (operation.isTrusted ? 1 : HOT_USES)) return;
      if (operation.node.operation === 'subscription' || operation.measured.introspects) return;
      if (operation.isTrusted || mayCompile()) operation.compiled = compile(schema, operation);
      else operation.uses = 0;
    },
  };
}

const require = createRequire(import.meta.url);

/**
 * @returns undefined for what graphql-jit cannot compile
 *
 * graphql-jit is loaded by the first compilation: with the JSON schema compiler it brings along it is 120 modules, 6 MB of an idle process.
 */
function compile(schema: GraphQLSchema, { document, name }: Operation): CompiledQuery | undefined {
  const { compileQuery, isCompiledQuery }: typeof import('graphql-jit') = require('graphql-jit');
  const compiled = compileQuery(schema, document, name);
  return isCompiledQuery(compiled) ? compiled : undefined;
}

function read(schema: GraphQLSchema, text: string): Document {
  const operations = new Map<string, Prepared>();
  try {
    const parsed = parse(text, { maxTokens: LIMITS.tokens });
    const errors = validate(schema, parsed, specifiedRules, { maxErrors: 20 });
    if (errors.length === 0) return { parsed, errors, operations };
    return { parsed: undefined, errors: errors.map(error => coded(error, 'GRAPHQL_VALIDATION_FAILED')), operations };
  } catch (error) {
    // The parser is recursive: deep nesting can exhaust the stack below the token limit.
    const fault = error instanceof RangeError ? new GraphQLError('The document is nested too deeply.') : error;
    if (!(fault instanceof GraphQLError)) throw error;
    return { parsed: undefined, errors: [coded(fault, 'GRAPHQL_PARSE_FAILED')], operations };
  }
}

function find(
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
    return { errors: [new GraphQLError(message, { extensions: { code: 'OPERATION_RESOLUTION_FAILURE' } })] };
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
