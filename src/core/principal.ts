import { insufficientScope, unauthorized } from './errors.ts';
import type { Feature } from './plan-features.ts';
import type { Scope } from './scopes.ts';

export interface Tenant {
  readonly id: number;
  readonly slug: string;
  readonly name: string;
  readonly planName: string;
  /** Features of the plan; see `requireFeature`. */
  readonly features: ReadonlySet<Feature>;
  readonly callsPerMinute: number;
  readonly windowPolicy: 'network' | 'refuse';
  readonly defaultSourceId: number | null;
  readonly defaultStatusId: number | null;
  /** Country whose national phone numbers are read; ISO 3166-1 alpha-2. */
  readonly defaultCountry: string | null;
  /** Time zone in which the days and months of reports begin: a name of the IANA time zone database. */
  readonly timeZone: string;
}

/** A staff member in a browser. */
export interface StaffSession {
  readonly id: number;
  readonly staffId: number;
  readonly staffName: string;
  /** Origins of pages that may use it; empty: any. */
  readonly origins: readonly string[];
}

/** An authenticated caller: a token and its tenant. */
export interface Principal {
  readonly tenant: Tenant;
  /** For a session: the token that minted it. */
  readonly tokenId: number;
  readonly tokenName: string;
  readonly scopes: ReadonlySet<string>;
  readonly callsPerMinute: number;
  /** Executes trusted documents only. */
  readonly documentsOnly: boolean;
  /** Milliseconds since the epoch; undefined if the token does not expire. */
  readonly expiresAtMs: number | undefined;
  /** Present if the caller is a staff member in a browser. */
  readonly session?: StaffSession | undefined;
}

/** An object that has the caller of an operation, such as its context. */
export interface WithPrincipal {
  /** Undefined if no token was presented. */
  readonly principal: Principal | undefined;
}

/** Returns the authenticated caller. Scopes are checked per field before; the check here narrows the type and is a safeguard. */
export function callerOf(context: WithPrincipal): Principal {
  if (!context.principal) throw unauthorized();
  return context.principal;
}

/** The tenant that every statement of the operation is restricted to. */
export const tenantOf = (context: WithPrincipal): number => callerOf(context).tenant.id;

/**
 * Requires scopes that depend on the input and therefore are not declared on a field.
 * @throws INSUFFICIENT_SCOPE
 */
export function requireScopes({ scopes }: Pick<Principal, 'scopes'>, required: readonly Scope[]): void {
  if (!required.every(scope => scopes.has(scope))) throw insufficientScope(required, scopes);
}

/** Like `requireScopes`, for one scope. */
export const requireScope = (principal: Pick<Principal, 'scopes'>, scope: Scope): void =>
  requireScopes(principal, [scope]);
