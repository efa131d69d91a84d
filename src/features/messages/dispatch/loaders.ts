import { loader, rowLoaderBy } from '../../../schema/loaders.ts';
import { findHoldFacts } from './hold-reason.sql.ts';
import { holdReason } from './hold-reason.ts';
import { readBacklogs } from './outbox.sql.ts';

/** Backlogs of channels; undefined for an empty queue. */
export const backlogLoader = rowLoaderBy('channel_id', readBacklogs);

/** Why queued messages are not sent yet; null where nothing holds them. */
export const holdReasonLoader = loader<string, string | null>(async (db, tenantId, messageIds) => {
  const reasons = new Map(
    (await findHoldFacts(db, tenantId, messageIds)).map(held => [held.message_id, holdReason(held)]),
  );
  return messageIds.map(id => reasons.get(id) ?? null);
});
