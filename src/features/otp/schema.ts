import { IS_NUMERIC } from '../../core/global-ids.ts';
import { builder, type InputFields } from '../../schema/builder.ts';
import { databaseUuid } from '../../schema/database-id.ts';
import {
  connectionOf,
  DateTimeFilter,
  enumFilter,
  filterOf,
  IDFilter,
  listArgs,
  orderOf,
  StringFilter,
} from '../../schema/lists.ts';
import { rowLoader } from '../../schema/loaders.ts';
import { nodesByUuid } from '../../schema/nodes.ts';
import { mutation, payloadOf } from '../../schema/payload.ts';
import { selectsOnlyKey } from '../../schema/selection.ts';
import type { ContactRow } from '../contacts/contact.ts';
import { contactLoader } from '../contacts/loaders.ts';
import { Contact } from '../contacts/schema.ts';
import { messageLoader } from '../messages/loaders.ts';
import { Message } from '../messages/schema.ts';
import { TemplateConnection, templateArgs } from '../templates/schema.ts';
import { MAX_CODE, MIN_CODE } from './code.ts';
import { otpDeliveryFields } from './delivery-fields.ts';
import { otpById, otpPage } from './list.ts';
import { MAX_ATTEMPTS, MAX_EXPIRY_MINUTES, type PublicOtp, type SentOtp, STATES } from './otp.ts';
import { DEFAULTS, MAX_PURPOSE } from './request.ts';
import { sendOtp } from './send.ts';
import { type OtpStatus, otpStatus } from './status.ts';
import { getOtps, getSentOtps } from './store.ts';
import { authenticationTemplates } from './templates.ts';
import { REASONS, type Reason, type Verification, verifyOtp } from './verify.ts';

const STATE_WORDS: Record<(typeof STATES)[number], string> = {
  live: 'Can be verified until it expires.',
  verified: 'Verified; it cannot be used again.',
  exhausted: `Used up by ${MAX_ATTEMPTS} wrong attempts.`,
  replaced: 'Replaced by a newer one.',
  failed: 'The network refused the message.',
  expired: 'Expired without being verified.',
};
const State = builder.enumType('OtpState', {
  description: 'State of a one-time password.',
  values: Object.fromEntries(
    STATES.map(value => [value.toUpperCase(), { value, description: STATE_WORDS[value] }]),
  ) as Record<string, { value: (typeof STATES)[number]; description: string }>,
});

const REASON_WORDS: Record<Reason, string> = {
  OTP_NOT_FOUND: 'There is no live code for this phone number and purpose: none was sent, or it was used.',
  OTP_EXPIRED: 'The code has expired.',
  INVALID_CODE: 'The code is wrong.',
  MAX_ATTEMPTS_EXCEEDED: `The code was entered wrong ${MAX_ATTEMPTS} times; request a new one.`,
};
const ReasonType = builder.enumType('OtpRefusal', {
  description: 'Why a one-time password was not verified.',
  values: Object.fromEntries(REASONS.map(value => [value, { value, description: REASON_WORDS[value] }])) as Record<
    string,
    { value: Reason; description: string }
  >,
});

/** One-time passwords by id, also those that are still being sent. */
export const otpLoader = rowLoader(getOtps);

export const Otp = builder.objectRef<SentOtp | PublicOtp>('Otp');

