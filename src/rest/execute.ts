import type { FastifyReply, FastifyRequest } from 'fastify';
import type { DocumentNode } from 'graphql';
import type { Replay } from '../context.ts';
import { CodedError } from '../errors.ts';
import type { Operation } from '../graphql/documents.ts';
import type { Caller, Kernel } from '../graphql/kernel.ts';
import { Call, type RestRequest } from './call.ts';
import type { RestHost } from './host.ts';
import { type Refusal, refusalOfErrors } from './refusal.ts';
import type { Answer, Route } from './route.ts';
import { validatorOf } from './validator.ts';

/** What every answer of a dialect says about itself. */
export interface Meta {
  readonly requestId: string;
  readonly nowMs: number;
}

/** How one version of the contract lets callers in, and dresses answers and refusals. */
export interface Dialect {
  /** Stands with the answers that are kept for idempotency keys: a key of one version is answered anew by another. */
  readonly version: string;
  /** Before all paths of the table, where callers say more in the address than what they want. */
  readonly below?: string;
  /** Says who calls. @throws UNAUTHORIZED, RATE_LIMIT_EXCEEDED, and what the version refuses besides */
  admit(host: RestHost, request: RestRequest, reply: FastifyReply): Promise<Caller>;
  /** What every answer under the version's prefix has in its headers, whatever it is. */
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

/** An answer to the byte: what is sent, and what is kept for a repeated request. */
export interface WireAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const JSON_TYPE = 'application/json; charset=utf-8';

export function wireFailure(dialect: Dialect, refusal: Refusal, request: RestRequest, meta: Meta): WireAnswer {
  const { contentType, body } = dialect.failure(refusal, request, meta);
  const retryAfter = refusal.status === 503 || refusal.status === 429 ? refusal.details?.['retry_after'] : undefined;
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

function wireSuccess(dialect: Dialect, route: Route, answer: Answer, call: Call, meta: Meta): WireAnswer {
  const validator = route.method === 'GET' ? validatorOf(answer) : undefined;
  const headers = { ...validator, ...answer.headers };
  if (validator?.etag !== undefined && call.hasAlready(validator.etag)) return { status: 304, headers, body: '' };
  const body = JSON.stringify(route.bare ? answer.data : dialect.success(answer, call, meta));
  return { status: answer.status ?? route.status ?? 200, headers: { 'content-type': JSON_TYPE, ...headers }, body };
}

/**
 * Does one request by its route's GraphQL operation.
 * @throws CodedError for what the route cannot read; what GraphQL refuses is answered
 */
export async function execute(
  host: RestHost,
  dialect: Dialect,
  route: Route,
  operations: ReadonlyMap<DocumentNode, Operation>,
  request: RestRequest,
  caller: Caller,
): Promise<WireAnswer> {
  const call = new Call(request, caller);
  const plan = route.plan(call);
  const operation = operations.get(plan.document);
  if (!operation) throw new Error('The route has executed a document that it does not name.');
  const context = host.kernel.createContext({ ...caller, wantsAnswer: true });
  const { data, errors } = await host.kernel.run(operation, { ...plan.variables }, context);
  const { replay } = context;
  const kept = replay.replayed ? keptAnswer(replay, dialect) : undefined;
  if (kept) return replayed(kept);

  const meta = { requestId: caller.requestId, nowMs: context.clock.now() };
  const told = errors ? refusalOfErrors(errors, plan.names) : answerOf(plan, data);
  const dress = (said: Answer): WireAnswer => wireSuccess(dialect, route, said, call, meta);
  const [answer, lasting] = 'code' in told ? [wireFailure(dialect, told, request, meta)] : withLasting(told, dress);
  // A message that the network refused exists, and stays refused; a code that was wrong stays wrong: those too are the one
  // answer to this key. Any other error after the work was done is a fault of ours, which a repetition may find mended.
  if (replay.key !== undefined && (!errors || ('code' in told && told.code === 'MESSAGE_SEND_FAILED')))
    await keep(host, context, { version: dialect.version, ...(lasting ?? answer) });
  return replay.replayed ? replayed(answer) : answer;
}

/** What the result is in this dialect. A question that GraphQL answers with no is a refusal in REST. */
function answerOf(plan: ReturnType<Route['plan']>, data: unknown): Answer | Refusal {
  try {
    return plan.respond(data);
  } catch (error) {
    if (error instanceof CodedError) return refusalOfErrors([error], plan.names);
    throw error;
  }
}

/** An answer, and beside it what is kept of one that tells a secret. */
const withLasting = (told: Answer, dress: (told: Answer) => WireAnswer): [WireAnswer, WireAnswer?] =>
  told.kept === undefined ? [dress(told)] : [dress(told), dress({ ...told, data: told.kept })];

/** The work is done: a caller must not hear of a failure because only its repetition would be costlier. */
async function keep(
  host: RestHost,
  context: ReturnType<Kernel['createContext']>,
  answer: WireAnswer & Pick<Dialect, 'version'>,
): Promise<void> {
  try {
    await host.saveAnswer(context, answer);
  } catch (error) {
    context.log.warn(
      { err: error, requestId: context.requestId },
      'an answer could not be kept for its idempotency key',
    );
  }
}

const replayed = (answer: WireAnswer): WireAnswer => ({
  ...answer,
  headers: { ...answer.headers, 'idempotency-replayed': 'true' },
});

/** The body is kept as text: jsonb would reorder its keys, and the repeated answer is promised word for word. */
function keptAnswer({ answer }: Replay, { version }: Dialect): WireAnswer | undefined {
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
