import { requireId } from '../../../core/global-ids.ts';
import type { Filter } from '../../../core/list-args.ts';
import type { Db } from '../../../database/database.ts';
import { examineRecipients } from './export-page.sql.ts';
import { recipientsWhere } from './list.ts';
import { titleOf } from './progress.ts';
import { reasonOf, stateOf } from './recipient.ts';

/** Which recipients are exported, as callers name them. */
export interface RecipientsRequest {
  /** Global id or databaseId of the campaign. */
  readonly campaignId: string;
  readonly filter?: Filter | null | undefined;
}

/** The same, as it is stored with the export. */
export interface ExportedRecipients {
  readonly campaignId: number;
  readonly filter: Filter;
}

/** The field of `createExport` that names the campaign. */
export const CAMPAIGN_FIELD = 'resource.campaignRecipients.campaignId';

/** @throws NOT_FOUND for text that is no id; VALIDATION_ERROR for the filter, as the list */
export function parseRecipients(tenantId: number, { campaignId, filter }: RecipientsRequest): ExportedRecipients {
  recipientsWhere(tenantId, filter ?? {});
  return { campaignId: requireId(tenantId, 'Campaign', campaignId, CAMPAIGN_FIELD), filter: filter ?? {} };
}

const COLUMNS = [
  'contact_id',
  'firstname',
  'lastname',
  'phone',
  'state',
  'skip_reason',
  'chat_message_id',
  'error_code',
  'error_title',
  'due_at',
  'replied_at',
  'opted_out',
] as const;

/**
 * The recipients of a campaign that meet a filter, among the next `limit` after a contact. Of those who were deleted, the name and number
 * are null.
 * @returns `last`: the last contact that was examined; null at the end
 */
export async function recipientsPage(
  db: Db,
  tenantId: number,
  { campaignId, filter }: ExportedRecipients,
  after: string | null,
  limit: number,
) {
  const { rows, last } = await examineRecipients(db, tenantId, campaignId, filter, after, limit);
  return {
    columns: COLUMNS,
    rows: rows.map(({ state, reason, opted_out: optedOut, message_id, ...row }) => ({
      ...row,
      // As in REST, where `message_id` is the network's id.
      chat_message_id: message_id,
      state: stateOf(state),
      skip_reason: reasonOf(reason),
      error_title: row.error_code === null ? null : titleOf(row.error_code),
      opted_out: optedOut ?? false,
    })),
    contactIds: rows.map(({ contact_id: contactId }) => contactId),
    last,
  };
}