builder.node(Otp, {
  name: 'Otp',
  description: 'A one-time password that was sent, without its code. It is deleted a day after it has expired.',
  id: { resolve: otp => otp.id },
  brandLoadedObjects: true,
  loadManyWithoutCache: nodesByUuid('messages:read', getSentOtps),
  fields: t => ({
    databaseId: databaseUuid(t),
    phone: t.exposeString('phone', { description: 'Phone number in E.164 format.' }),
    contact: t.field({
      type: Contact,
      nullable: true,
      description: 'The contact with this phone number; null if it was deleted.',
      authScopes: { scope: 'contacts:read' },
      resolve: ({ contact_id: id }, _args, context, info) => {
        if (id === null) return null;
        return selectsOnlyKey(info) ? ({ id } as ContactRow) : contactLoader(context).load(id);
      },
    }),
    contactId: t.id({
      nullable: true,
      description: 'The databaseId of the contact; null if it was deleted.',
      extensions: { [IS_NUMERIC]: true },
      resolve: ({ contact_id: id }) => (id === null ? null : String(id)),
    }),
    purpose: t.exposeString('purpose', {
      description: 'Purpose of the code. There is one live code for each phone number and purpose.',
    }),
    templateName: t.exposeString('template_name', { description: 'Name of the template that carried the code.' }),
    language: t.exposeString('language', { description: 'Language code of the template.' }),
    status: t.field({
      type: State,
      description: 'State of the one-time password.',
      // One that is only about to be sent is shown by nothing.
      resolve: ({ state }) => (state === 'sending' ? 'live' : state),
    }),
    attempts: t.exposeInt('attempts', { description: 'Number of verification attempts.' }),
    maxAttempts: t.int({ description: 'Maximum number of verification attempts.', resolve: () => MAX_ATTEMPTS }),
    expiryMinutes: t.exposeInt('expiry_minutes', { description: 'Lifetime of the code in minutes.' }),
    expiresAt: t.expose('expires_at', { type: 'DateTime', description: 'Time of expiry.' }),
    createdAt: t.expose('created_at', { type: 'DateTime', description: 'Time at which the code was requested.' }),
    verifiedAt: t.expose('verified_at', {
      type: 'DateTime',
      nullable: true,
      description: 'Time of verification; null if it was not verified.',
    }),
    message: t.field({
      type: Message,
      nullable: true,
      description: 'The message that carried the code, shown as `••••••`; null if the contact was deleted.',
      resolve: async (otp, _args, context) => {
        if ('message' in otp && otp.message) return otp.message;
        if (otp.message_id === null) return null;
        return (await messageLoader(context).load(otp.message_id)) ?? null;
      },
    }),
  }),
});

interface Sent {
  readonly otp: SentOtp;
  readonly code: string | null;
  readonly sandboxCode: string | null;
}

const OtpPayload = payloadOf<Sent>('OtpPayload', 'Result of sending a one-time password.', t => ({
  otp: t.field({
    type: Otp,
    nullable: true,
    description: 'The one-time password.',
    resolve: ({ otp }) => otp ?? null,
  }),
  code: t.string({
    nullable: true,
    description: 'The code, if `tellCode` was set. It is not returned again when the mutation is repeated.',
    resolve: ({ code }) => code ?? null,
  }),
  contactCreated: t.boolean({
    nullable: true,
    description: 'Whether the send created the contact; null if nothing was sent.',
    resolve: ({ otp }) => otp?.message?.contact_created ?? null,
  }),
  sandboxCode: t.string({
    nullable: true,
    description:
      'The code, if it was sent on a sandbox channel (emulator). It is not returned again when the mutation is repeated.',
    resolve: ({ sandboxCode }) => sandboxCode ?? null,
  }),
}));

const VerifyOtpPayload = payloadOf<Verification>('VerifyOtpPayload', 'Result of a verification.', t => ({
  verified: t.boolean({
    description: 'Whether the code was right. A verified code cannot be used again.',
    resolve: ({ verified }) => verified === true,
  }),
  reason: t.field({
    type: ReasonType,
    nullable: true,
    description: 'Why the code was not verified; null if it was, or if the input was refused.',
    resolve: ({ reason }) => reason ?? null,
  }),
  attemptsRemaining: t.int({
    nullable: true,
    description: 'Remaining attempts for the live code; 0 if there is none, null if the input was refused.',
    resolve: ({ attempts_remaining: attempts }) => attempts ?? null,
  }),
  phone: t.string({
    nullable: true,
    description: 'Phone number in E.164 format; null if the input was refused.',
    resolve: ({ phone }) => phone ?? null,
  }),
  purpose: t.string({
    nullable: true,
    description: 'Purpose of the code; null if the input was refused.',
    resolve: ({ purpose }) => purpose ?? null,
  }),
  verifiedAt: t.field({
    type: 'DateTime',
    nullable: true,
    description: 'Time of verification; null if the code was not verified.',
    resolve: ({ verified_at: at }) => at ?? null,
  }),
}));

