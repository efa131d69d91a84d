import type { EventType } from '../../../src/core/events.ts';
import { newId } from '../../../src/core/ids.ts';
import type { TestGateway, TestTenant } from '../../support/gateway.ts';

/** An event of each type in GraphQL, with the least that it can say. */
const EVENTS: Readonly<Record<string, readonly [EventType, object]>> = {
  BotEvent: [
    'bot.skipped',
    { bot: { id: 1 }, rule: { trigger: 'any', keyword: null }, contact_id: 1, message_id: null },
  ],
  CampaignEvent: ['campaign.started', { campaign: { id: 1 } }],
  ChannelEvent: ['channel.updated', { channel: { id: 1 }, previous: {} }],
  ContactEvent: ['contact.deleted', { contact: { id: 1 } }],
  ContactGroupEvent: ['group.deleted', { group: { id: 1 } }],
  ContactSourceEvent: ['source.deleted', { source: { id: 1 } }],
  ContactStatusEvent: ['status.deleted', { status: { id: 1 } }],
  ConversationEvent: ['conversation.updated', { conversation: { id: 1, contact_id: 1, channel_id: 1 }, previous: {} }],
  DataEvent: ['contact.erased', { contact: { id: 1 } }],
  GroupChatEvent: [
    'group_chat.updated',
    { group_chat: { id: 'x', subject: 'x' }, added_contact_ids: [], removed_contact_ids: [] },
  ],
  MessageEvent: ['message.read', { message: { id: '01890000-0000-7000-8000-000000000001' } }],
  OrderEvent: ['order.received', { order: {}, topic: 'x', integration: { id: 1 }, contact_id: null }],
  OtpEvent: ['otp.expired', { otp: { id: '01890000-0000-7000-8000-000000000001' } }],
  TemplateEvent: ['template.updated', { template: { id: 1 }, previous: {} }],
  WebhookEvent: ['webhook.disabled', { webhook: { id: 1 } }],
};

/** Puts an event of each type into the log of a tenant. @returns their ids by type */
export async function insertEvents({ database }: TestGateway, tenant: TestTenant): Promise<Map<string, string>> {
  const ids = new Map<string, string>();
  for (const [name, [type, payload]] of Object.entries(EVENTS)) {
    const id = newId();
    await database.query('insert into events (tenant_id, id, type, payload) values ($1, $2, $3, $4)', [
      tenant.id,
      id,
      type,
      JSON.stringify(payload),
    ]);
    ids.set(name, id);
  }
  return ids;
}
