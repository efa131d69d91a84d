import type { FastifyReply, FastifyRequest } from 'fastify';
import type { DocumentNode } from 'graphql';
import { CodedError, type ErrorCode } from '../../core/errors.ts';
import type { Operation } from '../../graphql/execution/documents.ts';
import type { Caller, Kernel } from '../../graphql/execution/kernel.ts';
import { cacheHeaders, etagOf, namesEtag } from '../../http/etag.ts';
import { Call, type RestRequest } from './call.ts';
import type { RestHost } from './host.ts';
import { withOtherFaults } from './other-faults.ts';
import { listOf } from './query.ts';
import { type Refusal, refusalOfErrors, refusalOfUserErrors, userErrorsOf } from './refusal.ts';
import type { Answer, Plan, Route, RowStyle } from './route.ts';

/** Data of the request that an envelope contains. */
export interface Meta {
  readonly requestId: string;
  readonly nowMs: number;
}

type OperationContext = ReturnType<Kernel['createContext']>;

/** How one version of the contract authenticates callers and wraps answers and errors. */
export interface Dialect {
  /** Stored with responses for idempotency keys: the response of one version is not repeated by the other. */
  readonly version: string;
  /** Precedes the paths of the table. */
  readonly pathPrefix?: string;
  readonly rows: RowStyle;
  /** @throws UNAUTHORIZED, RATE_LIMIT_EXCEEDED, and the version's own errors */
  authenticate(host: RestHost, request: RestRequest, reply: FastifyReply): Promise<Caller>;
  /** Headers of every answer under the version's prefix. */
  headers?(request: {
    readonly routeOptions: { readonly url?: string | undefined };
    readonly params?: unknown;
  }): Readonly<Record<string, string>>;
  success(answer: Answer, call: Call, meta: Meta): unknown;
  failure(
    refusal: Refusal,
    request: Pick<FastifyRequest, 'headers' | 'url'>,
    meta: Meta,
  ): { readonly contentType: string; readonly body: unknown };
}

/** An answer as it is sent, and stored for a repeated request. */
export interface WireAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export const JSON_TYPE = 'application/json; charset=utf-8';

export function wireFailure(dialect: Dialect, refusal: Refusal, request: RestRequest, meta: Meta): WireAnswer {
  const { contentType, body } = dialect.failure(refusal, request, meta);
  const retryAfter = retryAfterOf(refusal);
  const headers = {
    'content-type': contentType,
    ...(typeof retryAfter === 'number' && {
      'retry-after': String(retryAfter),
      ...(refusal.status === 429 && { 'x-ratelimit-reset': String(Math.ceil(meta.nowMs / 1_000) + retryAfter) }),
    }),
    ...(refusal.status === 401 && { 'www-authenticate': 'Bearer' }),
  };
  return { status: refusal.status, headers, body: JSON.stringify(body) };
}

/** Seconds to wait before the next attempt. Every 503 has them, also where the cause gives no time. */
function retryAfterOf({ status, details }: Refusal): unknown {
  if (status === 503) return details?.['retry_after'] ?? 1;
  return status === 429 ? details?.['retry_after'] : undefined;
}

function wireSuccess(
  dialect: Dialect,
  route: Route,
  answer: Answer,
  call: Call,
  meta: Meta,
  read: Route | undefined,
): WireAnswer {
  const cache = route.method === 'GET' ? cacheHeaders(answer) : undefined;
  const changed = read && route.method === 'PATCH' ? { etag: etagOf(dataAsRead(route, read, answer, call)) } : {};
  const headers = { ...cache, ...changed, ...answer.headers };
  if (cache?.etag !== undefined && namesEtag(call.request.headers['if-none-match'], cache.etag))
    return { status: 304, headers, body: '' };
  const body = JSON.stringify(route.withoutEnvelope ? answer.data : dialect.success(answer, call, meta));
  return { status: answer.status ?? route.status ?? 200, headers: { 'content-type': JSON_TYPE, ...headers }, body };
}

/** The data of a change as a GET with the same `fields` and `include` returns it: without objects that only changes always include. */
function dataAsRead({ always = [] }: Route, read: Route, { data }: Answer, { query }: Call): unknown {
  const requested = [...(read.always ?? []), ...listOf(query, 'include'), ...listOf(query, 'fields')];
  const hidden = always.filter(name => !requested.includes(name));
  if (hidden.length === 0) return data;
  return Object.fromEntries(Object.entries(data as object).filter(([name]) => !hidden.includes(name)));
}

/**
 * Executes a request by its route's GraphQL operation. Errors of the operation become responses.
 * @throws CodedError for a request that the route cannot read
 */
export async function execute(
  host: RestHost,
  dialect: Dialect,
  route: Route,
  operations: ReadonlyMap<DocumentNode, Operation>,
  request: RestRequest,
  caller: Caller,
  read?: Executable,
): Promise<WireAnswer> {
  const call = new Call(request, caller);
  let planned: Plan;
  try {
    planned = route.plan(call, dialect.rows);
  } catch (error) {
    throw await withOtherFaults(host, route, operations, call, caller, dialect.rows, error);
  }
  const isConditional = request.headers['if-match'] !== undefined && read !== undefined;
  const plan = isConditional ? await withPrecondition(host, dialect, route, read, planned, request, caller) : planned;
  const operation = operations.get(plan.document);
  if (!operation) throw new Error('The route planned a document that it does not list.');
  const context = host.kernel.createContext({ ...caller, wantsAnswer: true });
  try {
    return await answer(host, dialect, route, plan, operation, call, context, read?.route);
  } finally {
    context.replay.end?.();
  }
}

