import type { Db } from '../../database/database.ts';
import { anyOf } from '../../database/expressions.ts';
import { eventMessage, type MessageContact, type MessagePayload, type MessageRow } from './message.ts';

/** The payload of an event about a message whose contact was read with it. */
export const messagePayload = (row: MessageRow): MessagePayload => ({
  message: eventMessage(row),
  contact: row.contact ?? null,
});

/** The payloads of events about messages of a tenant, by the message's id: with their contacts, read by one statement. */
export async function payloadsOf(
  trx: Db,
  tenantId: number,
  rows: readonly MessageRow[],
): Promise<(row: MessageRow) => MessagePayload> {
  const ids = [...new Set(rows.map(row => row.contact_id))];
  const people: MessageContact[] =
    ids.length === 0
      ? []
      : await trx
          .selectFrom('contacts')
          .select(['id', 'firstname', 'lastname', 'phone'])
          .where('tenant_id', '=', tenantId)
          .where('id', '=', anyOf(ids))
          .execute();
  const byId = new Map(people.map(person => [person.id, person]));
  return row => messagePayload({ ...row, contact: byId.get(row.contact_id) ?? null });
}
