import { renderGraphiQL } from '@graphql-yoga/render-graphiql';
import { type ExecutionArgs, GraphQLError } from 'graphql';
import { createYoga, type GraphQLParams, type Plugin, type YogaServerInstance } from 'graphql-yoga';
import type { Cost } from '../authenticate.ts';
import type { Config } from '../config.ts';
import type { Principal } from '../context.ts';
import { unauthorized } from '../errors.ts';
import type { TokenVerifier } from '../features/tokens/verifier.ts';
import { withCost } from './asked.ts';
import type { Operation } from './documents.ts';
import type { Kernel } from './kernel.ts';
import { endWith } from './until.ts';

/** What Fastify has found out about the request before Yoga sees it. */
export interface YogaContext extends Record<string, unknown> {
  readonly principal: Principal | undefined;
  readonly requestId: string;
  /** The bearer token, to be watched while a stream is open. */
  readonly token: string | undefined;
  /** What the request has been charged. */
  readonly cost: Cost;
}

/** Hooks our kernel into Yoga: it keeps HTTP (GET, SSE, multipart, GraphiQL), we keep parsing, validation, limits and execution. */
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
        const { operation, context, variables } = take(args);
        const refusal = kernel.refusal(operation, variables, context);
        return refusal ? { errors: [refusal] } : kernel.run(operation, variables, context);
      });
    },
    onSubscribe({ args, setSubscribeFn }) {
      setSubscribeFn(async () => {
        const { operation, context, variables } = take(args);
        const refusal = kernel.refusal(operation, variables, context);
        if (refusal) return { errors: [refusal] };
        const stream = await kernel.subscribe(operation, variables, context);
        const { token } = yogaContext(args);
        if (!(Symbol.asyncIterator in stream) || token === undefined) return stream;
        // A stream ends with its token: revoked or expired.
        return endWith(stream, end => tokens.watch(token, end), { errors: [unauthorized()] });
      });
    },
    onResultProcess({ result, setResult, serverContext }) {
      // Events of a stream cost nothing: its opening did, and its headers say so.
      if (!Array.isArray(result) && !(Symbol.asyncIterator in result))
        setResult(withCost(result, (serverContext as unknown as YogaContext).cost));
    },
  };

  function take(args: ExecutionArgs) {
    const operation = operations.get(args.document);
    if (!operation) throw new GraphQLError('The document was not prepared.');
    const { principal, requestId } = yogaContext(args);
    // The operation of this request, which another one of the same document may have prepared last.
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

/** A newcomer's first query runs as it stands: the development token is in the headers already. */
const graphiqlOptions = (token: string | undefined) => ({
  title: 'Parley',
  subscriptionsProtocol: 'WS' as const,
  defaultQuery: '{\n  viewer {\n    tenant {\n      name\n    }\n    scopes\n  }\n}\n',
  ...(token !== undefined && { headers: JSON.stringify({ authorization: `Bearer ${token}` }, null, 2) }),
});

export function createYogaServer(
  kernel: Kernel,
  tokens: TokenVerifier,
  graphiql: Config['graphiql'],
): YogaServerInstance<YogaContext, Record<string, unknown>> {
  return createYoga<YogaContext>({
    schema: kernel.schema,
    plugins: [useKernel(kernel, tokens)],
    // Masked by the kernel, which knows the request id.
    maskedErrors: false,
    graphqlEndpoint: '/graphql',
    // Served from the package: no page of ours loads anything from elsewhere.
    renderGraphiQL,
    graphiql: graphiql && graphiqlOptions(graphiql.token),
    landingPage: false,
    batching: false,
    cors: false,
    logging: false,
    // Fastify has counted the bytes already; Yoga's own check doubles the cost of a request.
    maxRequestBodySize: false,
  });
}
