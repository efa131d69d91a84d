import { builder } from '../../builder.ts';
import type { Principal, Tenant } from '../../context.ts';
import { callerOf } from '../caller.ts';

const WindowPolicy = builder.enumType('WindowPolicy', {
  description: 'What becomes of a free-form message to a person whose 24-hour service window is closed.',
  values: {
    NETWORK: {
      value: 'network',
      description: 'It is sent, and the refusal of the network (131047) becomes its failure.',
    },
    REFUSE: { value: 'refuse', description: 'It is refused with OUTSIDE_SERVICE_WINDOW before anything is written.' },
  } as const,
});

const TenantType = builder.objectRef<Tenant>('Tenant').implement({
  description: 'An organisation that uses this gateway. Nothing of one tenant can be seen by another.',
  fields: t => ({
    databaseId: t.field({
      type: 'BigInt',
      description: 'The number that the database knows it by.',
      resolve: tenant => tenant.id,
    }),
    slug: t.exposeString('slug', { description: 'Its name in addresses.' }),
    name: t.exposeString('name', { description: 'Its name.' }),
    planName: t.exposeString('planName', { description: 'The plan it is on.' }),
    callsPerMinute: t.exposeInt('callsPerMinute', {
      description: 'How many calls all its tokens together may make in a minute.',
    }),
    windowPolicy: t.field({
      type: WindowPolicy,
      description: 'What becomes of messages outside the service window.',
      resolve: tenant => tenant.windowPolicy,
    }),
  }),
});

export const Viewer = builder.objectRef<Principal>('Viewer').implement({
  description: 'Who is calling: a token and its tenant.',
  fields: t => ({
    tenant: t.field({ type: TenantType, description: 'The tenant of the token.', resolve: viewer => viewer.tenant }),
    scopes: t.stringList({ description: 'What the token may do.', resolve: viewer => [...viewer.scopes] }),
    callsPerMinute: t.exposeInt('callsPerMinute', { description: 'How many calls the token may make in a minute.' }),
    expiresAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When the token ends by itself; null: never.',
      resolve: viewer => (viewer.expiresAtMs === undefined ? null : new Date(viewer.expiresAtMs).toISOString()),
    }),
  }),
});

builder.queryField('viewer', t =>
  t.field({
    type: Viewer,
    description: 'Who the bearer token of this call is.',
    authScopes: { token: true },
    resolve: (_root, _args, context) => callerOf(context),
  }),
);