/** A route with its prepared documents. */
export interface Executable {
  readonly route: Route;
  readonly operations: ReadonlyMap<DocumentNode, Operation>;
}

/**
 * Checks `If-Match` (RFC 9110 §13.1.1) against the weak tag that GET sends: the object is read as GET does. If the route has `readAt`,
 * the mutation receives the time of the object's last change, so that a concurrent change is detected.
 * @throws PRECONDITION_FAILED
 */
async function withPrecondition(
  host: RestHost,
  dialect: Dialect,
  { readAt }: Route,
  { route, operations }: Executable,
  plan: Plan,
  request: RestRequest,
  caller: Caller,
): Promise<Plan> {
  const current = route.plan(new Call(request, caller), dialect.rows);
  const operation = operations.get(current.document);
  if (!operation) throw new Error('The route planned a document that it does not list.');
  const { data, errors } = await host.kernel.run(
    operation,
    { ...current.variables },
    host.kernel.createContext(caller),
  );
  const tags = request.headers['if-match'];
  const { etag } = errors ? {} : cacheHeaders(current.respond(data));
  if (etag === undefined || !namesEtag(tags, etag)) throw preconditionFailed();
  // `*` holds for each state of the object.
  if (!readAt || tags?.trim() === '*') return plan;
  const variables = plan.variables as { readonly input?: object };
  return { ...plan, variables: { ...variables, input: { ...variables.input, unchangedSince: readAt(data) } } };
}

const preconditionFailed = (): CodedError =>
  new CodedError('PRECONDITION_FAILED', 'The object was changed since it was read. Read it again.');

async function answer(
  host: RestHost,
  dialect: Dialect,
  route: Route,
  plan: Plan,
  operation: Operation,
  call: Call,
  context: OperationContext,
  read: Route | undefined,
): Promise<WireAnswer> {
  const { data, errors } = await host.kernel.run(operation, { ...plan.variables }, context);
  const { replay, requestId } = context;
  const stored = replay.replayed ? storedAnswer(replay.answer, dialect) : undefined;
  if (stored) return markReplayed(stored);

  const meta = { requestId, nowMs: host.clock.now() };
  const [userError, ...userErrors] = userErrorsOf(data);
  if (userError?.code === 'CONFLICT' && route.readAt) throw preconditionFailed();
  const outcome = errors
    ? refusalOfErrors(errors, plan.names)
    : userError
      ? refusalOfUserErrors([userError, ...userErrors], plan.names)
      : answerOf(plan, data);
  const isRefusal = 'code' in outcome;
  const sent = isRefusal
    ? wireFailure(dialect, outcome, call.request, meta)
    : wireSuccess(dialect, route, outcome, call, meta, read);
  // Stored are successes, and refusals that are final because the message exists and has failed. After any other error, a repeated
  // request may succeed.
  const isFault = errors !== undefined || userError !== undefined;
  if (replay.key !== undefined && (!isFault || (isRefusal && FINAL_REFUSALS.has(outcome.code)))) {
    const withoutSecret =
      !isRefusal && outcome.storedData !== undefined ? { ...outcome, data: outcome.storedData } : undefined;
    const toStore = withoutSecret ? wireSuccess(dialect, route, withoutSecret, call, meta, read) : sent;
    await store(host, context, { version: dialect.version, ...toStore });
  }
  return replay.replayed ? markReplayed(sent) : sent;
}

/** Errors of a message that was accepted and failed while its sender waited. */
const FINAL_REFUSALS: ReadonlySet<ErrorCode> = new Set(['MESSAGE_SEND_FAILED', 'CONTACT_OPTED_OUT']);

/** The route's response. A negative result in GraphQL, such as a wrong code, is an error in REST. */
function answerOf(plan: Plan, data: unknown): Answer | Refusal {
  try {
    return plan.respond(data);
  } catch (error) {
    if (error instanceof CodedError) return refusalOfErrors([error], plan.names);
    throw error;
  }
}

/** A failure is only logged: the work is done, and a repeated request gets a newly built response. */
async function store(
  host: RestHost,
  context: OperationContext,
  answer: WireAnswer & Pick<Dialect, 'version'>,
): Promise<void> {
  try {
    await host.saveAnswer(context, answer);
  } catch (error) {
    host.log.warn(
      { err: error, requestId: context.requestId },
      'an answer could not be stored for its idempotency key',
    );
  }
}

const markReplayed = (answer: WireAnswer): WireAnswer => ({
  ...answer,
  headers: { ...answer.headers, 'idempotency-replayed': 'true' },
});

/** The body is stored as text, because jsonb would reorder its keys and the response is repeated byte for byte. */
function storedAnswer(answer: unknown, { version }: Dialect): WireAnswer | undefined {
  if (
    typeof answer !== 'object' ||
    answer === null ||
    !('status' in answer) ||
    !('headers' in answer) ||
    !('body' in answer) ||
    !('version' in answer) ||
    answer.version !== version
  )
    return undefined;
  const { status, headers, body } = answer;
  if (typeof status !== 'number' || typeof body !== 'string' || typeof headers !== 'object' || headers === null)
    return undefined;
  return {
    status,
    body,
    headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)])),
  };
}
