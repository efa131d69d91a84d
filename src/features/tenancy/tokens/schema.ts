import { notFound } from '../../../core/errors.ts';
import { numericId } from '../../../core/global-ids.ts';
import { callerOf } from '../../../core/principal.ts';
import { builder, IDEMPOTENCY_KEY } from '../../../schema/builder.ts';
import { authorOf } from '../audit/author.ts';
import { Viewer } from '../tenants/schema.ts';
import { type IssuedToken, issueToken } from './create.ts';
import { revokeToken } from './revoke.ts';
import { type AccessTokenRow, getTokens, listTokens } from './store.ts';

export const AccessToken = builder.objectRef<AccessTokenRow>('AccessToken');

builder.node(AccessToken, {
  name: 'AccessToken',
  description: 'A bearer token of the tenant. Its secret is returned only when it is created.',
  id: { resolve: token => token.id },
  brandLoadedObjects: true,
  loadMany: async (ids, context) => {
    const rows = context.principal?.scopes.has('tokens:read')
      ? await getTokens(context.db.read, callerOf(context).tenant.id, ids.map(Number).filter(Number.isSafeInteger))
      : [];
    return ids.map(id => rows.find(row => row.id === Number(id)));
  },
  fields: t => ({
    databaseId: t.field({
      type: 'BigInt',
      description: 'Numeric id of the token.',
      resolve: token => token.id,
    }),
    name: t.exposeString('name', { description: 'Name of the token, chosen when it was created.' }),
    hint: t.exposeString('hint', { description: 'Last four characters of the token.' }),
    scopes: t.exposeStringList('scopes', {
      description: 'Scopes in the form `resource:action`, for example `contacts:read`.',
    }),
    callsPerMinute: t.exposeInt('calls_per_minute', {
      description: 'Maximum number of API calls in a minute for this token.',
    }),
    expiresAt: t.expose('expires_at', {
      type: 'DateTime',
      nullable: true,
      description: 'Expiry of the token; null if it does not expire.',
    }),
    revokedAt: t.expose('revoked_at', {
      type: 'DateTime',
      nullable: true,
      description: 'Time of revocation; null if it is not revoked.',
    }),
    createdAt: t.expose('created_at', { type: 'DateTime', description: 'Time of creation.' }),
  }),
});

const CreateAccessTokenInput = builder.inputType('CreateAccessTokenInput', {
  description: 'A new token. Its scopes, rate and expiry cannot exceed those of the calling token.',
  fields: t => ({
    name: t.string({ required: true, description: 'Name of the token (1 to 100 characters).' }),
    scopes: t.stringList({
      required: true,
      description: 'Scopes, for example `contacts:read`, or `contacts:*` for all actions of a resource.',
    }),
    callsPerMinute: t.int({
      description: 'Maximum number of API calls in a minute, at most that of the calling token. Default: 60.',
    }),
    expiresAt: t.field({ type: 'DateTime', description: 'Expiry, at the latest that of the calling token.' }),
    idempotencyKey: t.string({
      description: IDEMPOTENCY_KEY,
    }),
  }),
});

const CreatedAccessToken = builder.objectRef<IssuedToken>('CreatedAccessToken').implement({
  description: 'A new token with its secret.',
  fields: t => ({
    accessToken: t.field({
      type: AccessToken,
      description: 'The created token.',
      resolve: created => created.accessToken,
    }),
    token: t.exposeString('token', {
      nullable: true,
      description: 'The bearer token. Shown only once; null if the request repeats an earlier one.',
    }),
  }),
});

builder.objectField(Viewer, 'token', t =>
  t.field({
    type: AccessToken,
    description: 'The token of this request.',
    resolve: async (viewer, _args, context) => {
      const [token] = await getTokens(context.db.read, viewer.tenant.id, [viewer.tokenId]);
      if (!token) throw notFound('AccessToken');
      return token;
    },
  }),
);

builder.queryField('accessTokens', t =>
  t.field({
    type: [AccessToken],
    description: 'Lists all tokens of the tenant, newest first, revoked ones included.',
    authScopes: { scope: 'tokens:read' },
    resolve: (_root, _args, context) => listTokens(context.db.read, callerOf(context).tenant.id),
  }),
);

builder.mutationFields(t => ({
  createAccessToken: t.field({
    type: CreatedAccessToken,
    description: 'Creates a token. Errors: VALIDATION_ERROR, INSUFFICIENT_SCOPE.',
    authScopes: { scope: 'tokens:write' },
    args: { input: t.arg({ type: CreateAccessTokenInput, required: true, description: 'Settings of the token.' }) },
    resolve: (_root, { input }, context) => {
      const { idempotencyKey, ...given } = input;
      return issueToken(
        context,
        { ...given, callsPerMinute: given.callsPerMinute ?? undefined, expiresAt: given.expiresAt ?? undefined },
        idempotencyKey,
      );
    },
  }),
  revokeAccessToken: t.field({
    type: AccessToken,
    description:
      'Revokes a token. Within 5 seconds it is rejected everywhere and its open connections are closed. Errors: NOT_FOUND.',
    authScopes: { scope: 'tokens:write' },
    args: { id: t.arg.id({ required: true, description: 'Global id or databaseId of the token.' }) },
    resolve: async (_root, { id }, context) => {
      const tokenId = numericId('AccessToken', id);
      const token = await context.db.transaction(trx =>
        revokeToken(trx, callerOf(context).tenant.id, tokenId, authorOf(context)),
      );
      if (!token) throw notFound('AccessToken');
      context.tokens.forgetAll();
      return token;
    },
  }),
}));
