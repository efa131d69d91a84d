import { FieldErrorList, notFound } from '../../../core/errors.ts';
import { callerOf } from '../../../core/principal.ts';
import { parseScopes } from '../../../core/scopes.ts';
import type { Db } from '../../../database/database.ts';
import { isLonger } from '../../../platform/text.ts';
import type { Context } from '../../../schema/context.ts';
import { authorOf, COMMAND_LINE } from '../audit/author.ts';
import { record } from '../audit/record.ts';
import { once } from '../idempotency/once.ts';
import { type AccessTokenRow, getTokens, insertToken } from './store.ts';
import { generateToken, hashToken, hintOf } from './token.ts';

export interface TokenRequest {
  readonly name: string;
  readonly scopes: readonly string[];
  readonly callsPerMinute: number | undefined;
  readonly expiresAt: string | undefined;
  /** Executes trusted documents only; always if the grant does. */
  readonly documentsOnly?: boolean;
}

/** Upper bounds of a new token: the caller's own scopes, rate and lifetime; on the command line the plan's rate. */
export interface Grant {
  readonly scopes: ReadonlySet<string>;
  readonly callsPerMinute: number;
  readonly expiresAtMs: number | undefined;
  readonly documentsOnly?: boolean;
}

export interface CreatedToken {
  readonly accessToken: AccessTokenRow;
  /** Returned only once, because only its hash is stored. */
  readonly token: string;
}

const DEFAULT_CALLS_PER_MINUTE = 60;

/** Creates a token within the bounds of the grant, with an audit entry. @throws VALIDATION_ERROR by field */
export async function createToken(
  db: Db,
  tenantId: number,
  request: TokenRequest,
  grant: Grant,
  nowMs: number,
  author = COMMAND_LINE,
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
    documentsOnly: grant.documentsOnly === true || request.documentsOnly === true,
    expiresAt: expiresAtMs === undefined ? null : new Date(expiresAtMs).toISOString(),
  });
  await record(db, tenantId, {
    author,
    action: 'token.created',
    subject: `token:${accessToken.id}`,
    details: { scopes, expires_at: accessToken.expires_at },
  });
  return { accessToken, token };
}

export interface IssuedToken {
  readonly accessToken: AccessTokenRow;
  /** Null in the response to a repeated request, because only the hash is stored. */
  readonly token: string | null;
}

/** Creates a token for the caller's tenant, within the bounds of the caller's own. @throws VALIDATION_ERROR by field */
export function issueToken(
  context: Context,
  request: TokenRequest,
  key: string | null | undefined,
): Promise<IssuedToken> {
  const { tenant, ...grant } = callerOf(context);
  return once<IssuedToken>(
    context,
    { operation: 'createAccessToken', key, input: request },
    {
      run: trx => createToken(trx, tenant.id, request, grant, context.clock.now(), authorOf(context)),
      store: ({ accessToken }) => ({ id: accessToken.id }),
      rebuild: async stored => {
        const [accessToken] = await getTokens(context.db.write, tenant.id, [(stored as { id: number }).id]);
        if (!accessToken) throw notFound('AccessToken');
        return { accessToken, token: null };
      },
    },
  );
}
