import type { Principal, Resources } from './context.ts';
import { CodedError, unauthorized } from './errors.ts';
import { type Quota, type QuotaState, rateLimitHeaders, resetSeconds } from './platform/rate-limits.ts';

/** `Authorization: Bearer …` (RFC 6750 §2.1); the scheme's case does not matter. */
export function bearerOf(header: string | undefined): string | undefined {
  const [, token] = /^Bearer +(\S+) *$/i.exec(header ?? '') ?? [];
  return token;
}

/** Calls without a token may look at nothing, but they cost us something: so many in a minute from one address. */
const ANONYMOUS_CALLS_PER_MINUTE = 60;

const quotasOf = (principal: Principal): Quota[] => [
  { name: 'token', key: `${principal.tenant.id}:${principal.tokenId}`, limit: principal.callsPerMinute },
  { name: 'tenant', key: String(principal.tenant.id), limit: principal.tenant.callsPerMinute },
];

export interface Admission {
  readonly principal: Principal | undefined;
  /** To be set on the answer, whatever it is. */
  readonly headers: Readonly<Record<string, string>>;
  /** Why the call goes no further. */
  readonly refusal: CodedError | undefined;
}

/**
 * Who calls, and whether they may call once more.
 * @param address of the client, for calls without a token
 */
export async function admit(
  { tokens, limits, clock }: Resources,
  header: string | undefined,
  address: string,
): Promise<Admission> {
  if (header === undefined)
    return charge({ limits, clock }, undefined, [{ name: 'address', key: address, limit: ANONYMOUS_CALLS_PER_MINUTE }]);
  const token = bearerOf(header);
  const principal = token === undefined ? undefined : await tokens.verify(token);
  if (!principal) {
    const counted = await charge({ limits, clock }, undefined, [
      { name: 'address', key: address, limit: ANONYMOUS_CALLS_PER_MINUTE },
    ]);
    return { ...counted, refusal: counted.refusal ?? unauthorized() };
  }
  return charge({ limits, clock }, principal, quotasOf(principal));
}

async function charge(
  { limits, clock }: Pick<Resources, 'limits' | 'clock'>,
  principal: Principal | undefined,
  quotas: readonly Quota[],
): Promise<Admission> {
  const states = await limits.consume(quotas, 1);
  return { principal, headers: rateLimitHeaders(states, clock.now()), refusal: refusalOf(states) };
}

function refusalOf(states: readonly QuotaState[]): CodedError | undefined {
  const exceeded = states.find(state => state.exceeded);
  if (!exceeded) return undefined;
  const seconds = resetSeconds(exceeded);
  return new CodedError('RATE_LIMIT_EXCEEDED', `Too many calls: try again in ${seconds} seconds.`, {
    retry_after: seconds,
    limit: exceeded.limit,
  });
}

/** Charges one operation of a socket that was admitted before. @returns why it is refused */
export async function chargeOperation({ limits }: Resources, principal: Principal): Promise<CodedError | undefined> {
  return refusalOf(await limits.consume(quotasOf(principal), 1));
}
