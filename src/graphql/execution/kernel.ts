import {
  createSourceEventStream,
  type DocumentNode,
  type ExecutionResult,
  execute,
  type GraphQLError,
  type GraphQLSchema,
} from 'graphql';
import { unauthorized } from '../../core/errors.ts';
import type { Principal } from '../../core/principal.ts';
import { createPublishedDocuments } from '../../features/documents/find.ts';
import { readDashboardDocuments } from '../../http/dashboard.ts';
import { closable } from '../../platform/closable.ts';
import { mapConcurrently } from '../../platform/map-concurrently.ts';
import type { Context, Replay, Resources } from '../../schema/context.ts';
import { Loaders } from '../../schema/loaders.ts';
import { createDocuments, type Operation, type Prepared, type Variables } from './documents.ts';
import { maskError } from './errors.ts';
import { checkLimits } from './limits.ts';
import { rehearsalOf } from './rehearsal.ts';
import type { GraphQLRequest } from './request.ts';
import { type DocumentSources, type RequestedText, textOf } from './request-text.ts';
import { createSharedResults } from './shared-results.ts';
import { checkVariables, unstorable } from './storable-text.ts';

/** The caller of an operation. */
export interface Caller {
  readonly principal: Principal | undefined;
  readonly requestId: string;
  /** Set by REST, which repeats stored responses verbatim. */
  readonly wantsAnswer?: boolean;
  /** Set by REST to find the faults of an input: the operation can only read. */
  readonly isRehearsal?: boolean;
  /** Cursor after which subscriptions start at the earliest. */
  readonly after?: string | undefined;
}

/** Executes every operation, whatever its transport: GraphQL over HTTP, SSE or WebSocket, or a REST route. */
export interface Kernel {
  readonly schema: GraphQLSchema;
  /** Returns the document of a request. @throws GraphQLError if it is named by a digest and not known */
  textOf(request: GraphQLRequest, principal: Principal | undefined): Promise<RequestedText>;
  /** Remembers the document of a valid request that has its digest. */
  saveText(request: GraphQLRequest): void;
  /** Parses, validates and measures a document; the result is cached by its text. @param isPublished compiles it at its first use */
  prepare(text: string, operationName: string | undefined, isPublished?: boolean): Prepared;
  /** Validates a built-in document; its first use compiles it. @throws if it is invalid */
  prepareTrusted(document: DocumentNode): Operation;
  createContext(caller: Caller): Context;
  /** Returns why an operation is rejected before its execution, if it is: limits, introspection without a token, unstorable text. */
  refusal(operation: Operation, variables: Variables, context: Context): GraphQLError | undefined;
  /** Executes a query or mutation. Never rejects; errors are masked. */
  run(operation: Operation, variables: Variables, context: Context): Promise<ExecutionResult>;
  /** Executes a subscription. Each event gets a fresh context: shared loaders would return the rows of the first event forever. */
  subscribe(
    operation: Operation,
    variables: Variables,
    context: Context,
  ): Promise<AsyncGenerator<ExecutionResult> | ExecutionResult>;
}

/** Events of a burst that are executed concurrently for one subscriber: each may read from the database. */
const CONCURRENT_EVENTS = 16;

