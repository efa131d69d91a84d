import {
  createSourceEventStream,
  type DocumentNode,
  type ExecutionResult,
  execute,
  type GraphQLError,
  type GraphQLSchema,
} from 'graphql';
import type { Context, Principal, Replay, Resources } from '../context.ts';
import { unauthorized } from '../errors.ts';
import { Loaders } from '../features/loaders.ts';
import { closable } from '../platform/closable.ts';
import { mapAhead } from '../platform/map-ahead.ts';
import { createDocuments, type Operation, type Prepared } from './documents.ts';
import { maskError } from './errors.ts';
import { resolveGlobalIdsAtOnce } from './global-id-fields.ts';
import { checkLimits } from './limits.ts';
import { createSharedEvents } from './shared-events.ts';
import { checkVariables, textFault } from './text.ts';

export type Variables = Readonly<Record<string, unknown>>;

/** Who asks, and under which request id. */
export interface Caller {
  readonly principal: Principal | undefined;
  readonly requestId: string;
  /** Set by REST, which repeats answers word for word. */
  readonly wantsAnswer?: boolean;
}

/** How every operation is executed, whichever way it came: GraphQL over HTTP, SSE or WebSocket, or a route of REST. */
export interface Kernel {
  readonly schema: GraphQLSchema;
  /** Parsed, validated and measured; the same text is worked on once. */
  prepare(text: string, operationName: string | undefined): Prepared;
  /** Compiles a document of our own at boot. @throws when it does not fit the schema */
  compile(document: DocumentNode): Operation;
  createContext(caller: Caller): Context;
  /** Refuses what the caller may not ask; undefined when it may go on. */
  refusal(operation: Operation, variables: Variables, context: Context): GraphQLError | undefined;
  /** Executes a query or mutation. Never rejects; errors are masked. */
  run(operation: Operation, variables: Variables, context: Context): Promise<ExecutionResult>;
  /** Executes a subscription. Every event has a context of its own: loaders that lived on would serve the first event's rows for ever. */
  subscribe(
    operation: Operation,
    variables: Variables,
    context: Context,
  ): Promise<AsyncGenerator<ExecutionResult> | ExecutionResult>;
}

/** Events of a burst that are answered at once for one subscriber: each may read from the database. */
const EVENTS_AHEAD = 16;

export function createKernel(resources: Resources, schema: GraphQLSchema): Kernel {
  resolveGlobalIdsAtOnce(schema);
  const documents = createDocuments(schema, resources.clock);
  const shared = createSharedEvents();

  function createContext({ principal, requestId, wantsAnswer = false }: Caller): Context {
    const replay: Replay = { wantsAnswer, replayed: false };
    // The principal's tenant bounds every loader; without one no field that loads is reached.
    const loaders = new Loaders(resources.db, principal?.tenant.id ?? -1);
    return { ...resources, principal, requestId, replay, loaders };
  }

  /** The fields of a mutation run one after the other, and each shows what is there after its own turn. */
  const withoutMemory = (context: Context): Context => ({
    ...context,
    loaders: new Loaders(resources.db, context.principal?.tenant.id ?? -1, false),
  });

  function masked(result: ExecutionResult, context: Context): ExecutionResult {
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

  async function run(operation: Operation, variables: Variables, given: Context): Promise<ExecutionResult> {
    const context = operation.node.operation === 'mutation' ? withoutMemory(given) : given;
    try {
      documents.use(operation);
      const compiled = await operation.compiled?.query(undefined, context, variables);
      // A program that was not run, because the variables do not fit it, says so in words of its own: the executor has the usual ones.
      const result = compiled && 'data' in compiled ? compiled : await interpret(operation, variables, context);
      const safe = masked(result as ExecutionResult, context);
      return context.replay.replayed
        ? { ...safe, extensions: { ...safe.extensions, idempotencyReplayed: true } }
        : safe;
    } catch (error) {
      return { errors: [maskError(error, context.requestId, context.log)] };
    }
  }

  /** One event of a subscription, answered: with a context of its own, and once for all who get the same. */
  async function answerEvent(
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
      return masked(result, fresh);
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
    const answer = (event: unknown): Promise<ExecutionResult> => {
      const make = (): Promise<ExecutionResult> => answerEvent(event, operation, variables, context);
      return typeof event === 'object' && event !== null ? shared.answer(event, group, make) : make();
    };
    const failed = (error: unknown) => ({ errors: [maskError(error, context.requestId, context.log)] });
    return mapAhead(stream, EVENTS_AHEAD, answer, failed);
  }

  return {
    schema,
    prepare: documents.prepare,
    compile: document => documents.compile(document),
    createContext,

    refusal(operation, variables, context) {
      try {
        if (operation.measured.introspects && !context.principal) throw unauthorized();
        checkLimits(operation.measured, variables);
        if (operation.measured.faultyLiteral !== undefined) throw textFault(operation.measured.faultyLiteral);
        checkVariables(variables);
        return undefined;
      } catch (error) {
        return maskError(error, context.requestId, context.log);
      }
    },

    run,

    async subscribe(operation, variables, context) {
      try {
        const stream = await createSourceEventStream({
          schema,
          document: operation.document,
          contextValue: context,
          variableValues: variables,
          operationName: operation.name,
        });
        if (!(Symbol.asyncIterator in stream)) return masked(stream, context);
        // What our resolvers subscribe to is a generator that can be ended while it waits.
        const source = stream as AsyncGenerator<unknown>;
        return closable(events(source, operation, variables, context), () => void source.return(undefined));
      } catch (error) {
        return { errors: [maskError(error, context.requestId, context.log)] };
      }
    },
  };
}
