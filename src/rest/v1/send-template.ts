import type { z } from 'zod';
import { type AddFault, bit, dropUndefined, openBody } from '../runtime/fields.ts';
import { type Described, type Input, operation, type Route, routeByBody } from '../runtime/route.ts';
import {
  SendCodeDocument,
  type SendOtpInput,
  SendTemplateDocument,
  type TemplateCategory,
} from '../wire/documents.generated.ts';
import { SENDING_ERRORS, sentText } from '../wire/sending.ts';
import {
  checkTemplateValues,
  languageNamed,
  TEMPLATE_NAME,
  TEMPLATE_VALUES,
  templateInput,
  templateNames,
} from '../wire/template-values.ts';
import { RECIPIENT, SENDING_NAMES, SENT_TEMPLATE, sendingInput, sentResponse, wireRow } from './sending.ts';

const TEMPLATE = {
  ...RECIPIENT,
  template_name: TEMPLATE_NAME,
  template_language: languageNamed('language'),
  ...TEMPLATE_VALUES,
  auto_generate_otp: bit({
    description:
      'Generate the code of a template of the category AUTHENTICATION and return it in `otp_code`. The template then takes no other values.',
  }),
};
type Template = z.output<z.ZodObject<typeof TEMPLATE>>;

function checkValues(template: Template, add: AddFault): void {
  if (template.auto_generate_otp !== true) {
    checkTemplateValues(template, add);
    return;
  }
  for (const [name, value] of Object.entries(template))
    if (/^(field|button|header)_/.test(name) && value != null && value !== '')
      add(name, 'With auto_generate_otp the code is all that the template takes, and is made by us.', 'surplus');
  if (template.scheduled_at) add('scheduled_at', 'A generated code is sent at once.', 'surplus');
}

const NAMES = { ...SENDING_NAMES, language: 'template_language', 'content.template.language': 'template_language' };

const BODY = openBody(TEMPLATE, checkValues);

/** The template with the given values. @param category the required category */
const withValues = (category: TemplateCategory | undefined) =>
  operation({
    document: SendTemplateDocument,
    names: ({ body }) => ({ ...templateNames(body), ...NAMES }),
    variables: ({ call, body }: Input<Template>) => ({
      input: {
        ...sendingInput(call, body),
        content: {
          template: dropUndefined({
            name: body.template_name,
            language: body.template_language,
            category,
            ...templateInput(body),
          }),
        },
      },
    }),
    respond: sentResponse,
  });

/** The template with a generated code, a one-time password like any other: it can be verified and has the same limits. */
const withCode = operation({
  document: SendCodeDocument,
  names: { ...NAMES, templateName: 'template_name', code: 'auto_generate_otp' },
  variables: ({ call, body }: Input<Template>) => {
    const { to, expectedContactId, scheduledAt: _none, ...sending } = sendingInput(call, body);
    const input = {
      ...sending,
      ...to,
      ...(expectedContactId !== undefined && { contactId: expectedContactId }),
      templateName: body.template_name,
      language: body.template_language,
      tellCode: true,
    };
    // The generated type does not know that purpose and expiry have defaults in GraphQL.
    return { input: input as SendOtpInput };
  },
  respond: ({ result: { otp, code, contact_created } }) => {
    const message = otp?.message;
    if (!message) throw new Error('A code was sent without a message.');
    const data = wireRow(message, contact_created ?? false);
    // The code is returned once: it is stored only as an HMAC, and not in the answer for repeated requests.
    return {
      message: sentText(message),
      data: code === null ? data : { ...data, otp_code: code },
      storedData: data,
    };
  },
});

const sendTemplate = (path: string, category: TemplateCategory | undefined, described: Described): Route => {
  const values = withValues(category);
  return routeByBody(
    {
      method: 'POST',
      path,
      body: BODY,
      answer: SENT_TEMPLATE,
      errors: [...SENDING_ERRORS, 'FEATURE_NOT_AVAILABLE'],
      ...described,
    },
    [values, withCode],
    ({ auto_generate_otp }) => (auto_generate_otp === true ? withCode : values),
  );
};

export const sendTemplateRoutes: readonly Route[] = [
  sendTemplate('/messages/template', undefined, {
    example: {
      phone_number: '+14155550123',
      template_name: 'order_confirmation',
      template_language: 'en_US',
      field_1: 'Ana',
      field_2: '1042',
    },
  }),
  sendTemplate('/messages/authentication', 'AUTHENTICATION', {
    operationId: 'SendAuthenticationTemplate',
    summary: 'Sends a template of the category AUTHENTICATION.',
    successor: '/auth/send-otp',
    notes:
      '`field_1` is the code, unless `auto_generate_otp` generates it. A template of another category is an error of `template_name`.',
    example: {
      phone_number: '+14155550123',
      template_name: 'login_code',
      template_language: 'en_US',
      auto_generate_otp: 1,
    },
  }),
];