const Standing = builder.objectRef<OtpStatus>('OtpStatus').implement({
  description: 'State of the last one-time password of a phone number and purpose.',
  fields: t => ({
    phone: t.exposeString('phone', { description: 'Phone number in E.164 format.' }),
    purpose: t.exposeString('purpose', { description: 'Purpose of the code.' }),
    hasActiveOtp: t.exposeBoolean('isActive', { description: 'Whether there is a code that can be verified.' }),
    isExpired: t.exposeBoolean('isExpired', { description: 'Whether the last code expired without being verified.' }),
    expiresAt: t.expose('expiresAt', {
      type: 'DateTime',
      nullable: true,
      description: 'Time of expiry of the last code; null if there is none or it was verified.',
    }),
    expiresInSeconds: t.exposeInt('expiresInSeconds', {
      description: 'Seconds until the code expires; 0 if there is none.',
    }),
    verificationAttempts: t.exposeInt('attempts', {
      description: 'Number of verification attempts for the last code.',
    }),
    maxAttempts: t.int({ description: 'Maximum number of attempts for one code.', resolve: () => MAX_ATTEMPTS }),
    attemptsRemaining: t.exposeInt('attemptsRemaining', {
      description: 'Remaining attempts for the live code; 0 if there is none.',
    }),
    createdAt: t.expose('createdAt', {
      type: 'DateTime',
      nullable: true,
      description: 'Time at which the last code was requested; null if there is none.',
    }),
  }),
});

const PHONE = 'Phone number in international format.';
const PURPOSE = `Purpose of the code: at most ${MAX_PURPOSE} characters (a to z, 0 to 9, _ . and -). There is one live code for each phone number and purpose.`;

const purposeField = (t: InputFields) =>
  t.string({ required: true, defaultValue: DEFAULTS.purpose, description: PURPOSE });

const sendFields = (t: InputFields) => ({
  phone: t.string({ required: true, description: `${PHONE} An unknown number creates a contact.` }),
  templateName: t.string({
    required: true,
    description: 'Name of an approved template of the category AUTHENTICATION; see `authenticationTemplates`.',
  }),
  language: t.string({
    required: true,
    defaultValue: DEFAULTS.language,
    description: 'Language code in which the template exists, for example `en` or `en_US`.',
  }),
  expiryMinutes: t.int({
    required: true,
    defaultValue: DEFAULTS.expiryMinutes,
    description: `Lifetime of the code: 1 to ${MAX_EXPIRY_MINUTES} minutes.`,
  }),
  purpose: purposeField(t),
  ...otpDeliveryFields(t),
});

const SendOtpInput = builder.inputType('SendOtpInput', {
  description: 'A one-time password to be sent.',
  fields: t => ({
    ...sendFields(t),
    code: t.string({
      description: `The code: ${MIN_CODE} to ${MAX_CODE} characters (letters A to Z, digits, punctuation). Default: six random digits.`,
    }),
    tellCode: t.boolean({
      description: 'If true, returns the code in `OtpPayload.code`, for callers that compare it themselves.',
    }),
  }),
});
const ResendOtpInput = builder.inputType('ResendOtpInput', {
  description: 'A new one-time password that replaces the last one.',
  fields: sendFields,
});
const VerifyOtpInput = builder.inputType('VerifyOtpInput', {
  description: 'A code that a person entered.',
  fields: t => ({
    phone: t.string({ required: true, description: PHONE }),
    code: t.string({
      required: true,
      description: `The entered code: ${MIN_CODE} to ${MAX_CODE} characters; spaces are ignored.`,
    }),
    purpose: purposeField(t),
    idempotencyKey: t.string({
      description:
        'Repeating the mutation with the same key within 24 hours returns the first result; with other input it is an IDEMPOTENCY_MISMATCH without using another attempt. At most 255 characters.',
    }),
  }),
});

