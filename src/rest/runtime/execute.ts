import type { FastifyReply, FastifyRequest } from 'fastify';
import { CodedError, type ErrorCode } from '../../core/errors.ts';
import { requireScopes } from '../../core/principal.ts';
import type { Scope } from '../../core/scopes.ts';
import type { Operation } from '../../graphql/execution/documents.ts';
import type { Caller, Kernel } from '../../graphql/execution/kernel.ts';
import { cacheHeaders, etagOf, namesEtag } from '../../http/etag.ts';
import { Call, type RestRequest } from './call.ts';
import { type Executable, operationOfPlan } from './executable.ts';
import type { RestHost } from './host.ts';
import { withOtherFaults } from './other-faults.ts';
import { listOf } from './query.ts';
import { type RestError, restErrorOf, restErrorOfUserErrors, userErrorsOf } from './rest-error.ts';
import type { Plan, Route, RouteResponse, RowStyle } from './route.ts';

/** Data of the request that an envelope contains. */
export interface Meta {
  readonly requestId: string;
  readonly nowMs: number;
}

type OperationContext = ReturnType<Kernel['createContext']>;

/** How one version of the contract authenticates callers and wraps responses and errors. */
export interface ApiVersion {
  /** Stored with responses for idempotency keys: the response of one version is not repeated by the other. */
  readonly name: string;
  /** Precedes the paths of the table. */
  readonly pathPrefix?: string;
  readonly rows: RowStyle;
  /** @throws UNAUTHORIZED, RATE_LIMIT_EXCEEDED, and the version's own errors */
  authenticate(host: RestHost, request: RestRequest, reply: FastifyReply): Promise<Caller>;
  /** Headers of every response under the version's prefix. */
  headers?(request: {
    readonly routeOptions: { readonly url?: string | undefined };
    readonly params?: unknown;
  }): Readonly<Record<string, string>>;
  success(response: RouteResponse, call: Call, meta: Meta): unknown;
  failure(
    error: RestError,
    request: Pick<FastifyRequest, 'headers' | 'url'>,
    meta: Meta,
  ): { readonly contentType: string; readonly body: unknown };
}

/** A response as it is sent, and stored for a repeated request. */
export interface WireResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export const JSON_TYPE = 'application/json; charset=utf-8';

export function wireError(version: ApiVersion, error: RestError, request: RestRequest, meta: Meta): WireResponse {
  const { contentType, body } = version.failure(error, request, meta);
  const retryAfter = retryAfterOf(error);
  const headers = {
    'content-type': contentType,
    ...(typeof retryAfter === 'number' && {
      'retry-after': String(retryAfter),
      ...(error.status === 429 && { 'x-ratelimit-reset': String(Math.ceil(meta.nowMs / 1_000) + retryAfter) }),
    }),
    ...(error.status === 401 && { 'www-authenticate': 'Bearer' }),
  };
  return { status: error.status, headers, body: JSON.stringify(body) };
}

/** Seconds to wait before the next attempt. Every 503 has a value: one second if its cause names none. */
function retryAfterOf({ status, details }: RestError): unknown {
  if (status === 503) return details?.['retry_after'] ?? 1;
  return status === 429 ? details?.['retry_after'] : undefined;
}

function wireSuccess({ version, route, call, read }: Exchange, response: RouteResponse, meta: Meta): WireResponse {
  const cache = route.method === 'GET' ? cacheHeaders(response) : undefined;
  const newTag =
    read && route.method === 'PATCH' ? { etag: etagOf(dataAsRead(route, read.route, response, call)) } : {};
  const headers = { ...cache, ...newTag, ...response.headers };
  if (cache?.etag !== undefined && namesEtag(call.request.headers['if-none-match'], cache.etag))
    return { status: 304, headers, body: '' };
  const body = JSON.stringify(route.withoutEnvelope ? response.data : version.success(response, call, meta));
  return { status: response.status ?? route.status ?? 200, headers: { 'content-type': JSON_TYPE, ...headers }, body };
}

/** The data of a change as GET returns it for the same `fields` and `include`: without objects that only changes always include. */
function dataAsRead({ always = [] }: Route, read: Route, { data }: RouteResponse, { query }: Call): unknown {
  const requested = [...(read.always ?? []), ...listOf(query, 'include'), ...listOf(query, 'fields')];
  const hidden = always.filter(name => !requested.includes(name));
  if (hidden.length === 0) return data;
  return Object.fromEntries(Object.entries(data as object).filter(([name]) => !hidden.includes(name)));
}

/** A request to a route of one version. */
interface Exchange {
  readonly host: RestHost;
  readonly version: ApiVersion;
  readonly route: Route;
  readonly call: Call;
  /** The GET of what the route changes, if there is one. */
  readonly read: Executable | undefined;
}

/**
 * Executes a request by its route's GraphQL operation. Errors of the operation become responses.
 * @param read the GET of what the route changes, if there is one
 * @throws CodedError for a request that the route cannot read
 */
export async function execute(
  host: RestHost,
  version: ApiVersion,
  executable: Executable & { readonly scopes: readonly Scope[] },
  request: RestRequest,
  caller: Caller,
  read: Executable | undefined,
): Promise<WireResponse> {
  const { route, scopes } = executable;
  const call = new Call(request, caller);
  const exchange: Exchange = { host, version, route, call, read };
  let planned: Plan;
  try {
    planned = route.plan(call, version.rows);
  } catch (error) {
    // As GraphQL does: its scopes are checked before its arguments are.
    if (caller.principal) requireScopes(caller.principal, scopes);
    throw await withOtherFaults(host, executable, call, caller, version.rows, error);
  }
  let plan = planned;
  if (read && request.headers['if-match'] !== undefined) {
    // A missing scope is reported rather than a failed precondition (RFC 9110 §13.2.1).
    if (caller.principal) requireScopes(caller.principal, scopes);
    plan = await withPrecondition(exchange, read, planned, caller);
  }
  const operation = operationOfPlan(executable, plan);
  const context = host.kernel.createContext({ ...caller, wantsAnswer: true });
  try {
    return await respond(exchange, plan, operation, context);
  } finally {
    context.replay.end?.();
  }
}

