import type { NewEvent } from '../core/events.ts';
import { newId } from '../core/ids.ts';
import type { Db } from '../database/database.ts';
import { insertEvents } from './log.sql.ts';

/** Returns the contact and conversation of an event; erasure and timelines find events by these columns. */
function subjectOf(event: NewEvent): { readonly contactId: number | null; readonly conversationId: number | null } {
  const { message, contact, otp, conversation, contact_id } = event.payload as {
    readonly message?: { readonly contact_id: number; readonly interaction_id: number | null };
    readonly contact?: { readonly id: number };
    readonly otp?: { readonly contact_id: number | null };
    readonly conversation?: { readonly id: number; readonly contact_id: number };
    readonly contact_id?: number | null;
  };
  return {
    contactId:
      event.contactId ??
      message?.contact_id ??
      contact?.id ??
      otp?.contact_id ??
      conversation?.contact_id ??
      contact_id ??
      null,
    conversationId: event.conversationId ?? message?.interaction_id ?? conversation?.id ?? null,
  };
}

/** Appends events, in this order, in the transaction of the change they describe. @returns their ids */
export const append = (trx: Db, tenantId: number, events: readonly NewEvent[]): Promise<readonly string[]> =>
  appendForTenants(
    trx,
    events.map(event => ({ tenantId, event })),
  );

/** Like `append`, for events of several tenants. */
export async function appendForTenants(
  trx: Db,
  entries: readonly { readonly tenantId: number; readonly event: NewEvent }[],
): Promise<readonly string[]> {
  const events = entries.map(({ tenantId, event }) => ({
    tenantId,
    id: newId(),
    type: event.type,
    payload: event.payload,
    ...subjectOf(event),
  }));
  if (events.length > 0) await insertEvents(trx, events);
  return events.map(({ id }) => id);
}
