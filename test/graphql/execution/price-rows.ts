import type { TestGateway, TestTenant } from '../../support/gateway.ts';

/** Gives a message of a tenant a price. @returns the id of its cost entry */
export async function insertPrice(gateway: TestGateway, { id }: TestTenant, messageId: string): Promise<string> {
  await gateway.database.query(
    `insert into message_pricing (tenant_id, message_id, category, type, is_billable, channel_id, occurred_at, updated_at)
     select m.tenant_id, m.id, 'service', 'regular', true, m.channel_id, m.created_at, now() from messages m
     where m.tenant_id = $1 and m.id = $2`,
    [id, messageId],
  );
  return messageId;
}
