import type { Principal, Tenant } from '../../../core/principal.ts';
import { callerOf } from '../../../core/principal.ts';
import { builder } from '../../../schema/builder.ts';

const WindowPolicy = builder.enumType('WindowPolicy', {
  description: 'What happens to a free-form message outside the 24-hour service window.',
  values: {
    NETWORK: {
      value: 'network',
      description: 'It is sent, and fails if the network refuses it (code 131047).',
    },
    REFUSE: { value: 'refuse', description: 'It is refused with OUTSIDE_SERVICE_WINDOW, and nothing is stored.' },
  } as const,
});

const TenantType = builder.objectRef<Tenant>('Tenant').implement({
  description: "An organisation that uses this gateway. Tenants cannot see each other's data.",
  fields: t => ({
    databaseId: t.field({
      type: 'BigInt',
      description: 'Numeric id of the tenant.',
      resolve: tenant => tenant.id,
    }),
    slug: t.exposeString('slug', { description: 'Name of the tenant in URLs.' }),
    name: t.exposeString('name', { description: 'Name of the tenant.' }),
    planName: t.exposeString('planName', { description: 'Name of the plan.' }),
    callsPerMinute: t.exposeInt('callsPerMinute', {
      description: 'Maximum number of API calls in a minute, for all tokens together.',
    }),
    windowPolicy: t.field({
      type: WindowPolicy,
      description: 'What happens to free-form messages outside the service window.',
      resolve: tenant => tenant.windowPolicy,
    }),
  }),
});

export const Viewer = builder.objectRef<Principal>('Viewer').implement({
  description: 'The calling token and its tenant.',
  fields: t => ({
    tenant: t.field({ type: TenantType, description: 'The tenant of the token.', resolve: viewer => viewer.tenant }),
    scopes: t.stringList({
      description: 'Scopes of the token, for example `contacts:read`.',
      resolve: viewer => [...viewer.scopes],
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
    description: 'Returns the calling token and its tenant.',
    authScopes: { token: true },
    resolve: (_root, _args, context) => callerOf(context),
  }),
);
