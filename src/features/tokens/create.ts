import { FieldErrorList } from '../../errors.ts';
import type { Db } from '../../platform/database.ts';
import { isLonger } from '../../platform/text.ts';
import { parseScopes } from '../../scopes.ts';
import { type AccessTokenRow, insertToken } from './store.ts';
import { generateToken, hashToken, hintOf } from './token.ts';

export interface TokenRequest {
  readonly name: string;
  readonly scopes: readonly string[];
  readonly callsPerMinute: number | undefined;
  readonly expiresAt: string | undefined;
}

/** The most that may be granted: a caller's own scopes, rate and lifetime; a plan's rate on the command line. */
export interface Grant {
  readonly scopes: ReadonlySet<string>;
  readonly callsPerMinute: number;
  readonly expiresAtMs: number | undefined;
}

export interface CreatedToken {
  readonly accessToken: AccessTokenRow;
  /** Shown this once: only its hash is stored. */
  readonly token: string;
}

export const DEFAULT_CALLS_PER_MINUTE = 60;

/** Makes a token that is never wider than the grant. @throws VALIDATION_ERROR by field */
export async function createToken(
  db: Db,
  tenantId: number,
  request: TokenRequest,
  grant: Grant,
  nowMs: number,
): Promise<CreatedToken> {
  const errors = new FieldErrorList();
  const name = request.name.trim();
  if (name === '' || isLonger(name, 100)) errors.add('name', 'Must have 1 to 100 characters.');
  const { scopes, unknown } = parseScopes(request.scopes);
  for (const word of unknown) errors.add('scopes', `"${word.slice(0, 60)}" is not a scope.`);
  if (scopes.length === 0 && unknown.length === 0) errors.add('scopes', 'At least one scope is required.');
  const wider = scopes.filter(scope => !grant.scopes.has(scope));
  if (wider.length > 0) errors.add('scopes', `Your own token does not have ${wider.join(', ')}.`);
  const callsPerMinute = request.callsPerMinute ?? Math.min(DEFAULT_CALLS_PER_MINUTE, grant.callsPerMinute);
  if (callsPerMinute < 1 || callsPerMinute > grant.callsPerMinute) {
    errors.add('callsPerMinute', `Must be from 1 to ${grant.callsPerMinute}.`);
  }
  const expiresAtMs = request.expiresAt === undefined ? grant.expiresAtMs : Date.parse(request.expiresAt);
  if (expiresAtMs !== undefined && expiresAtMs <= nowMs) errors.add('expiresAt', 'Must lie in the future.');
  if (expiresAtMs !== undefined && grant.expiresAtMs !== undefined && expiresAtMs > grant.expiresAtMs) {
    errors.add('expiresAt', 'May not outlive your own token.');
  }
  errors.throwIfAny();
  const token = generateToken();
  const accessToken = await insertToken(db, tenantId, {
    name,
    hash: hashToken(token),
    hint: hintOf(token),
    scopes,
    callsPerMinute,
    expiresAt: expiresAtMs === undefined ? null : new Date(expiresAtMs).toISOString(),
  });
  return { accessToken, token };
}
