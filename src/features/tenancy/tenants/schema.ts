import type { Principal } from '../../../core/principal.ts';
import { callerOf } from '../../../core/principal.ts';
import { knownScopes } from '../../../core/scopes.ts';
import { builder } from '../../../schema/builder.ts';
import { ScopeEnum } from '../../../schema/scope-enum.ts';

export const Viewer = builder.objectRef<Principal>('Viewer').implement({
  description: 'The calling token, its account and its staff member.',
  fields: t => ({
    scopes: t.field({
      type: [ScopeEnum],
      description: 'Scopes of the token.',
      resolve: viewer => knownScopes(viewer.scopes),
    }),
    callsPerMinute: t.exposeInt('callsPerMinute', {
      description: 'Maximum number of API calls in a minute for this token.',
    }),
    expiresAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'Expiry of the token; null if it does not expire.',
      resolve: viewer => (viewer.expiresAtMs === undefined ? null : new Date(viewer.expiresAtMs).toISOString()),
    }),
  }),
});

builder.queryField('viewer', t =>
  t.field({
    type: Viewer,
    description: 'Returns the calling token, with its account and its staff member.',
    authScopes: { token: true },
    // Authentication has read it.
    extensions: { points: 0 },
    resolve: (_root, _args, context) => callerOf(context),
  }),
);
