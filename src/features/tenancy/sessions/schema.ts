import { notFound } from '../../../core/errors.ts';
import { inputId, requireId } from '../../../core/global-ids.ts';
import { tenantOf } from '../../../core/principal.ts';
import { builder, IDEMPOTENCY_KEY } from '../../../schema/builder.ts';
import type { Context } from '../../../schema/context.ts';
import { oneOf } from '../../../schema/one-of.ts';
import { mutation, payloadOf } from '../../../schema/payload.ts';
import { StaffMember, StaffMemberPayload, StaffRoleEnum, staffLoader } from '../staff/schema.ts';
import type { StaffRow } from '../staff/staff-member.ts';
import { findStaff, getStaff } from '../staff/store.ts';
import { Viewer } from '../tenants/schema.ts';
import { type CreatedSession, createSession } from './create.ts';
import { revokeOwnSession, revokeSessions } from './revoke.ts';

builder.objectField(Viewer, 'staffMember', t =>
  t.field({
    type: StaffMember,
    nullable: true,
    description: 'The staff member whose session this is; null for other tokens.',
    resolve: ({ session }, _args, context) => (session ? staffLoader(context).load(session.staffId) : null),
  }),
);

const StaffMemberIdentifier = builder.inputType('StaffMemberIdentifierInput', {
  description: 'A staff member.',
  isOneOf: true,
  fields: t => ({
    id: t.id({ description: 'Global id or databaseId.' }),
    email: t.string({ description: 'E-mail address, in any case.' }),
  }),
});

const CreateStaffSessionInput = builder.inputType('CreateStaffSessionInput', {
  description: 'A session of a staff member in a browser.',
  fields: t => ({
    staffMember: t.field({ type: StaffMemberIdentifier, required: true, description: 'The staff member.' }),
    role: t.field({
      type: StaffRoleEnum,
      description: 'Role of the session, at most that of the staff member, which is the default.',
    }),
    ttlSeconds: t.int({
      required: true,
      defaultValue: 900,
      description: 'Seconds until the session expires, 60 to 43,200. It never outlives the calling token.',
    }),
    documentsOnly: t.boolean({
      required: true,
      defaultValue: true,
      description: 'Whether the session executes trusted documents only.',
    }),
    origins: t.stringList({
      required: true,
      description:
        'Origins of the pages that may use the session, for example `https://app.example`; at most 20. Empty: any, for apps that are no pages.',
    }),
    callsPerMinute: t.int({
      required: true,
      defaultValue: 600,
      description: 'Maximum number of API calls in a minute, reduced to that of the calling token.',
    }),
    idempotencyKey: t.string({ description: IDEMPOTENCY_KEY }),
  }),
});

const RevokeStaffSessionsInput = builder.inputType('RevokeStaffSessionsInput', {
  description: 'The staff member whose sessions end.',
  fields: t => ({
    id: t.id({ required: true, description: 'Global id or databaseId of the staff member.' }),
    idempotencyKey: t.string({ description: IDEMPOTENCY_KEY }),
  }),
});

const RevokeOwnSessionInput = builder.inputType('RevokeOwnSessionInput', {
  description: 'The calling session ends.',
  fields: t => ({ idempotencyKey: t.string({ description: IDEMPOTENCY_KEY }) }),
});

const StaffSessionPayload = payloadOf<CreatedSession>('StaffSessionPayload', 'A new session of a staff member.', t => ({
  staffMember: t.field({
    type: StaffMember,
    nullable: true,
    description: 'The staff member.',
    resolve: ({ staffMember }) => staffMember ?? null,
  }),
  token: t.string({
    nullable: true,
    description: 'The bearer token of the session. Shown only once; null if the request repeats an earlier one.',
    resolve: ({ token }) => token ?? null,
  }),
  expiresAt: t.field({
    type: 'DateTime',
    nullable: true,
    description: 'Expiry of the session.',
    resolve: ({ expiresAt }) => expiresAt ?? null,
  }),
}));

mutation('createStaffSession', {
  description:
    "Creates a session of a staff member, for the tenant's backend: a browser gets its token instead of an access token. Its scopes are those of the role that the calling token has too.",
  scope: 'staff:write',
  input: CreateStaffSessionInput,
  payload: StaffSessionPayload,
  async resolve({ staffMember, idempotencyKey, role, ...request }, context) {
    const member = await identify(context, oneOf(staffMember, 'staffMember'));
    const input = { ...request, role, staffId: member.id };
    return createSession(context, member, { ...request, role: role ?? undefined }, { key: idempotencyKey, input });
  },
});

mutation('revokeStaffSessions', {
  description:
    'Ends all sessions of a staff member: within a second they are rejected everywhere and their open connections are closed.',
  scope: 'staff:write',
  input: RevokeStaffSessionsInput,
  payload: StaffMemberPayload,
  async resolve({ id }, context) {
    const staffMember = await memberById(context, requireId(tenantOf(context), 'StaffMember', id));
    await revokeSessions(context, staffMember);
    return { staffMember };
  },
});

mutation('revokeOwnSession', {
  description: 'Ends the calling session, as when a person signs out. Needs no scope.',
  scope: undefined,
  input: RevokeOwnSessionInput,
  payload: StaffMemberPayload,
  resolve: async (_input, context) => ({ staffMember: await memberById(context, await revokeOwnSession(context)) }),
});

async function identify(
  context: Context,
  given: { readonly field: 'id' | 'email'; readonly value: string },
): Promise<StaffRow> {
  const tenantId = tenantOf(context);
  if (given.field === 'id') {
    const field = 'staffMember.id';
    return memberById(context, inputId(tenantId, 'StaffMember', given.value, field), field);
  }
  const member = given.value.includes('@') && (await findStaff(context.db.read, tenantId, given.value));
  if (!member) throw notFound('StaffMember', 'staffMember.email');
  return member;
}

async function memberById(context: Context, id: number, field?: string): Promise<StaffRow> {
  const [member] = await getStaff(context.db.read, tenantOf(context), [id]);
  if (!member) throw notFound('StaffMember', field);
  return member;
}
