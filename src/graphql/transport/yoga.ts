import { type ExecutionArgs, GraphQLError } from 'graphql';
import { createYoga, type GraphQLParams, type Plugin, type YogaServerInstance } from 'graphql-yoga';
import { unauthorized } from '../../core/errors.ts';
import type { Principal } from '../../core/principal.ts';
import type { TokenVerifier } from '../../core/token-verifier.ts';
import type { Cost } from '../../http/authenticate.ts';
import type { Operation } from '../execution/documents.ts';
import type { Kernel } from '../execution/kernel.ts';
import { withCost } from '../execution/operation.ts';
import { endOnSignal } from './end-on-signal.ts';
import { retryAfterOf } from './http.ts';

/** Facts about a request, known before Yoga receives it. */
export interface YogaContext extends Record<string, unknown> {
  readonly principal: Principal | undefined;
  readonly requestId: string;
  /** The bearer token, watched while a stream is open. */
  readonly token: string | undefined;
  /** The cost that the request was charged. */
  readonly cost: Cost;
  /** Called with the data of a complete result, one without errors. */
  readonly onComplete?: (data: unknown) => void;
}

/** Connects Yoga to the kernel: Yoga does HTTP (GET, SSE, multipart), the kernel parses, validates, limits and executes. */
function useKernel(kernel: Kernel, tokens: TokenVerifier): Plugin {
  const operations = new WeakMap<object, Operation>();
  return {
    onParse({ params, context, setParsedDocument }) {
      const { operationName } = (context as { params?: GraphQLParams }).params ?? {};
      const prepared = kernel.prepare(String(params.source), operationName ?? undefined);
      if ('errors' in prepared)
        throw prepared.errors.length === 1 ? prepared.errors[0] : new AggregateError(prepared.errors);
      operations.set(prepared.operation.document, prepared.operation);
      setParsedDocument(prepared.operation.document);
    },
    onValidate({ setResult }) {
      setResult([]);
    },
    onExecute({ args, setExecuteFn }) {
      setExecuteFn(async () => {
        const { operation, context, variables } = operationOf(args);
        const refusal = kernel.refusal(operation, variables, context);
        return refusal ? { errors: [refusal] } : kernel.run(operation, variables, context);
      });
    },
    onSubscribe({ args, setSubscribeFn }) {
      setSubscribeFn(async () => {
        const { operation, context, variables } = operationOf(args);
        const refusal = kernel.refusal(operation, variables, context);
        if (refusal) return { errors: [refusal] };
        const stream = await kernel.subscribe(operation, variables, context);
        const { token } = yogaContext(args);
        if (!(Symbol.asyncIterator in stream) || token === undefined) return stream;
        return endOnSignal(stream, end => tokens.watch(token, end), { errors: [unauthorized()] });
      });
    },
    onResultProcess({ result, setResult, serverContext }) {
      // Opening a stream was charged and reported in headers; its events cost nothing.
      if (Array.isArray(result) || Symbol.asyncIterator in result) return;
      const { cost, onComplete } = serverContext as unknown as YogaContext;
      const { extensions, ...rest } = withCost(result, cost);
      if (result.data && !result.errors) onComplete?.(result.data);
      const retryAfter = retryAfterOf(result);
      // Yoga sends these as status and headers and removes the extension.
      const http = { status: 503, headers: { 'retry-after': String(retryAfter) } };
      setResult({ ...rest, extensions: { ...extensions, ...(retryAfter !== undefined && { http }) } });
    },
  };

  function operationOf(args: ExecutionArgs) {
    const operation = operations.get(args.document);
    if (!operation) throw new GraphQLError('The document was not prepared.');
    const { principal, requestId } = yogaContext(args);
    // A concurrent request may have prepared another operation of the same document.
    const prepared =
      args.operationName === operation.name || args.operationName == null
        ? operation
        : { ...operation, name: args.operationName, compiled: undefined };
    return {
      operation: prepared,
      context: kernel.createContext({ principal, requestId }),
      variables: (args.variableValues ?? {}) as Record<string, unknown>,
    };
  }
}

const yogaContext = (args: ExecutionArgs): YogaContext => args.contextValue as YogaContext;

export function createYogaServer(
  kernel: Kernel,
  tokens: TokenVerifier,
): YogaServerInstance<YogaContext, Record<string, unknown>> {
  return createYoga<YogaContext>({
    schema: kernel.schema,
    plugins: [useKernel(kernel, tokens)],
    // Masked by the kernel, which knows the request id.
    maskedErrors: false,
    graphqlEndpoint: '/graphql',
    // See graphiql.ts.
    graphiql: false,
    landingPage: false,
    batching: false,
    cors: false,
    logging: false,
    // Fastify has limited the body; Yoga's own check doubles the cost of a request.
    maxRequestBodySize: false,
  });
}
