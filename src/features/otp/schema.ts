import { builder } from '../../builder.ts';
import { tenantOf } from '../caller.ts';
import { findMessage } from '../messages/find.ts';
import { Message } from '../messages/schema.ts';
import { deliveryFields, sendInputOf } from '../messages/send-input.ts';
import { TemplateConnection, templateArgs } from '../templates/schema.ts';
import { MAX_CODE, MIN_CODE } from './code.ts';
import { MAX_ATTEMPTS, type PublicOtp, type SentOtp, STATES } from './otp.ts';
import { DEFAULTS, MAX_EXPIRY_MINUTES, MAX_PURPOSE } from './request.ts';
import { sendOtp } from './send.ts';
import { type OtpStanding, otpStatus } from './status.ts';
import { authenticationTemplates } from './templates.ts';
import { REASONS, type Reason, type Verification, verifyOtp } from './verify.ts';

const STATE_WORDS: Record<(typeof STATES)[number], string> = {
  live: 'It can be verified until it expires.',
  verified: 'It was verified, and is used up.',
  exhausted: `It was tried ${MAX_ATTEMPTS} times in vain.`,
  replaced: 'A later one has taken its place.',
  failed: 'The network refused its message.',
  expired: 'It ran out.',
};
const State = builder.enumType('OtpState', {
  description: 'What became of a one-time password.',
  values: Object.fromEntries(
    STATES.map(value => [value.toUpperCase(), { value, description: STATE_WORDS[value] }]),
  ) as Record<string, { value: (typeof STATES)[number]; description: string }>,
});

const REASON_WORDS: Record<Reason, string> = {
  OTP_NOT_FOUND: 'There is no live code for this phone number and purpose: none was sent, or it was used up.',
  OTP_EXPIRED: 'The code ran out.',
  INVALID_CODE: 'The code is another one.',
  MAX_ATTEMPTS_EXCEEDED: `The code was tried ${MAX_ATTEMPTS} times in vain: a new one is needed.`,
};
const ReasonType = builder.enumType('OtpRefusal', {
  description: 'Why a one-time password did not verify.',
  values: Object.fromEntries(REASONS.map(value => [value, { value, description: REASON_WORDS[value] }])) as Record<
    string,
    { value: Reason; description: string }
  >,
});

export const Otp = builder.objectRef<SentOtp | PublicOtp>('Otp').implement({
  description:
    'A one-time password that was sent to a person. Its code is shown to nobody, but once to a sender who asks for it.',
  fields: t => ({
    id: t.exposeID('id', { description: 'Its id (a UUIDv7).' }),
    phone: t.exposeString('phone', { description: 'The phone number in E.164.' }),
    contactId: t.field({
      type: 'BigInt',
      nullable: true,
      description: 'The databaseId of the contact.',
      resolve: otp => otp.contact_id,
    }),
    purpose: t.exposeString('purpose', { description: 'What it is for; there is one live code for each.' }),
    templateName: t.exposeString('template_name', { description: 'The template that carried it.' }),
    language: t.exposeString('language', { description: 'The language of the template.' }),
    status: t.field({
      type: State,
      description: 'What became of it.',
      // One that is only about to be sent is shown by nothing.
      resolve: ({ state }) => (state === 'sending' ? 'live' : state),
    }),
    attempts: t.exposeInt('attempts', { description: `How often it was tried, of ${MAX_ATTEMPTS} times.` }),
    expiryMinutes: t.exposeInt('expiry_minutes', { description: 'For how many minutes it was good.' }),
    expiresAt: t.expose('expires_at', { type: 'DateTime', description: 'When it runs out.' }),
    createdAt: t.expose('created_at', { type: 'DateTime', description: 'When it was asked for.' }),
    verifiedAt: t.expose('verified_at', { type: 'DateTime', nullable: true, description: 'When it was verified.' }),
    message: t.field({
      type: Message,
      nullable: true,
      description: 'The message that carried it, with `••••••` for the code; null once the contact was deleted.',
      resolve: async (otp, _args, context) => {
        if ('message' in otp && otp.message) return otp.message;
        if (otp.message_id === null) return null;
        return (await findMessage(context.db.read, tenantOf(context), otp.message_id)) ?? null;
      },
    }),
    code: t.string({
      nullable: true,
      description:
        'The code, where `tellCode` asked for it; only in the answer of the mutation that made it, and not when that is repeated.',
      resolve: otp => ('code' in otp ? (otp.code ?? null) : null),
    }),
    sandboxCode: t.string({
      nullable: true,
      description:
        'The code, where it was sent on a sandbox channel (an emulator, no person); only in the answer of the mutation that made it.',
      resolve: otp => ('sandbox_code' in otp ? (otp.sandbox_code ?? null) : null),
    }),
  }),
});

const VerificationType = builder.objectRef<Verification>('OtpVerification').implement({
  description: 'Whether a one-time password is the right one.',
  fields: t => ({
    verified: t.exposeBoolean('verified', { description: 'It is, and is used up by that.' }),
    reason: t.field({
      type: ReasonType,
      nullable: true,
      description: 'Why it is not.',
      resolve: verification => verification.reason,
    }),
    attemptsRemaining: t.exposeInt('attempts_remaining', {
      description: 'How often the live code may still be tried; 0 where there is none.',
    }),
    phone: t.exposeString('phone', { description: 'The phone number in E.164.' }),
    purpose: t.exposeString('purpose', { description: 'What the code is for.' }),
    verifiedAt: t.expose('verified_at', { type: 'DateTime', nullable: true, description: 'When it was verified.' }),
  }),
});

