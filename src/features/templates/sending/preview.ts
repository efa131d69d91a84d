import { CodedError, FieldErrorList, invalid } from '../../../core/errors.ts';
import { inputId } from '../../../core/global-ids.ts';
import { requireFeature } from '../../../core/plan-features.ts';
import { callerOf } from '../../../core/principal.ts';
import type { Context } from '../../../schema/context.ts';
import { contactLoader } from '../../contacts/loaders.ts';
import { compose } from '../../messages/send/content.ts';
import type { Rendered } from './render.ts';
import { preparedContent, previewTemplate, type SendTemplateInput } from './send-template.ts';

export type PreviewedTemplate = Omit<SendTemplateInput, 'to' | 'channelId' | 'contactId' | 'idempotencyKey'>;

/** Values of merge fields without a contact. */
const NOBODY = {
  firstname: '',
  lastname: '',
  email: null,
  phone: null,
  company: null,
  city: null,
  state: null,
  country_id: null,
} as const;

/**
 * Renders a template as a send of it would, with the same refusals, and writes nothing. Without a contact, merge fields have no values,
 * as for a number that is not known yet; one-time codes are shown as in messages.
 * @param contact a global id or databaseId
 * @throws the errors of a send, with fields below `template`; VALIDATION_ERROR on contactId
 */
export async function renderedTemplate(
  context: Context,
  template: PreviewedTemplate,
  contact: string | null | undefined,
): Promise<Rendered> {
  const { tenant } = callerOf(context);
  requireFeature(tenant, 'templates');
  const contactId = contact == null ? undefined : inputId(tenant.id, 'Contact', contact, 'contactId');
  if (contactId !== undefined && !(await contactLoader(context).load(contactId)))
    throw invalid({ contactId: ['There is no contact with this id.'] }, 'REFERENCE_NOT_FOUND');
  try {
    const composed =
      contactId === undefined
        ? compose(await preparedContent(context, template), NOBODY, false)
        : await previewTemplate(context, { ...template, to: { contactId } });
    return composed.content['rendered'] as Rendered;
  } catch (error) {
    throw belowTemplate(error);
  }
}

/** Faults are those of the argument `template`. */
function belowTemplate(error: unknown): unknown {
  if (!(error instanceof CodedError) || error.faults.length === 0) return error;
  const errors = new FieldErrorList();
  for (const { field, message, code } of error.faults) errors.add(`template.${field}`, message, code);
  return errors.toError();
}
