import { CodedError, unauthorized } from '../core/errors.ts';
import type { Principal } from '../core/principal.ts';
import { SECOND } from '../platform/clock.ts';
import {
  type Quota,
  type QuotaState,
  rateLimitHeaders,
  resetAtSeconds,
  resetSeconds,
  tightest,
} from '../platform/rate-limits.ts';
import type { Resources } from '../schema/context.ts';

/** Reads `Authorization: Bearer …` (RFC 6750 §2.1); the scheme is case-insensitive. */
export function bearerToken(header: string | undefined): string | undefined {
  const [, token] = /^Bearer +(\S+) *$/i.exec(header ?? '') ?? [];
  return token;
}

/** Requests without a valid token are limited per IP address. */
const ANONYMOUS_CALLS_PER_MINUTE = 60;

/** The quota key of a caller. Staff sessions have separate quotas. */
const keyOf = ({ session, tokenId }: Principal): string => (session ? `session:${session.id}` : String(tokenId));

/** The quotas of a token and of its tenant. The verifier caps the token's limit at that of the plan. */
const quotasOf = (principal: Principal): readonly Quota[] => [
  { name: 'token', key: `${principal.tenant.id}:${keyOf(principal)}`, limit: principal.callsPerMinute },
  { name: 'tenant', key: String(principal.tenant.id), limit: principal.tenant.callsPerMinute },
];

/** Rate limit cost of a call, reported by GraphQL as `extensions.cost`. */
export interface Cost {
  /** Points requested. A refused call is charged one point at most. */
  readonly requested: number;
  /** Points left in the tightest quota. */
  readonly remaining: number;
  /** When that quota is reset (ISO 8601, whole seconds). */
  readonly resetAt: string;
}

/** The result of charging a call. */
export interface Charge {
  readonly cost: Cost;
  /** Rate limit headers, set on every response. */
  readonly headers: Readonly<Record<string, string>>;
  /** Present when the call must not be executed. */
  readonly refusal: CodedError | undefined;
}

export interface Authentication {
  /** Undefined for a request without a token. */
  readonly principal: Principal | undefined;
  /** The quotas to charge once the cost of the call is known. */
  readonly quotas: readonly Quota[];
  /** Present when the call is refused; it has been charged then. Otherwise nothing has been charged yet. */
  readonly refused: Charge | undefined;
}

/** Where a request comes from. */
export interface RequestSource {
  /** IP address of the client, charged for requests without a valid token. */
  readonly address: string;
  /** The Origin header: the page that sends the request. */
  readonly origin: string | undefined;
  /** Whether it is a GET or HEAD. Browsers send the Origin header with all other requests. */
  readonly isRead: boolean;
}

/** Whether a page may use a session. A read without an Origin header comes from a page of this server, or from no page. */
function mayUse({ session }: Principal, { origin, isRead }: RequestSource): boolean {
  if (!session || session.origins.length === 0) return true;
  return origin === undefined ? isRead : session.origins.includes(origin);
}

type Needs = Pick<Resources, 'tokens' | 'limits' | 'clock'>;

/**
 * Resolves an Authorization header to its principal and checks that its quotas are not exhausted. Called before the body is
 * read, so that a refused request costs no parsing.
 */
export async function authenticate(
  resources: Needs,
  header: string | undefined,
  source: RequestSource,
): Promise<Authentication> {
  const addressQuota = [{ name: 'address', key: source.address, limit: ANONYMOUS_CALLS_PER_MINUTE }];
  if (header === undefined) return checkQuotas(resources, undefined, addressQuota);
  const { principal, charge } = await verifyToken(resources, bearerToken(header), addressQuota);
  if (principal && mayUse(principal, source)) return checkQuotasOf(resources, principal);
  const { refusal, ...charged } = charge ?? (await chargeQuota(resources, addressQuota, 1));
  return {
    principal: undefined,
    quotas: addressQuota,
    refused: { ...charged, refusal: refusal ?? (principal ? foreignOrigin(source) : unauthorized()) },
  };
}

