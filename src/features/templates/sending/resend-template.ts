import { invalid } from '../../../core/errors.ts';
import { tenantOf } from '../../../core/principal.ts';
import type { Context } from '../../../schema/context.ts';
import type { MessageRow } from '../../messages/message.ts';
import type { Content } from '../../messages/send/content.ts';
import { getTemplates } from '../store.ts';
import { APPROVED } from '../template.ts';
import { CONSENT } from './send-template.ts';

/**
 * What a send must know of the template of a message that is sent again.
 * @throws VALIDATION_ERROR on id: removed, not approved, or a one-time code, which is stored nowhere
 */
export async function resentTemplate(
  context: Context,
  { template_id }: Pick<MessageRow, 'template_id'>,
): Promise<Pick<Content, 'freeForm' | 'templateId' | 'category'>> {
  const [template] = template_id === null ? [] : await getTemplates(context.db.read, tenantOf(context), [template_id]);
  if (!template) throw invalid({ id: ['Its template was removed.'] }, 'REFERENCE_NOT_FOUND');
  if (template.category === 'AUTHENTICATION') throw invalid({ id: ['A one-time code is sent again with resendOtp.'] });
  if (template.status !== APPROVED)
    throw invalid({ id: [`Its template ${template.name} is ${template.status}.`] }, 'NOT_APPROVED');
  return { freeForm: false, templateId: template.id, category: CONSENT[template.category] };
}
