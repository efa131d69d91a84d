import { sql } from 'kysely';
import type { NewEvent } from '../core/events.ts';
import { newId } from '../core/ids.ts';
import type { Db } from '../database/database.ts';

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
  appendAll(
    trx,
    events.map(event => ({ tenantId, event })),
  );

/** Like `append`, for events of several tenants. */
export async function appendAll(
  trx: Db,
  entries: readonly { readonly tenantId: number; readonly event: NewEvent }[],
): Promise<readonly string[]> {
  const ids = entries.map(newId);
  if (ids.length === 0) return ids;
  const tenantIds = entries.map(({ tenantId }) => tenantId);
  const types = entries.map(({ event }) => event.type);
  const payloads = entries.map(({ event }) => JSON.stringify(event.payload));
  const subjects = entries.map(({ event }) => subjectOf(event));
  const contactIds = subjects.map(subject => subject.contactId);
  const conversationIds = subjects.map(subject => subject.conversationId);
  await sql`
    insert into events (tenant_id, id, type, payload, contact_id, conversation_id)
    select tenant_id, id, type, payload, contact_id, conversation_id
    from unnest(${tenantIds}::bigint[], ${ids}::uuid[], ${types}::text[], ${payloads}::jsonb[], ${contactIds}::bigint[], ${conversationIds}::bigint[])
      with ordinality as e (tenant_id, id, type, payload, contact_id, conversation_id, position)
    order by position`.execute(trx);
  return ids;
}