/**
 * Checks `If-Match` (RFC 9110 §13.1.1) against the weak tag that GET sends: the object is read as GET does. If the route has `readAt`,
 * the mutation receives the time of the object's last change, so that a concurrent change is detected. A repeated request is answered by
 * its idempotency key, because it was the first one that changed the object.
 * @throws PRECONDITION_FAILED, and every error of GET
 */
async function withPrecondition(
  { host, version, route: { readAt }, call: { request, idempotencyKey } }: Exchange,
  read: Executable,
  plan: Plan,
  caller: Caller,
): Promise<Plan> {
  const current = read.route.plan(new Call(request, caller), version.rows);
  const { data, errors } = await host.kernel.run(
    operationOfPlan(read, current),
    { ...current.variables },
    host.kernel.createContext(caller),
  );
  if (errors) {
    const { code, message, details } = restErrorOf(errors, current.names);
    throw new CodedError(code, message, { details });
  }
  const variables = plan.variables as { readonly input?: { readonly idempotencyKey?: unknown } };
  const { input } = variables;
  const tags = request.headers['if-match'];
  const { etag } = cacheHeaders(current.respond(data));
  if (etag === undefined || !namesEtag(tags, etag)) {
    // A used key guarantees that the mutation changes nothing only if the mutation receives it: a deletion does not.
    const isKeyed = idempotencyKey !== undefined && input?.idempotencyKey === idempotencyKey;
    if (isKeyed && (await host.isUsedKey(caller, idempotencyKey))) return plan;
    throw preconditionFailed();
  }
  // `*` matches every state of the object.
  if (!readAt || tags?.trim() === '*') return plan;
  return { ...plan, variables: { ...variables, input: { ...input, unchangedSince: readAt(data) } } };
}

const preconditionFailed = (): CodedError =>
  new CodedError('PRECONDITION_FAILED', 'The object was changed since it was read. Read it again.');

async function respond(
  exchange: Exchange,
  plan: Plan,
  operation: Operation,
  context: OperationContext,
): Promise<WireResponse> {
  const { host, version, route, call } = exchange;
  const { data, errors } = await host.kernel.run(operation, { ...plan.variables }, context);
  const { replay, requestId } = context;
  const stored = replay.replayed ? storedResponse(replay.answer, version) : undefined;
  if (stored) return markReplayed(stored);

  const meta = { requestId, nowMs: host.clock.now() };
  const [userError, ...userErrors] = userErrorsOf(data);
  if (userError?.code === 'CONFLICT' && route.readAt && !replay.isRunning) throw preconditionFailed();
  const outcome = errors
    ? restErrorOf(errors, plan.names)
    : userError
      ? restErrorOfUserErrors([userError, ...userErrors], plan.names)
      : responseOf(plan, data);
  const isError = 'code' in outcome;
  const sent = isError ? wireError(version, outcome, call.request, meta) : wireSuccess(exchange, outcome, meta);
  // Stored are successes, and errors that are final because the message exists and has failed. After any other error, a repeated
  // request may succeed.
  const isFault = errors !== undefined || userError !== undefined;
  if (replay.key !== undefined && (!isFault || (isError && FINAL_ERRORS.has(outcome.code)))) {
    const withoutSecret =
      !isError && outcome.storedData !== undefined ? { ...outcome, data: outcome.storedData } : undefined;
    const toStore = withoutSecret ? wireSuccess(exchange, withoutSecret, meta) : sent;
    await store(host, context, { version: version.name, ...toStore });
  }
  return replay.replayed ? markReplayed(sent) : sent;
}

/** Errors of a message that was accepted and failed while its sender waited. */
const FINAL_ERRORS: ReadonlySet<ErrorCode> = new Set(['MESSAGE_SEND_FAILED', 'CONTACT_OPTED_OUT']);

/** The route's response. A negative result in GraphQL, such as a wrong code, is an error in REST. */
function responseOf(plan: Plan, data: unknown): RouteResponse | RestError {
  try {
    return plan.respond(data);
  } catch (error) {
    if (error instanceof CodedError) return restErrorOf([error], plan.names);
    throw error;
  }
}

/** A failure is only logged: the work is done, and a repeated request gets a newly built response. */
async function store(
  host: RestHost,
  context: OperationContext,
  response: WireResponse & { readonly version: string },
): Promise<void> {
  try {
    await host.saveAnswer(context, response);
  } catch (error) {
    host.log.warn(
      { err: error, requestId: context.requestId },
      'an answer could not be stored for its idempotency key',
    );
  }
}

const markReplayed = (response: WireResponse): WireResponse => ({
  ...response,
  headers: { ...response.headers, 'idempotency-replayed': 'true' },
});

/** The body is stored as text, because jsonb would reorder its keys and the response is repeated byte for byte. */
function storedResponse(stored: unknown, { name }: ApiVersion): WireResponse | undefined {
  if (
    typeof stored !== 'object' ||
    stored === null ||
    !('status' in stored) ||
    !('headers' in stored) ||
    !('body' in stored) ||
    !('version' in stored) ||
    stored.version !== name
  )
    return undefined;
  const { status, headers, body } = stored;
  if (typeof status !== 'number' || typeof body !== 'string' || typeof headers !== 'object' || headers === null)
    return undefined;
  return {
    status,
    body,
    headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)])),
  };
}
