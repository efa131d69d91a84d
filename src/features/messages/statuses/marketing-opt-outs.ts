import type { Db } from '../../../database/database.ts';
import type { NewConsentEntry } from '../../contacts/consent/consent.ts';
import { recordConsent } from '../../contacts/consent/record.ts';

/** "User has stopped marketing messages": the network's list of people who did so in the app (Meta, error codes). */
const STOPPED_MARKETING = 131050;

/** Whether the network refused a message because its recipient wants no marketing. */
export const isMarketingStopped = (error: { readonly code: number } | null | undefined): boolean =>
  error?.code === STOPPED_MARKETING;

/** A status of a message that we sent. */
interface ReportedStatus {
  readonly messageId?: string | undefined;
  /** Undefined: now, by the clock of the database. */
  readonly at?: string | undefined;
  readonly error?: { readonly code: number } | null | undefined;
}

/**
 * Opts out of marketing the recipients of messages that the network refused for this reason. Call it before `applyStatuses`, because
 * contacts are locked before messages.
 */
export async function recordMarketingOptOuts(
  trx: Db,
  tenantId: number,
  statuses: readonly ReportedStatus[],
): Promise<void> {
  const refused = statuses.filter(status => isMarketingStopped(status.error));
  const ids = refused.flatMap(({ messageId }) => messageId ?? []);
  if (ids.length === 0) return;
  const rows = await trx
    .selectFrom('messages')
    .select(eb => ['id', 'contact_id', eb.fn<string>('clock_timestamp').as('now')])
    .where('tenant_id', '=', tenantId)
    .where('id', '=', eb => eb.fn.any(eb.val(ids)))
    .execute();
  const messageOf = new Map(rows.map(row => [row.id, row]));
  await recordConsent(
    trx,
    tenantId,
    refused.flatMap(({ messageId = '', at }): NewConsentEntry[] => {
      const message = messageOf.get(messageId);
      if (!message) return [];
      const { contact_id: contactId, now } = message;
      const evidence = `message ${messageId}: refused with ${STOPPED_MARKETING}`;
      return [
        { contactId, category: 'marketing', state: 'opted_out', source: 'network', evidence, occurredAt: at ?? now },
      ];
    }),
  );
}
