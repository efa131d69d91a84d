import { CodedError, type FieldErrorList } from '../../../core/errors.ts';
import type { Context } from '../../../schema/context.ts';
import type { Content } from '../../messages/send/content.ts';
import { preparedContent } from '../../templates/sending/send-template.ts';
import type { CampaignRow } from '../campaign.ts';
import { columnValues, withoutMergeFaults } from '../column-fields.ts';

/** Content of a campaign before merge fields are filled. @throws VALIDATION_ERROR if the template cannot be sent */
export const campaignContent = (
  context: Context,
  { template, channel_id: channelId }: Pick<CampaignRow, 'template' | 'channel_id'>,
): Promise<Content> =>
  preparedContent(context, { ...template, channelId }).catch(error => {
    throw withoutMergeFaults(error);
  });

/** The content for one recipient. @param values of its row in the list */
export const contentFor = (content: Content, values: Readonly<Record<string, string>> | null): Content => ({
  ...content,
  mergeValues: columnValues(values),
});

/** Adds the faults of the template, below `template`. */
export async function checkContent(
  context: Context,
  campaign: Pick<CampaignRow, 'template' | 'channel_id'>,
  errors: FieldErrorList,
): Promise<void> {
  try {
    await campaignContent(context, campaign);
  } catch (error) {
    if (!(error instanceof CodedError) || error.faults.length === 0) throw error;
    for (const { field, message, code } of error.faults) errors.add(`template.${field}`, message, code);
  }
}
