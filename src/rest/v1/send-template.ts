import type { ErrorCode } from '../../errors.ts';
import { type Body, said } from '../body.ts';
import type { Call } from '../call.ts';
import {
  SendCodeDocument,
  type SendOtpInput,
  SendTemplateDocument,
  type TemplateCategory,
} from '../documents.generated.ts';
import { bit, given, optional, text } from '../openapi/shape.ts';
import { type Described, oneOf, type Route, route } from '../route.ts';
import { FILES, filesGiven, LANGUAGE, readValues, TEMPLATE_NAME, TEMPLATE_NAMES, VALUES } from '../v2/send-template.ts';
import { SENDING_ERRORS } from '../v2/sending.ts';
import { RECIPIENT, readSending, SENDING_NAMES, sentMessage, sentRow, sentShape, UNSAID } from './sending.ts';

const readName = (body: Body): string => body.requiredText('template_name', 'name');
const readLanguage = (body: Body): string => body.requiredText('template_language', 'language');

const NAMES = { ...SENDING_NAMES, ...TEMPLATE_NAMES, language: 'template_language' };

/** The template with the values that are given. @param category what it has to be */
const asGiven = (path: string, category: TemplateCategory | undefined): Route =>
  route({
    method: 'POST',
    path,
    document: SendTemplateDocument,
    plan: call => {
      const body = call.body();
      const input = said({
        ...readSending(call, body),
        name: readName(body),
        language: readLanguage(body),
        category,
        ...readValues(body),
      });
      return {
        variables: { input },
        names: { ...NAMES, ...filesGiven(body) },
        respond: ({ message }) => ({ message: sentMessage(message), data: sentRow(message) }),
      };
    },
  });

/** The template with a code of ours, which is a one-time password like any other: it can be verified, and has the same caps. */
const withCode = (path: string): Route =>
  route({
    method: 'POST',
    path,
    document: SendCodeDocument,
    plan: call => {
      const body = call.body();
      for (const name of body.names)
        if (/^(field|button|header)_/.test(name) && body.has(name))
          body.errors.add(name, 'With auto_generate_otp the code is all that the template takes, and is made by us.');
      const { to: phone, ...sending } = readSending(call, body);
      return {
        variables: {
          // Purpose and lifetime have their defaults from GraphQL, which the generated type does not know.
          input: {
            ...sending,
            phone,
            templateName: readName(body),
            language: readLanguage(body),
            tellCode: true,
          } as SendOtpInput,
        },
        names: { ...NAMES, templateName: 'template_name', code: 'auto_generate_otp' },
        respond: ({ otp: { message, code } }) => {
          if (!message) throw new Error('A code was sent without a message.');
          const data = sentRow(message);
          // The code is told once: it stands nowhere but as an HMAC, and not in what is kept for a repeated request.
          return {
            message: sentMessage(message),
            data: code === null ? data : { ...data, otp_code: code },
            kept: data,
          };
        },
      };
    },
  });

const wantsCode = (call: Call): boolean => call.body().flag('auto_generate_otp') === true;

const ERRORS: readonly ErrorCode[] = [...SENDING_ERRORS, 'FEATURE_NOT_AVAILABLE'];

const DESCRIBED: Described = {
  body: given('input', {
    without: [...UNSAID, 'name', 'language', 'category', 'header', 'body', 'body_by_name', 'buttons'],
    with: {
      ...RECIPIENT,
      template_name: TEMPLATE_NAME,
      template_language: LANGUAGE,
      ...FILES,
      ...VALUES,
      auto_generate_otp: bit(
        'Make the code of a template of the category AUTHENTICATION, and tell it in `otp_code`. No other values are taken then.',
      ),
    },
  }),
  answer: sentShape({
    otp_code: optional(
      text(
        'The code, where `auto_generate_otp` had it made; a repeated request with the same key does not tell it again.',
      ),
    ),
  }),
  errors: ERRORS,
};

const sending = (path: string, category: TemplateCategory | undefined, described: Described): Route => {
  const [given, code] = [asGiven(path, category), withCode(path)];
  return oneOf({ ...DESCRIBED, ...described }, [given, code], call => (wantsCode(call) ? code : given));
};

export const sendTemplateRoutes: readonly Route[] = [
  sending('/messages/template', undefined, {
    example: {
      phone_number: '+14155550123',
      template_name: 'order_confirmation',
      template_language: 'en_US',
      field_1: 'Ana',
      field_2: '1042',
    },
  }),
  sending('/messages/authentication', 'AUTHENTICATION', {
    operationId: 'SendAuthenticationTemplate',
    summary: 'Sends a template of the category AUTHENTICATION.',
    successor: '/auth/send-otp',
    notes:
      '`field_1` is the code, unless `auto_generate_otp` has it made. A template of another category is a fault of `template_name`.',
    example: {
      phone_number: '+14155550123',
      template_name: 'login_code',
      template_language: 'en_US',
      auto_generate_otp: 1,
    },
  }),
];
