import { CodedError, FieldErrorList, withFaultsOf } from '../../core/errors.ts';
import type { Context } from '../../schema/context.ts';
import { NOBODY, withAllFaults as withFaultsOfSend } from '../messages/send/all-faults.ts';
import { templateRequest } from '../templates/sending/send-template.ts';
import { type GivenOtpInput, readSend, templateOf } from './request.ts';
import { AS_OTP } from './settle.ts';

/** Field names of sends that differ from the input's. */
const FIELDS: Readonly<Record<string, string>> = {
  name: 'templateName',
  to: 'phone',
  expectedContactId: 'contactId',
  'body.0': 'code',
  'buttons.0': 'code',
};

/** An error of the message that carries the code, with its faults under the fields of the code's own input. */
export function withInputFields(error: CodedError): CodedError {
  if (error.faults.length === 0) return error;
  const errors = new FieldErrorList();
  for (const { field, message, code } of error.faults) errors.add(FIELDS[field] ?? field, message, code);
  return errors.toError();
}

/** Stands in for the code: its own faults are those of the request. */
const CODE = '000000';

/** The error of a request for a code with all faults of its input: those of the request, and those of its message. */
export async function withAllFaults(context: Context, error: unknown, input: GivenOtpInput): Promise<unknown> {
  const delivery = {
    to: { phone: input.phone },
    expectedContactId: input.contactId,
    channelId: input.channelId,
    idempotencyKey: input.idempotencyKey,
  };
  const all = await withFaultsOfSend(context, error, delivery, async channelId => {
    const { templateName: name, language } = templateOf(input);
    if (name === '') throw error;
    return (await templateRequest(context, { name, language, body: [CODE], to: NOBODY, channelId }, AS_OTP)).content;
  });
  return all instanceof CodedError ? withFaultsOf(withInputFields(all), () => readSend(input)) : all;
}