const Standing = builder.objectRef<OtpStanding>('OtpStatus').implement({
  description: 'How it stands with the last one-time password of a phone number and purpose.',
  fields: t => ({
    phone: t.exposeString('phone', { description: 'The phone number in E.164.' }),
    purpose: t.exposeString('purpose', { description: 'What the code is for.' }),
    hasActiveOtp: t.exposeBoolean('isActive', { description: 'Whether there is a code that can be verified.' }),
    isExpired: t.exposeBoolean('isExpired', { description: 'Whether the last code ran out without being verified.' }),
    expiresAt: t.expose('expiresAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When the last code runs out, or did; null when there is none, or it was verified.',
    }),
    expiresInSeconds: t.exposeInt('expiresInSeconds', {
      description: 'For how many seconds the code can still be verified; 0 when there is none.',
    }),
    verificationAttempts: t.exposeInt('attempts', { description: 'How often the code was tried.' }),
    maxAttempts: t.int({ description: 'How often a code may be tried.', resolve: () => MAX_ATTEMPTS }),
    attemptsRemaining: t.exposeInt('attemptsRemaining', {
      description: 'How often the code may still be tried; 0 when there is none.',
    }),
    createdAt: t.expose('createdAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When the last code was asked for.',
    }),
  }),
});

type InputFields = Parameters<Parameters<typeof builder.inputType>[1]['fields']>[0];

const PHONE = 'A phone number in international format.';
const PURPOSE = `What the code is for: a word of at most ${MAX_PURPOSE} characters (a to z, 0 to 9, _ . and -). There is one live code for each phone number and purpose.`;

const purposeField = (t: InputFields) =>
  t.string({ required: true, defaultValue: DEFAULTS.purpose, description: PURPOSE });

const sendFields = (t: InputFields) => ({
  phone: t.string({ required: true, description: `${PHONE} A number that nobody has becomes a new contact.` }),
  templateName: t.string({
    required: true,
    description: 'An approved template of the category AUTHENTICATION; see `authenticationTemplates`.',
  }),
  language: t.string({
    required: true,
    defaultValue: DEFAULTS.language,
    description: 'A language in which the template exists, such as `en` or `en_US`.',
  }),
  expiryMinutes: t.int({
    required: true,
    defaultValue: DEFAULTS.expiryMinutes,
    description: `1 to ${MAX_EXPIRY_MINUTES} minutes for which the code is good.`,
  }),
  purpose: purposeField(t),
  ...deliveryFields(t),
});

const SendOtpInput = builder.inputType('SendOtpInput', {
  description: 'A one-time password for one person.',
  fields: t => ({
    ...sendFields(t),
    code: t.string({
      description: `The code: ${MIN_CODE} to ${MAX_CODE} characters (letters A to Z, digits, signs). Six random digits when nothing is said.`,
    }),
    tellCode: t.boolean({
      description: 'Answer the code too (`Otp.code`), for those who compare it themselves. Nobody else is ever told.',
    }),
  }),
});
const ResendOtpInput = builder.inputType('ResendOtpInput', {
  description: 'Another one-time password for one person, in the place of the last one.',
  fields: sendFields,
});
const VerifyOtpInput = builder.inputType('VerifyOtpInput', {
  description: 'A code that a person has entered.',
  fields: t => ({
    phone: t.string({ required: true, description: PHONE }),
    code: t.string({ required: true, description: `${MIN_CODE} to ${MAX_CODE} characters; blanks do not count.` }),
    purpose: purposeField(t),
    idempotencyKey: t.string({
      description:
        'A repeated request is told the same again for 24 hours, and counts as no further try. At most 255 characters.',
    }),
  }),
});

builder.mutationFields(t => ({
  sendOtp: t.field({
    type: Otp,
    description:
      'Sends a one-time password. It takes the place of the live one of the same phone number and purpose, unless the send is refused.',
    authScopes: { scope: 'messages:send' },
    args: { input: t.arg({ type: SendOtpInput, required: true, description: 'For whom a code is to be sent.' }) },
    resolve: (_root, { input }, context) => sendOtp(context, sendInputOf(input)),
  }),
  resendOtp: t.field({
    type: Otp,
    description:
      'As sendOtp, with a new code of six digits; 3 times in 5 minutes for one phone number. A refused resend leaves the live code alone.',
    authScopes: { scope: 'messages:send' },
    args: { input: t.arg({ type: ResendOtpInput, required: true, description: 'For whom a new code is to be sent.' }) },
    resolve: (_root, { input }, context) => sendOtp(context, sendInputOf(input), 'resend'),
  }),
  verifyOtp: t.field({
    type: VerificationType,
    description: `Says whether a code is the live one, and uses it up when it is. A code may be tried ${MAX_ATTEMPTS} times, a phone number 10 times a minute.`,
    authScopes: { scope: 'messages:send' },
    args: {
      input: t.arg({ type: VerifyOtpInput, required: true, description: 'The code that was entered, and for whom.' }),
    },
    resolve: (_root, { input }, context) => verifyOtp(context, input),
  }),
}));

builder.queryFields(t => ({
  otpStatus: t.field({
    type: Standing,
    description: 'How it stands with the last one-time password of a phone number and purpose. It changes nothing.',
    authScopes: { scope: 'messages:send' },
    args: {
      phone: t.arg.string({ required: true, description: PHONE }),
      purpose: t.arg.string({ required: true, defaultValue: DEFAULTS.purpose, description: PURPOSE }),
    },
    resolve: (_root, args, context) => otpStatus(context, args),
  }),
  authenticationTemplates: t.field({
    type: TemplateConnection,
    description: 'The templates that can carry a one-time password: approved, of the category AUTHENTICATION.',
    authScopes: { scope: 'templates:read' },
    args: templateArgs(),
    resolve: (_root, args, context) => authenticationTemplates(context, args),
  }),
}));
