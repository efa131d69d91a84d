import { CodedError, type ErrorCode } from '../../errors.ts';
import { said } from '../body.ts';
import type { Call } from '../call.ts';
import {
  GetOtpStatusDocument,
  ListAuthenticationTemplatesDocument,
  type OtpRefusal,
  ResendOtpDocument,
  type ResendOtpInput,
  SendOtpDocument,
  type SentOtpFragment,
  VerifyOtpDocument,
} from '../documents.generated.ts';
import {
  type Changes,
  flag,
  given,
  nullable,
  object,
  optional,
  required,
  selected,
  text,
  time as timeShape,
} from '../openapi/shape.ts';
import { readShown, rowFields } from '../query.ts';
import { type Answer, type Route, route } from '../route.ts';
import { time } from '../wire-time.ts';
import { readTemplateList, TEMPLATE, TEMPLATES, templateRow } from './templates.ts';

const PURPOSE = 'authentication';

/** What a route that sends a code reads. What is left out has its default from GraphQL. */
function readOtp(call: Call) {
  const body = call.body();
  const minutes = body.text('expiry_minutes', 'expiry') || undefined;
  if (minutes !== undefined && !/^\d{1,6}$/.test(minutes.trim()))
    call.errors.add('expiry_minutes', 'Must be a whole number of minutes.');
  const input: ResendOtpInput = said({
    phone: body.requiredText('phone', 'phone_number'),
    templateName: body.requiredText('template_name'),
    language: body.text('language', 'template_language') || undefined,
    expiryMinutes: minutes === undefined ? undefined : Number(minutes),
    purpose: body.text('purpose') || undefined,
    channelId: body.id('channel_id'),
    waitForAcceptance: !call.prefersAsync,
    idempotencyKey: call.idempotencyKey,
  } as ResendOtpInput);
  return { body, input };
}

/** Digits without the plus, as all sends answer. */
const digits = (phone: string): string => phone.replace(/^\+/, '');

function sentAnswer(call: Call, { message, sandbox_code: code, ...otp }: SentOtpFragment): Answer {
  const data = {
    message_id: message?.message_id ?? null,
    contact_id: otp.contact_id,
    phone: digits(otp.phone),
    template_name: otp.template_name,
    language: otp.language,
    code_sent: true,
    expiry_minutes: otp.expiry_minutes,
    expires_at: time(otp.expires_at),
    status: message?.status.toLowerCase() ?? null,
    sent_at: time(message?.sent_at ?? null),
  };
  return {
    ...(call.prefersAsync && { status: 202, headers: { 'preference-applied': 'respond-async' } }),
    message: message?.status === 'QUEUED' ? 'Code queued' : 'Code sent',
    data: code === null ? data : { ...data, sandbox_code: code },
    // A code is told once: also of a sandbox it stands nowhere but as an HMAC.
    ...(code !== null && { kept: data }),
  };
}

const SENT: Changes = {
  without: ['message'],
  with: {
    message_id: nullable(text('The id of the network; null until it took the message.')),
    phone: text('Digits with the country code, without a plus.'),
    code_sent: flag('It is on its way; the code itself is never told.'),
    status: nullable(text('How far the message has come.')),
    sent_at: nullable(timeShape('When the network took it.')),
    sandbox_code: optional(text('The code, on a sandbox channel alone; a repeated request does not tell it again.')),
  },
};

const SEND_ERRORS: readonly ErrorCode[] = [
  'MESSAGE_SEND_FAILED',
  'MESSAGING_NOT_CONFIGURED',
  'CONTACT_OPTED_OUT',
  'NOT_FOUND',
  'FEATURE_NOT_AVAILABLE',
  'FEATURE_LIMIT_EXCEEDED',
];

const EXAMPLE = { phone: '+14155550123', template_name: 'login_code', language: 'en_US', expiry_minutes: 10 };

const REFUSALS: Readonly<Record<OtpRefusal, string>> = {
  OTP_NOT_FOUND: 'There is no live code for this phone number and purpose.',
  OTP_EXPIRED: 'The code has expired: ask for a new one.',
  INVALID_CODE: 'This is not the code.',
  MAX_ATTEMPTS_EXCEEDED: 'The code was tried too often: ask for a new one.',
};

