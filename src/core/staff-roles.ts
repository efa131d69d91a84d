import { SCOPES, type Scope } from './scopes.ts';

/** From the widest to the narrowest. */
export const STAFF_ROLES = ['admin', 'agent', 'viewer'] as const;

export type StaffRole = (typeof STAFF_ROLES)[number];

const VIEWER: readonly Scope[] = [
  'account:read',
  'bots:read',
  'campaigns:read',
  'channels:read',
  'contacts:read',
  'conversations:read',
  'events:read',
  'groups:read',
  'messages:read',
  'notes:read',
  'sources:read',
  'staff:read',
  'statuses:read',
  'templates:read',
];

const AGENT: readonly Scope[] = [
  ...VIEWER,
  'contacts:write',
  'conversations:write',
  'groups:write',
  'messages:send',
  'notes:write',
];

/** All scopes but those of tokens: a token created by a session would outlive the session. */
const ADMIN = SCOPES.filter(scope => !scope.startsWith('tokens:'));

/** The scopes of each role. Roles are scopes only: an agent reads the whole account. */
export const ROLE_SCOPES: Readonly<Record<StaffRole, readonly Scope[]>> = {
  admin: ADMIN,
  agent: AGENT,
  viewer: VIEWER,
};

/** Whether a role allows no more than another one. */
export const isWithin = (role: StaffRole, limit: StaffRole): boolean =>
  STAFF_ROLES.indexOf(role) >= STAFF_ROLES.indexOf(limit);
