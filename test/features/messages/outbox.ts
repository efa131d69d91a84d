import type { TestGateway } from '../../support/gateway.ts';
import { newPhone } from '../../support/seed.ts';

/** Contacts with messages that wait in the outbox, written by statements: no worker sends them, and their ids can be chosen. */
export interface Outbox {
  readonly channelId: number;
  /** @returns the first column of the first row, as a number */
  number(text: string, ...values: unknown[]): Promise<number>;
  /** Adds a contact with a conversation on the channel. @returns its databaseId */
  addContact(): Promise<number>;
  /** Accepts a message as a send does: the contact's lock, the message, its place in the outbox. @returns its id */
  accept(contactId: number, id: string): Promise<string>;
}

/** Messages of the gateway's first tenant, on its only channel. */
export async function outboxOf({ database, tenant }: TestGateway): Promise<Outbox> {
  async function number(text: string, ...values: unknown[]): Promise<number> {
    const [row] = await database.query<Record<string, unknown>>(text, values);
    return Number(Object.values(row ?? {})[0]);
  }
  const channelId = await number('select id from channels where tenant_id = $1', tenant.id);
  return {
    channelId,
    number,
    addContact: () =>
      number(
        `with c as (insert into contacts (tenant_id, phone, phone_key) values ($1, $3, $3) returning tenant_id, id
         ), counted as (update tenant_usage set contacts = contacts + 1 where tenant_id = $1)
         insert into conversations (tenant_id, contact_id, channel_id) select tenant_id, id, $2 from c returning contact_id`,
        tenant.id,
        channelId,
        newPhone(),
      ),
    async accept(contactId, id) {
      await database.query(
        `with p as materialized (select id from contacts where tenant_id = $1 and id = $2 for no key update
         ), m as (
           insert into messages (tenant_id, id, conversation_id, contact_id, channel_id, direction, type, body, created_at)
           select $1, $3, v.id, p.id, v.channel_id, 'outbound', 'text', 'Hi', now() from p join conversations v on v.tenant_id = $1 and v.contact_id = p.id
           returning *
         ), s as (insert into message_states (tenant_id, message_id, updated_at) select tenant_id, id, created_at from m
         ), u as (insert into message_updates (tenant_id, message_id, updated_at, status) select tenant_id, id, created_at, 'queued' from m
         ), o as materialized (select enqueue_messages(tenant_id, array[channel_id], array[contact_id], array[id], array[2::smallint], array[null::bytea]) from m)
         select from m, o`,
        [tenant.id, contactId, id],
      );
      return id;
    },
  };
}