const foreignOrigin = ({ origin }: RequestSource): CodedError =>
  new CodedError(
    'UNAUTHORIZED',
    origin === undefined
      ? 'This session is for pages of its origins: the header Origin is missing.'
      : `This session is not for pages of ${origin.slice(0, 200)}.`,
  );

/** Checks the quotas of an authenticated caller. Each operation on a WebSocket counts as a call. */
export const checkQuotasOf = (resources: Needs, principal: Principal): Promise<Authentication> =>
  checkQuotas(resources, principal, quotasOf(principal));

async function checkQuotas(
  { limits, clock }: Needs,
  principal: Principal | undefined,
  quotas: readonly Quota[],
): Promise<Authentication> {
  const states = await limits.findExhausted(quotas);
  return { principal, quotas, refused: states && chargeOf(states, 1, clock.now()) };
}

type Verification =
  | { readonly principal: Principal; readonly charge: undefined }
  | { readonly principal: undefined; readonly charge: Charge };

/**
 * Resolves a bearer token to its principal. A token that this process has not verified before is charged to the caller's
 * IP quota and refunded if valid, so that random tokens cannot flood the database. Once the quota is exhausted, look-ups are
 * batched into one statement per second, so that valid tokens behind the same address still pass.
 */
async function verifyToken(
  resources: Needs,
  token: string | undefined,
  addressQuota: readonly Quota[],
): Promise<Verification> {
  const { tokens, limits } = resources;
  if (token !== undefined && tokens.knows(token)) {
    const principal = await tokens.verify(token);
    if (principal) return { principal, charge: undefined };
  }
  const charge = await chargeQuota(resources, addressQuota, 1);
  if (token === undefined) return { principal: undefined, charge };
  const principal = await (charge.refusal ? tokens.verifyBatched(token) : tokens.verify(token));
  if (!principal) return { principal, charge };
  if (!charge.refusal) await limits.refund(addressQuota, 1);
  return { principal, charge: undefined };
}

/**
 * Charges a call before it is executed.
 * @param points of a REST call or GraphQL operation: `pointsOf`
 */
export async function chargeQuota(
  { limits, clock }: Pick<Resources, 'limits' | 'clock'>,
  quotas: readonly Quota[],
  points: number,
): Promise<Charge> {
  const limit = Math.min(...quotas.map(quota => quota.limit));
  // Waiting would not help a call above the limit: it is charged one point, as an invalid request is.
  const charge = chargeOf(await limits.consume(quotas, points > limit ? 1 : points), points, clock.now());
  return charge.refusal || points <= limit ? charge : { ...charge, refusal: tooExpensive(points, limit) };
}

const tooExpensive = (points: number, limit: number): CodedError =>
  new CodedError(
    'QUERY_TOO_COMPLEX',
    `The operation costs ${points} points; the limit is ${limit} per minute. Select fewer objects or split the query.`,
    { details: { limit: 'points', maximum: limit, actual: points } },
  );

function chargeOf(states: readonly QuotaState[], requested: number, nowMs: number): Charge {
  const state = tightest(states);
  return {
    headers: rateLimitHeaders(states, nowMs),
    cost: {
      requested,
      remaining: state.remaining,
      resetAt: new Date(resetAtSeconds(state, nowMs) * SECOND).toISOString(),
    },
    refusal: state.exceeded ? rateLimited(state, requested) : undefined,
  };
}

function rateLimited(state: QuotaState, requested: number): CodedError {
  const seconds = resetSeconds(state);
  const reason =
    requested > 1 ? `The operation costs ${requested} points; ${state.remaining} are left.` : 'Rate limit exceeded.';
  return new CodedError('RATE_LIMIT_EXCEEDED', `${reason} Try again in ${seconds} seconds.`, {
    details: { retry_after: seconds, limit: state.limit },
  });
}
