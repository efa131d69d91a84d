import { builder } from '../../builder.ts';
import { notFound } from '../../errors.ts';
import { numericId } from '../../global-ids.ts';
import { callerOf } from '../caller.ts';
import { Viewer } from '../tenants/schema.ts';
import { type IssuedToken, issueToken } from './issue.ts';
import { type AccessTokenRow, getTokens, listTokens, revokeToken } from './store.ts';

export const AccessToken = builder.objectRef<AccessTokenRow>('AccessToken');

builder.node(AccessToken, {
  name: 'AccessToken',
  description: 'A bearer token of this tenant. The token itself is shown once, when it is made.',
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
      description: 'The number that the database knows it by.',
      resolve: token => token.id,
    }),
    name: t.exposeString('name', { description: 'What it is for, in the words of who made it.' }),
    hint: t.exposeString('hint', { description: 'Its last four characters.' }),
    scopes: t.exposeStringList('scopes', { description: 'What it may do: `resource:action`.' }),
    callsPerMinute: t.exposeInt('calls_per_minute', { description: 'How many calls it may make in a minute.' }),
    expiresAt: t.expose('expires_at', {
      type: 'DateTime',
      nullable: true,
      description: 'When it ends by itself; null: never.',
    }),
    revokedAt: t.expose('revoked_at', { type: 'DateTime', nullable: true, description: 'When it was revoked.' }),
    createdAt: t.expose('created_at', { type: 'DateTime', description: 'When it was made.' }),
  }),
});

const CreateAccessTokenInput = builder.inputType('CreateAccessTokenInput', {
  description: 'A token is never wider than the one that makes it.',
  fields: t => ({
    name: t.string({ required: true, description: 'What it is for (1 to 100 characters).' }),
    scopes: t.stringList({
      required: true,
      description: 'Scopes such as `contacts:read`; `contacts:*` for all of a resource.',
    }),
    callsPerMinute: t.int({ description: 'At most the rate of your own token; 60 when nothing is said.' }),
    expiresAt: t.field({ type: 'DateTime', description: 'At most the end of your own token.' }),
    idempotencyKey: t.string({
      description: 'Makes a repeated request the same one for 24 hours (at most 255 characters).',
    }),
  }),
});

const CreatedAccessToken = builder.objectRef<IssuedToken>('CreatedAccessToken').implement({
  description: 'A new token, with its secret.',
  fields: t => ({
    accessToken: t.field({
      type: AccessToken,
      description: 'What is known about it from now on.',
      resolve: created => created.accessToken,
    }),
    token: t.exposeString('token', {
      nullable: true,
      description: 'The bearer token, shown this once; null when the request is a repeated one.',
    }),
  }),
});

builder.objectField(Viewer, 'token', t =>
  t.field({
    type: AccessToken,
    description: 'The token of this call.',
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
    description: 'All tokens of this tenant, revoked ones included, newest first.',
    authScopes: { scope: 'tokens:read' },
    resolve: (_root, _args, context) => listTokens(context.db.read, callerOf(context).tenant.id),
  }),
);

builder.mutationFields(t => ({
  createAccessToken: t.field({
    type: CreatedAccessToken,
    description: 'Makes a token.',
    authScopes: { scope: 'tokens:write' },
    args: { input: t.arg({ type: CreateAccessTokenInput, required: true, description: 'What it is to be.' }) },
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
    description: 'Ends a token: it is refused everywhere, and its open sockets are closed, within 5 seconds.',
    authScopes: { scope: 'tokens:write' },
    args: { id: t.arg.id({ required: true, description: 'Its global id or databaseId.' }) },
    resolve: async (_root, { id }, context) => {
      const token = await revokeToken(context.db.write, callerOf(context).tenant.id, numericId('AccessToken', id));
      if (!token) throw notFound('AccessToken');
      context.tokens.forgetAll();
      return token;
    },
  }),
}));