const TEMPLATE_FIELDS = rowFields(ListAuthenticationTemplatesDocument);

export const otpRoutes: readonly Route[] = [
  route({
    method: 'POST',
    path: '/auth/send-otp',
    document: SendOtpDocument,
    // Nobody is told the code here.
    body: given('input', { without: ['tell_code'] }),
    example: EXAMPLE,
    answer: selected('otp', SENT),
    async: true,
    errors: SEND_ERRORS,
    plan: call => {
      const { body, input } = readOtp(call);
      return {
        variables: { input: said({ ...input, code: body.text('code') || undefined }) },
        respond: ({ otp }) => sentAnswer(call, otp),
      };
    },
  }),
  route({
    method: 'POST',
    path: '/auth/resend',
    document: ResendOtpDocument,
    example: EXAMPLE,
    answer: selected('otp', SENT),
    async: true,
    errors: SEND_ERRORS,
    plan: call => {
      const { input } = readOtp(call);
      return { variables: { input }, respond: ({ otp }) => sentAnswer(call, otp) };
    },
  }),
  route({
    method: 'POST',
    path: '/auth/verify',
    document: VerifyOtpDocument,
    example: { phone: '+14155550123', code: '123456', purpose: PURPOSE },
    answer: object({
      phone: text('Digits with the country code, without a plus.'),
      purpose: selected('verification.purpose'),
      verified_at: timeShape('When.'),
    }),
    errors: ['OTP_NOT_FOUND', 'OTP_EXPIRED', 'INVALID_CODE', 'MAX_ATTEMPTS_EXCEEDED', 'FEATURE_NOT_AVAILABLE'],
    plan: call => {
      const body = call.body();
      const phone = body.requiredText('phone', 'phone_number');
      const code = body.requiredText('code', 'otp');
      return {
        variables: {
          input: said({ phone, code, purpose: body.text('purpose') || PURPOSE, idempotencyKey: call.idempotencyKey }),
        },
        respond: ({ verification: { reason, attempts_remaining, ...verified } }) => {
          if (reason !== null) throw new CodedError(reason, REFUSALS[reason], { attempts_remaining });
          return {
            message: 'Code verified',
            data: {
              phone: digits(verified.phone),
              purpose: verified.purpose,
              verified_at: time(verified.verified_at),
            },
          };
        },
      };
    },
  }),
  route({
    method: 'POST',
    path: '/auth/status',
    document: GetOtpStatusDocument,
    body: object({
      phone: required(text('A phone number in international format.', { example: '+14155550123' })),
      purpose: text('What the code is for; `authentication` when nothing is said.', { max: 50 }),
    }),
    example: { phone: '+14155550123' },
    answer: selected('status', { with: { phone: text('Digits with the country code, without a plus.') } }),
    errors: ['FEATURE_NOT_AVAILABLE'],
    plan: call => {
      const body = call.body();
      const phone = body.requiredText('phone', 'phone_number');
      return {
        variables: { phone, purpose: body.text('purpose') || PURPOSE },
        respond: ({ status }) => ({
          message: 'Code status',
          data: {
            phone: digits(status.phone),
            purpose: status.purpose,
            has_active_otp: status.has_active_otp,
            expires_at: time(status.expires_at),
            expires_in_seconds: status.expires_in_seconds,
            is_expired: status.is_expired,
            verification_attempts: status.verification_attempts,
            max_attempts: status.max_attempts,
            attempts_remaining: status.attempts_remaining,
            created_at: time(status.created_at),
          },
        }),
      };
    },
  }),
  route({
    method: 'GET',
    path: '/auth/templates',
    document: ListAuthenticationTemplatesDocument,
    list: TEMPLATES,
    answer: selected('templates.nodes', TEMPLATE),
    errors: ['FEATURE_NOT_AVAILABLE'],
    plan: call => {
      const shown = readShown(call.query, TEMPLATE_FIELDS, call.errors);
      const list = readTemplateList(call);
      return {
        variables: { ...list, ...shown },
        respond: ({ templates }) => ({
          message: 'Authentication templates',
          data: templates.nodes.map(templateRow),
          page: { ...list, total: templates.totalCount },
        }),
      };
    },
  }),
];
