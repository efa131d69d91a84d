import { z } from 'zod';
import { CodedError, type ErrorCode } from '../../core/errors.ts';
import { named, type SchemaOverrides, selectionOf, timestamp } from '../openapi/schema.ts';
import type { Call } from '../runtime/call.ts';
import { alias, body, dropUndefined, id, requiredText, text, whole } from '../runtime/fields.ts';
import { listResponse, type Route, type RouteResponse, requireRow, route } from '../runtime/route.ts';
import {
  GetOtpStatusDocument,
  ListAuthenticationTemplatesDocument,
  type OtpRefusal,
  ResendOtpDocument,
  type ResendOtpInput,
  SendOtpDocument,
  type SendOtpInput,
  type SentOtpFragment,
  VerifyOtpDocument,
} from '../wire/documents.generated.ts';
import { TEMPLATE_LIST, TEMPLATE_OVERRIDES, templateArguments } from '../wire/templates.ts';
import { digitsOf, rowKey, time } from '../wire/values.ts';
import { templateRow } from './templates.ts';

const PHONE = alias(requiredText(), 'phone_number');
const PURPOSE = text({ maxLength: 50, default: 'authentication' });

/** A body that sends a code. GraphQL has the defaults of missing fields. */
const SEND = {
  phone: PHONE,
  contact_id: id(),
  template_name: requiredText(),
  language: alias(text(), 'template_language'),
  expiry_minutes: alias(whole({ minimum: 1, maximum: 60 }, 'Must be a whole number of minutes.'), 'expiry'),
  purpose: PURPOSE,
  channel_id: id(),
};

const sendInput = (call: Call, body: z.output<z.ZodObject<typeof SEND>>) =>
  dropUndefined({
    phone: body.phone,
    contactId: body.contact_id ?? undefined,
    templateName: body.template_name,
    language: body.language || undefined,
    expiryMinutes: body.expiry_minutes ?? undefined,
    purpose: body.purpose || undefined,
    channelId: body.channel_id,
    waitForAcceptance: !call.prefersAsync,
    idempotencyKey: call.idempotencyKey,
  } as ResendOtpInput);

function sentResponse(call: Call, { row, sandbox_code: code }: SentOtpFragment): RouteResponse {
  const { message, ...otp } = requireRow(row, 'One-time password');
  const data = {
    message_id: message?.message_id ?? null,
    contact_id: rowKey(otp.contact_id),
    phone: digitsOf(otp.phone),
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
    // A code is returned only once; it is stored as an HMAC.
    ...(code !== null && { storedData: data }),
  };
}

const DIGITS = z.string().describe('Phone number without its `+`.');

const SENT: SchemaOverrides = {
  without: ['message'],
  with: {
    message_id: z.string().nullable().describe('Id of the message on the network; null until it accepted the message.'),
    phone: DIGITS,
    code_sent: z.boolean().describe('Whether the code was sent; the code itself is never returned.'),
    status: z.string().nullable().describe('The status of the message.'),
    sent_at: timestamp('Time at which the network accepted the message.').nullable(),
    sandbox_code: z
      .string()
      .describe('The code, only on a sandbox channel; not repeated for the same idempotency key.')
      .optional(),
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
  OTP_EXPIRED: 'The code has expired. Request a new one.',
  INVALID_CODE: 'The code is wrong.',
  MAX_ATTEMPTS_EXCEEDED: 'The code was entered wrong too often. Request a new one.',
};

export const otpRoutes: readonly Route[] = [
  route({
    method: 'POST',
    path: '/auth/send-otp',
    document: SendOtpDocument,
    body: body({ ...SEND, code: text({ minLength: 4, maxLength: 15 }) }),
    example: EXAMPLE,
    answer: named('SentOtp', selectionOf('result.row', SENT)),
    async: true,
    errors: SEND_ERRORS,
    variables: ({ call, body }) => ({
      input: dropUndefined({ ...sendInput(call, body), code: body.code || undefined }) as SendOtpInput,
    }),
    respond: ({ result }, { call }) => sentResponse(call, result),
  }),
  route({
    method: 'POST',
    path: '/auth/resend',
    document: ResendOtpDocument,
    body: body(SEND),
    example: EXAMPLE,
    answer: named('SentOtp', selectionOf('result.row', SENT)),
    async: true,
    errors: SEND_ERRORS,
    variables: ({ call, body }) => ({ input: sendInput(call, body) }),
    respond: ({ result }, { call }) => sentResponse(call, result),
  }),
  route({
    method: 'POST',
    path: '/auth/verify',
    document: VerifyOtpDocument,
    body: body({ phone: PHONE, code: alias(requiredText({ minLength: 4, maxLength: 15 }), 'otp'), purpose: PURPOSE }),
    example: { phone: '+14155550123', code: '123456', purpose: 'authentication' },
    answer: z.object({
      phone: DIGITS,
      purpose: selectionOf('result.purpose'),
      verified_at: timestamp('Time of verification.'),
    }),
    errors: ['OTP_NOT_FOUND', 'OTP_EXPIRED', 'INVALID_CODE', 'MAX_ATTEMPTS_EXCEEDED', 'FEATURE_NOT_AVAILABLE'],
    variables: ({ call, body: { phone, code, purpose } }) => ({
      input: dropUndefined({
        phone,
        code,
        purpose: purpose || 'authentication',
        idempotencyKey: call.idempotencyKey,
      }),
    }),
    respond: ({ result: { reason, attempts_remaining, ...verified } }) => {
      if (reason !== null) throw new CodedError(reason, REFUSALS[reason], { details: { attempts_remaining } });
      return {
        message: 'Code verified',
        data: {
          phone: verified.phone === null ? null : digitsOf(verified.phone),
          purpose: verified.purpose,
          verified_at: time(verified.verified_at),
        },
      };
    },
  }),
  route({
    method: 'POST',
    path: '/auth/status',
    document: GetOtpStatusDocument,
    body: body({ phone: PHONE, purpose: PURPOSE }),
    example: { phone: '+14155550123' },
    answer: selectionOf('status', { with: { phone: DIGITS } }),
    errors: ['FEATURE_NOT_AVAILABLE'],
    variables: ({ body: { phone, purpose } }) => ({ phone, purpose: purpose || 'authentication' }),
    respond: ({ status }) => ({
      message: 'Code status',
      data: {
        phone: digitsOf(status.phone),
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
  }),
  route({
    method: 'GET',
    path: '/auth/templates',
    document: ListAuthenticationTemplatesDocument,
    list: TEMPLATE_LIST,
    answer: selectionOf('templates.nodes', TEMPLATE_OVERRIDES),
    errors: ['FEATURE_NOT_AVAILABLE'],
    variables: ({ list }) => templateArguments(list),
    respond: ({ templates }, { list }) => listResponse('Authentication templates', templates, list, templateRow),
  }),
];