const sent = async (otp: Promise<SentOtp>): Promise<Sent> => {
  const row = await otp;
  return { otp: row, code: row.code ?? null, sandboxCode: row.sandbox_code ?? null };
};

mutation('sendOtp', {
  description:
    'Sends a one-time password. Unless the send is refused, it replaces the live one of the same phone number and purpose. Too many codes for a phone number or an account are refused with RATE_LIMIT_EXCEEDED.',
  scope: 'messages:send',
  input: SendOtpInput,
  payload: OtpPayload,
  resolve: (input, context) => sent(sendOtp(context, input)),
});

mutation('resendOtp', {
  description:
    'Sends a new code of six digits, at most 3 times in 5 minutes for one phone number. If the send is refused, the live code remains valid.',
  scope: 'messages:send',
  input: ResendOtpInput,
  payload: OtpPayload,
  resolve: (input, context) => sent(sendOtp(context, input, 'resend')),
});

mutation('verifyOtp', {
  description: `Verifies a code and, if it is right, uses it up. Limits: ${MAX_ATTEMPTS} attempts for a code, 10 a minute for a phone number (RATE_LIMIT_EXCEEDED). A wrong code is not an error; see \`verified\` and \`reason\`.`,
  scope: 'messages:send',
  input: VerifyOtpInput,
  payload: VerifyOtpPayload,
  resolve: (input, context) => verifyOtp(context, input),
});

const Filter = filterOf('Otp', 'one-time passwords', t => ({
  id: t.field({ type: IDFilter, description: 'Id of the one-time password.' }),
  phone: t.field({ type: StringFilter, description: 'Phone number in E.164 format.' }),
  purpose: t.field({ type: StringFilter, description: 'Purpose of the code.' }),
  status: t.field({ type: enumFilter(State), description: 'State of the one-time password.' }),
  createdAt: t.field({ type: DateTimeFilter, description: 'Time at which the code was requested.' }),
  expiresAt: t.field({ type: DateTimeFilter, description: 'Time of expiry.' }),
  verifiedAt: t.field({ type: DateTimeFilter, description: 'Time of verification.' }),
}));
const Order = orderOf('Otp', 'one-time passwords', { ID: { value: 'id', description: 'Order of the requests.' } });

builder.queryFields(t => ({
  otps: t.field({
    type: connectionOf('Otp', Otp),
    description: 'Lists the one-time passwords that were sent and are not deleted yet, by default the latest first.',
    authScopes: { scope: 'messages:read' },
    args: listArgs(Filter, Order, { search: false }),
    resolve: (_root, args, context) => otpPage(context, args),
  }),
  otp: t.field({
    type: Otp,
    nullable: true,
    description: 'Returns one one-time password; null if there is none.',
    authScopes: { scope: 'messages:read' },
    args: { id: t.arg.id({ required: true, description: 'Global id or databaseId of the one-time password.' }) },
    resolve: (_root, { id }, context) => otpById(context, id),
  }),
  otpStatus: t.field({
    type: Standing,
    description:
      'Returns the state of the last one-time password of a phone number and purpose, without using an attempt.',
    authScopes: { scope: 'messages:send' },
    args: {
      phone: t.arg.string({ required: true, description: PHONE }),
      purpose: t.arg.string({ required: true, defaultValue: DEFAULTS.purpose, description: PURPOSE }),
    },
    resolve: (_root, args, context) => otpStatus(context, args),
  }),
  authenticationTemplates: t.field({
    type: TemplateConnection,
    description: 'Lists templates that can carry a one-time password: approved and of the category AUTHENTICATION.',
    authScopes: { scope: 'templates:read' },
    args: templateArgs(),
    resolve: (_root, args, context) => authenticationTemplates(context, args),
  }),
}));