export function createKernel(resources: Resources, schema: GraphQLSchema): Kernel {
  const documents = createDocuments(schema, resources.clock);
  const shared = createSharedResults();
  let dashboard: ReturnType<typeof readDashboardDocuments> | undefined;
  const sources: DocumentSources = {
    texts: resources.texts,
    published: createPublishedDocuments(resources),
    async dashboard(digest) {
      dashboard ??= readDashboardDocuments();
      return (await dashboard).get(digest);
    },
  };

  const rehearsal = rehearsalOf(resources);

  function createContext({ principal, requestId, wantsAnswer = false, isRehearsal = false, after }: Caller): Context {
    const permitted = isRehearsal ? rehearsal : resources;
    const replay: Replay = { wantsAnswer, replayed: false };
    // Loaders are bound to the tenant. Without a principal, no field that uses a loader is reachable.
    const loaders = new Loaders(permitted.db, principal?.tenant.id ?? -1);
    const eventPosition = resources.bus.position;
    return {
      ...permitted,
      principal,
      requestId,
      replay,
      loaders,
      isRehearsal,
      rehearsal: () => createContext({ principal, requestId, isRehearsal: true }),
      eventPosition,
      resumeAfter: after,
    };
  }

  /** No caching in mutations: their fields run in sequence, and each result must show the state after its field. */
  const withUncachedLoaders = (context: Context): Context => ({
    ...context,
    loaders: new Loaders(resources.db, context.principal?.tenant.id ?? -1, false),
  });

  function maskErrors(result: ExecutionResult, context: Context): ExecutionResult {
    if (!result.errors) return result;
    return { ...result, errors: result.errors.map(error => maskError(error, context.requestId, context.log)) };
  }

  const interpret = (
    operation: Operation,
    variables: Variables,
    contextValue: Context,
  ): Promise<ExecutionResult> | ExecutionResult =>
    execute({
      schema,
      document: operation.document,
      contextValue,
      variableValues: variables,
      operationName: operation.name,
    });

  function countDeprecated({ measured }: Operation): void {
    for (const field of measured.deprecated) resources.metrics.deprecatedFields.inc({ field });
  }

  async function run(operation: Operation, variables: Variables, given: Context): Promise<ExecutionResult> {
    const context = operation.node.operation === 'mutation' ? withUncachedLoaders(given) : given;
    countDeprecated(operation);
    try {
      documents.use(operation);
      const result = await (operation.compiled?.query(undefined, context, variables) ??
        interpret(operation, variables, context));
      const safe = maskErrors(result as ExecutionResult, context);
      return context.replay.replayed
        ? { ...safe, extensions: { ...safe.extensions, idempotencyReplayed: true } }
        : safe;
    } catch (error) {
      return { errors: [maskError(error, context.requestId, context.log)] };
    }
  }

  /** Executes a subscription's selection on one event, with a fresh context. */
  async function executeEvent(
    event: unknown,
    operation: Operation,
    variables: Variables,
    { principal, requestId }: Context,
  ): Promise<ExecutionResult> {
    const fresh = createContext({ principal, requestId });
    try {
      const result = await execute({
        schema,
        document: operation.document,
        rootValue: event,
        contextValue: fresh,
        variableValues: variables,
        operationName: operation.name,
      });
      return maskErrors(result, fresh);
    } catch (error) {
      return { errors: [maskError(error, requestId, fresh.log)] };
    }
  }

  function events(
    stream: AsyncGenerator<unknown>,
    operation: Operation,
    variables: Variables,
    context: Context,
  ): AsyncGenerator<ExecutionResult> {
    const group = shared.groupOf(operation, variables, context);
    const resultOf = (event: unknown): Promise<ExecutionResult> => {
      const executeOnce = (): Promise<ExecutionResult> => executeEvent(event, operation, variables, context);
      return typeof event === 'object' && event !== null ? shared.result(event, group, executeOnce) : executeOnce();
    };
    const failed = (error: unknown) => ({ errors: [maskError(error, context.requestId, context.log)] });
    return mapConcurrently(stream, CONCURRENT_EVENTS, resultOf, failed);
  }

  return {
    schema,
    textOf: (request, principal) => textOf(sources, request, principal),
    saveText({ query, persistedHash }) {
      if (query !== undefined && persistedHash !== undefined) resources.texts.save(persistedHash, query);
    },
    prepare: documents.prepare,
    prepareTrusted: documents.prepareTrusted,
    createContext,

    refusal(operation, variables, context) {
      try {
        if (operation.measured.introspects && !context.principal) throw unauthorized();
        checkLimits(operation.measured, variables);
        const { unstorableLiteral } = operation.measured;
        if (unstorableLiteral !== undefined) throw unstorable(unstorableLiteral);
        checkVariables(variables);
        return undefined;
      } catch (error) {
        return maskError(error, context.requestId, context.log);
      }
    },

    run,

    async subscribe(operation, variables, context) {
      countDeprecated(operation);
      try {
        const stream = await createSourceEventStream({
          schema,
          document: operation.document,
          contextValue: context,
          variableValues: variables,
          operationName: operation.name,
        });
        if (!(Symbol.asyncIterator in stream)) return maskErrors(stream, context);
        // Our resolvers return `closable` generators, which can be ended while they wait.
        const source = stream as AsyncGenerator<unknown>;
        return closable(events(source, operation, variables, context), () => void source.return(undefined));
      } catch (error) {
        return { errors: [maskError(error, context.requestId, context.log)] };
      }
    },
  };
}
