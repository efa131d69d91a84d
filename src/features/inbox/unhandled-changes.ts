import { newId } from '../../core/ids.ts';
import type { Db } from '../../database/database.ts';
import { isKnownField } from '../../network/cloud-api/webhook.ts';
import type { UnhandledReason } from '../../network/updates.ts';
import { VERSION } from '../../platform/version.ts';
import type { Resources } from '../../schema/context.ts';
import { insertChanges } from './changes.sql.ts';

/** A webhook change, or part of one, that was not applied. */
export interface UnhandledChange {
  readonly webhookId: string;
  /** Null if the change concerns several channels. */
  readonly channelId: number | null;
  /** Empty if the body does not have the shape of a webhook. */
  readonly field: string;
  readonly reason: UnhandledReason;
  readonly error: string | null;
  readonly raw: unknown;
  readonly receivedAt: Date;
}

/** Stores changes that could not be applied, for reprocessing. */
export async function storeUnhandled(trx: Db, tenantId: number, unhandled: readonly UnhandledChange[]): Promise<void> {
  if (unhandled.length === 0) return;
  await insertChanges(
    trx,
    tenantId,
    unhandled.map(({ webhookId, channelId, field, reason, error, raw, receivedAt }) => ({
      id: newId(),
      webhook_id: webhookId,
      channel_id: channelId,
      field,
      reason,
      error,
      // Undefined if the body is not JSON.
      raw: raw ?? null,
      version: VERSION,
      received_at: receivedAt.toISOString(),
    })),
  );
}

/** Counts stored changes in the metrics. Unknown fields are one label, because anything may be sent in their place. */
export function countUnhandled(
  { changesUnhandled }: Resources['metrics'],
  changes: readonly { readonly field: string; readonly reason: UnhandledReason | 'unrouted' }[],
): void {
  for (const { field, reason } of changes)
    changesUnhandled.inc({ field: isKnownField(field) ? field : 'other', reason });
}
