import { notFound } from '../../../core/errors.ts';
import { requireId } from '../../../core/global-ids.ts';
import { tenantOf } from '../../../core/principal.ts';
import { knownScopes } from '../../../core/scopes.ts';
import { type ListDefinition, listColumns, readPage } from '../../../database/list.ts';
import { Actor } from '../../../schema/actor.ts';
import { builder, IDEMPOTENCY_KEY } from '../../../schema/builder.ts';
import { databaseId } from '../../../schema/database-id.ts';
import { DATES, listQueries } from '../../../schema/list-queries.ts';
import { DateTimeFilter, StringFilter } from '../../../schema/lists.ts';
import { rowLoader } from '../../../schema/loaders.ts';
import { nodesByNumber } from '../../../schema/nodes.ts';
import { mutation, payloadOf } from '../../../schema/payload.ts';
import { ScopeEnum } from '../../../schema/scope-enum.ts';
import { Viewer } from '../tenants/schema.ts';
import { type IssuedToken, issueToken } from './create.ts';
import { revokeAccessToken } from './revoke.ts';
import { type AccessTokenRow, getTokens, TOKEN_COLUMNS } from './store.ts';

export const tokenLoader = rowLoader(getTokens);

export const AccessToken = builder.objectRef<AccessTokenRow>('AccessToken');

builder.node(AccessToken, {
  name: 'AccessToken',
  description: 'A bearer token of the account, for programs. Its secret is returned only when it is created.',
  interfaces: [Actor],
  id: { resolve: token => token.id },
  brandLoadedObjects: true,
  loadManyWithoutCache: nodesByNumber('tokens:read', getTokens),
  fields: t => ({
    databaseId: databaseId(t),
    displayName: t.exposeString('name', { description: 'Name of the token.' }),
    name: t.exposeString('name', { description: 'Name of the token, chosen when it was created.' }),
    hint: t.exposeString('hint', { description: 'Last four characters of the token.' }),
    scopes: t.field({
      type: [ScopeEnum],
      description: 'What the token may do.',
      resolve: token => knownScopes(token.scopes),
    }),
    callsPerMinute: t.exposeInt('calls_per_minute', {
      description: 'Maximum number of API calls in a minute for this token.',
    }),
    documentsOnly: t.exposeBoolean('documents_only', {
      description: 'Whether the token executes trusted documents only, and no REST.',
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
    lastUsedAt: t.expose('last_used_at', {
      type: 'DateTime',
      nullable: true,
      description:
        'Last use, noted at most once a minute and up to two minutes late; null if the token was never used.',
    }),
    createdAt: t.expose('created_at', { type: 'DateTime', description: 'Time of creation.' }),
  }),
});

builder.objectField(Viewer, 'token', t =>
  t.field({
    type: AccessToken,
    description: 'The token of this request; of a staff session: the one that created it.',
    resolve: async (viewer, _args, context) => {
      const [token] = await getTokens(context.db.read, viewer.tenant.id, [viewer.tokenId]);
      if (!token) throw notFound('AccessToken');
      return token;
    },
  }),
);

const column = listColumns('access_tokens', 't');
const id = column('id', 'bigint');
const name = column('name', 'text');
const createdAt = column('created_at', 'timestamptz');
const expiresAt = column('expires_at', 'timestamptz');
const revokedAt = column('revoked_at', 'timestamptz');
const lastUsedAt = column('last_used_at', 'timestamptz');

const TOKENS: ListDefinition = {
  from: 'access_tokens t',
  tenantColumn: 't.tenant_id',
  filters: { id: { ...id, node: 'AccessToken' }, name, createdAt, expiresAt, revokedAt, lastUsedAt },
  sorts: { id, name, createdAt },
  id,
  defaultOrder: [{ column: id, descending: true }],
  search: 'search_fold(t.name)',
};

const SELECT = TOKEN_COLUMNS.map(name => `t.${name}` as const);

listQueries(AccessToken, {
  list: 'accessTokens',
  one: 'accessToken',
  noun: 'token',
  plural: 'access tokens',
  description: 'Lists the tokens of the account, revoked ones included, newest first by default.',
  scope: 'tokens:read',
  filter: t => ({
    name: t.field({ type: StringFilter, description: 'Name of the token.' }),
    expiresAt: t.field({ type: DateTimeFilter, description: 'Expiry of the token.' }),
    revokedAt: t.field({ type: DateTimeFilter, description: '`isNull: true` finds tokens that are not revoked.' }),
    lastUsedAt: t.field({
      type: DateTimeFilter,
      description: 'Last use; `isNull: true` finds tokens that were never used.',
    }),
  }),
  order: {
    NAME: { value: 'name', description: 'Name of the token.' },
  },
  dates: { createdAt: DATES.createdAt },
  page: (context, args) => readPage<AccessTokenRow>(context.db.read, TOKENS, tenantOf(context), args, SELECT),
  get: getTokens,
});

const AccessTokenPayload = payloadOf<IssuedToken>(
  'AccessTokenPayload',
  'Result of a mutation of an AccessToken.',
  t => ({
    accessToken: t.field({
      type: AccessToken,
      nullable: true,
      description: 'The token after the mutation.',
      resolve: ({ accessToken }) => accessToken ?? null,
    }),
    token: t.string({
      nullable: true,
      description:
        'The bearer token, if the mutation created it. Shown only once; null if the request repeats an earlier one.',
      resolve: ({ token }) => token ?? null,
    }),
  }),
);

mutation('createAccessToken', {
  description: 'Creates a token.',
  scope: 'tokens:write',
  input: builder.inputType('CreateAccessTokenInput', {
    description: 'A new token. Its scopes, rate and expiry cannot exceed those of the calling token.',
    fields: t => ({
      name: t.string({ required: true, description: 'Name of the token (1 to 100 characters).' }),
      scopes: t.field({ type: [ScopeEnum], required: true, description: 'What the token may do; at least one scope.' }),
      callsPerMinute: t.int({
        description: 'Maximum number of API calls in a minute, at most that of the calling token. Default: 60.',
      }),
      documentsOnly: t.boolean({
        required: true,
        defaultValue: false,
        description: 'Whether the token executes trusted documents only; always if the calling token does.',
      }),
      expiresAt: t.field({ type: 'DateTime', description: 'Expiry, at the latest that of the calling token.' }),
      idempotencyKey: t.string({ description: IDEMPOTENCY_KEY }),
    }),
  }),
  payload: AccessTokenPayload,
  resolve: ({ idempotencyKey, callsPerMinute, expiresAt, ...input }, context) =>
    issueToken(
      context,
      { ...input, callsPerMinute: callsPerMinute ?? undefined, expiresAt: expiresAt ?? undefined },
      idempotencyKey,
    ),
});

mutation('revokeAccessToken', {
  description:
    'Revokes a token and the staff sessions that it created. Within 5 seconds, normally at once, they are rejected everywhere and their open connections are closed.',
  scope: 'tokens:write',
  input: builder.inputType('RevokeAccessTokenInput', {
    description: 'The token to revoke.',
    fields: t => ({
      id: t.id({ required: true, description: 'Global id or databaseId of the token.' }),
      idempotencyKey: t.string({ description: IDEMPOTENCY_KEY }),
    }),
  }),
  payload: AccessTokenPayload,
  resolve: async ({ id, idempotencyKey }, context) => ({
    accessToken: await revokeAccessToken(context, requireId(tenantOf(context), 'AccessToken', id), idempotencyKey),
  }),
});
