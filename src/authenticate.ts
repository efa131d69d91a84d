import type { Principal, Resources } from './context.ts';
import { CodedError, unauthorized } from './errors.ts';
import { SECOND } from './platform/clock.ts';
import {
  type Quota,
  type QuotaState,
  rateLimitHeaders,
  resetAtSeconds,
  resetSeconds,
  tightest,
} from './platform/rate-limits.ts';

/** `Authorization: Bearer …` (RFC 6750 §2.1); the scheme's case does not matter. */
export function bearerOf(header: string | undefined): string | undefined {
  const [, token] = /^Bearer +(\S+) *$/i.exec(header ?? '') ?? [];
  return token;
}

/** Calls without a good token may look at nothing, but they cost us something: so many in a minute from one address. */
const ANONYMOUS_CALLS_PER_MINUTE = 60;

/** What a caller spends from. A token never has more than its tenant's plan: the verifier has seen to that. */
const quotasOf = (principal: Principal): readonly Quota[] => [
  { name: 'token', key: `${principal.tenant.id}:${principal.tokenId}`, limit: principal.callsPerMinute },
  { name: 'tenant', key: String(principal.tenant.id), limit: principal.tenant.callsPerMinute },
];

/** What a call cost, as GraphQL tells it in `extensions.cost`. */
export interface Cost {
  /** Points asked for; a refused call was charged one at most. */
  readonly requested: number;
  /** Points left in the quota that has least of them. */
  readonly remaining: number;
  /** When they are renewed (ISO 8601, whole seconds). */
  readonly resetAt: string;
}

export interface Charge {
  readonly cost: Cost;
  /** To be set on the answer, whatever it is. */
  readonly headers: Readonly<Record<string, string>>;
  /** Why the call goes no further. */
  readonly refusal: CodedError | undefined;
}

export interface Admission {
  readonly principal: Principal | undefined;
  readonly quotas: readonly Quota[];
  /** The call goes no further, and has been charged. Otherwise nothing is charged yet, because its price is not known. */
  readonly refused: Charge | undefined;
}

type Needs = Pick<Resources, 'tokens' | 'limits' | 'clock'>;

/**
 * Who calls, and whether anything is left for them to spend. Nothing of the call needs to be read before this.
 * @param address of the client, for calls without a good token
 */
export async function admit(resources: Needs, header: string | undefined, address: string): Promise<Admission> {
  const byAddress = [{ name: 'address', key: address, limit: ANONYMOUS_CALLS_PER_MINUTE }];
  if (header === undefined) return mayGoOn(resources, undefined, byAddress);
  const token = bearerOf(header);
  const { principal, charged } = await recognise(resources, token, byAddress);
  if (principal) return admitAgain(resources, principal);
  return { principal, quotas: byAddress, refused: { ...charged, refusal: charged.refusal ?? unauthorized() } };
}

/** Whether anything is left for a caller who has been recognised: each operation of a socket is a call of its own. */
export const admitAgain = (resources: Needs, principal: Principal): Promise<Admission> =>
  mayGoOn(resources, principal, quotasOf(principal));

async function mayGoOn(
  { limits, clock }: Needs,
  principal: Principal | undefined,
  quotas: readonly Quota[],
): Promise<Admission> {
  const states = await limits.spent(quotas);
  return { principal, quotas, refused: states && toCharge(states, 1, clock.now()) };
}

type Recognised =
  | { readonly principal: Principal; readonly charged: undefined }
  | { readonly principal: undefined; readonly charged: Charge };

/**
 * Who has this token. A token that this process has never seen good is looked up at the expense of its address, which gets
 * the point back if it is good: a flood of invented tokens reaches the database as often as the address may call. From then
 * on all look-ups of a second share one statement, so that a good token from behind the same address still gets in.
 */
async function recognise(
  resources: Needs,
  token: string | undefined,
  byAddress: readonly Quota[],
): Promise<Recognised> {
  const { tokens, limits } = resources;
  if (token !== undefined && tokens.knows(token)) {
    const principal = await tokens.verify(token);
    if (principal) return { principal, charged: undefined };
  }
  const charged = await charge(resources, byAddress, 1);
  if (token === undefined) return { principal: undefined, charged };
  const principal = await (charged.refusal ? tokens.verifyInCrowd(token) : tokens.verify(token));
  if (!principal) return { principal, charged };
  if (!charged.refusal) await limits.giveBack(byAddress, 1);
  return { principal, charged: undefined };
}

/**
 * Charges a call, before it is executed.
 * @param points what it costs: one for a call of REST, see `pointsOf` for an operation of GraphQL
 */
export async function charge(
  { limits, clock }: Pick<Resources, 'limits' | 'clock'>,
  quotas: readonly Quota[],
  points: number,
): Promise<Charge> {
  const most = Math.min(...quotas.map(({ limit }) => limit));
  // No waiting would help: the call is charged as one that cannot be executed, and says what to change.
  const charged = toCharge(await limits.consume(quotas, points > most ? 1 : points), points, clock.now());
  return charged.refusal || points <= most ? charged : { ...charged, refusal: tooDear(points, most) };
}

const tooDear = (points: number, most: number): CodedError =>
  new CodedError('QUERY_TOO_COMPLEX', `The operation costs ${points} points, and there are only ${most} a minute.`, {
    limit: 'points',
    maximum: most,
    actual: points,
  });

function toCharge(states: readonly QuotaState[], requested: number, nowMs: number): Charge {
  const told = tightest(states);
  return {
    headers: rateLimitHeaders(states, nowMs),
    cost: {
      requested,
      remaining: told.remaining,
      resetAt: new Date(resetAtSeconds(told, nowMs) * SECOND).toISOString(),
    },
    refusal: told.exceeded ? exceeded(told, requested) : undefined,
  };
}

function exceeded(state: QuotaState, requested: number): CodedError {
  const seconds = resetSeconds(state);
  const what =
    requested > 1 ? `The operation costs ${requested} points and ${state.remaining} are left` : 'Too many calls';
  return new CodedError('RATE_LIMIT_EXCEEDED', `${what}: try again in ${seconds} seconds.`, {
    retry_after: seconds,
    limit: state.limit,
  });
}
