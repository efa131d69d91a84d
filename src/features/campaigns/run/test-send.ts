import { invalid } from '../../../core/errors.ts';
import { requireFeature } from '../../../core/plan-features.ts';
import { callerOf } from '../../../core/principal.ts';
import type { Context } from '../../../schema/context.ts';
import { PHONE_ERROR, phoneOf } from '../../contacts/contact.ts';
import type { MessageRow } from '../../messages/message.ts';
import { send } from '../../messages/send/send.ts';
import { requireCampaign } from '../change.ts';
import { firstValues } from '../lists/rows.sql.ts';
import { campaignContent, contentFor } from './content.ts';

export interface TestInput {
  readonly phone: string;
  readonly idempotencyKey?: string | null | undefined;
}

/**
 * Sends the message of a campaign to one number, filled as for its contact, and with the first row of the list. It is not part of the
 * campaign and its figures.
 * @throws NOT_FOUND, VALIDATION_ERROR, and the errors of a send
 */
export async function testCampaign(context: Context, id: number, input: TestInput): Promise<MessageRow> {
  const { tenant } = callerOf(context);
  requireFeature(tenant, 'templates');
  const campaign = await requireCampaign(context, id);
  const phone = phoneOf(input.phone);
  if (!phone) throw invalid({ phone: [PHONE_ERROR] });
  const content = await campaignContent(context, campaign);
  const values =
    'listId' in campaign.audience ? await firstValues(context.db.read, tenant.id, campaign.audience.listId) : null;
  const { idempotencyKey } = input;
  const to = { phoneKey: phone.key, phone: phone.e164 };
  const channelId = campaign.channel_id;
  return send(
    context,
    'testCampaign',
    { to, channelId, idempotencyKey, removesEmptyFields: true },
    contentFor(content, values),
  );
}
