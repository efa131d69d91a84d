import { expect, test } from 'vitest';
import { EVENT_TYPES, type EventPayloads, type EventType } from '../../../../src/core/events.ts';
import { type DeliveredEvent, renderBody } from '../../../../src/features/webhooks/delivery/formats.ts';
import { FORMATS } from '../../../../src/features/webhooks/endpoints/endpoint.ts';
import type { JsonObject } from '../../../../src/platform/json.ts';

const dates = { created_at: '2026-01-01T08:00:00.000Z', updated_at: '2026-01-31T07:58:39.120Z' } as const;
const contact = {
  id: 1207,
  firstname: 'Ana',
  lastname: 'Silva',
  company: null,
  type: 'lead',
  email: null,
  phone: '+14155550123',
  description: null,
  address: null,
  city: 'Porto',
  state: null,
  zip: null,
  country_id: 620,
  source_id: 3,
  status_id: 4,
  assigned_id: null,
  opted_out_at: null,
  ...dates,
} as const;
const label = { id: 7, name: 'VIP', ...dates } as const;
const status = { ...label, color: '#757575' } as const;
const message = {
  id: '019b76da-a800-7000-8000-0000000000aa',
  conversation_id: 12,
  contact_id: 1207,
  channel_id: 2,
  direction: 'outbound',
  type: 'text',
  body: 'Olá „Ana“ 👋 </script>',
  content: {},
  status: 'delivered',
  error: null,
  wamid: 'wamid.X',
  reply_to_wamid: null,
  sent_at: '2026-01-31T07:58:38.000Z',
  delivered_at: '2026-01-31T07:58:39.000Z',
  read_at: null,
  failed_at: null,
  ...dates,
} as const;
const channel = {
  id: 2,
  name: 'Main',
  phone_number_id: '1001',
  waba_id: '2001',
  portfolio_id: '4000000000000001',
  display_phone_number: '+1 555',
  verified_name: 'Shop',
  messages_per_second: 80,
  is_default: true,
  is_sandbox: false,
  status: 'paused',
  status_reason: 'the token expired',
  ...dates,
} as const;
const template = {
  id: 9,
  waba_id: '2001',
  network_id: '3001',
  name: 'order_shipped',
  language: 'en',
  category: 'UTILITY',
  status: 'APPROVED',
  status_reason: null,
  parameter_format: 'POSITIONAL',
  quality: null,
  components: [{ type: 'BODY', text: 'Hi {{1}}' }],
  ...dates,
} as const;
const otp = {
  id: '019b76da-a800-7000-8000-0000000000bb',
  phone: '+14155550123',
  contact_id: 1207,
  message_id: message.id,
  purpose: 'authentication',
  template_name: 'login_code',
  language: 'en',
  state: 'live',
  attempts: 1,
  expiry_minutes: 10,
  expires_at: '2026-01-31T08:08:39.000Z',
  created_at: dates.created_at,
  verified_at: null,
} as const;
const bot = {
  id: 6,
  name: 'Prices',
  kind: 'message',
  trigger: 'contains',
  keywords: ['price'],
  pattern: null,
  is_enabled: true,
  priority: 0,
  others_may_answer: false,
  cooldown_seconds: 0,
  hand_over_minutes: 0,
  reply: { text: { text: 'From 10 €' } },
  replies_count: 3,
  last_replied_at: null,
  last_refusal: null,
  ...dates,
} as const;
const webhook = {
  id: 5,
  url: 'https://example.com/hook',
  events: ['message.*'],
  format: 'standard',
  description: null,
  header_names: [],
  enabled: false,
  disabled_reason: 'gone',
  disabled_at: '2026-01-31T07:58:39.000Z',
  failing_since: '2026-01-31T07:58:39.000Z',
  previous_secret_until: null,
  ...dates,
} as const;
const delivery = {
  id: '019b76da-a800-7000-8000-0000000000cc',
  endpoint_id: 5,
  event_id: message.id,
  event_type: 'message.sent',
  is_test: false,
  status: 'pending',
  attempts: 1,
  next_attempt_at: '2026-01-31T07:58:44.000Z',
  error: null,
  created_at: dates.created_at,
  settled_at: null,
} as const;
const attempt = {
  number: 1,
  at: '2026-01-31T07:58:39.000Z',
  status: 503,
  duration_ms: 12,
  response: 'later',
  error: 'HTTP 503',
} as const;

const health = {
  channel_id: channel.id,
  quality: 'RED',
  messaging_limit: 2_000,
  is_messaging_limit_known: true,
  throughput: 'HIGH',
  name_status: 'APPROVED',
  name_reason: null,
  requested_name: 'Parley',
  account_review: 'APPROVED',
  account_status: 'ACTIVE',
  username: null,
  username_status: null,
  restrictions: [],
  last_error: null,
  last_change: {
    field: 'phone_number_quality_update',
    event: 'FLAGGED',
    occurred_at: dates.created_at,
    details: { event: 'FLAGGED' },
  },
  updated_at: dates.created_at,
} as const;

/** A payload of every type there is: a new one does not compile until it stands here, and fails until it stands in the files. */
const PAYLOADS: { readonly [T in EventType]: EventPayloads[T] } = {
  'contact.created': { contact },
  'contact.updated': { contact, previous: { city: null, status_id: 1 } },
  'contact.deleted': { contact },
  'contact.erased': {
    contact,
    receipt: {
      id: '019b76da-a800-7000-8000-0000000000dd',
      contact_id: contact.id,
      subject_digest: '00ff',
      reason: 'subject_request',
      author: { kind: 'token', id: 3, name: 'Back office' },
      requested_at: dates.updated_at,
      completed_at: dates.updated_at,
      erased: [{ kind: 'message', count: 12, reason: null }],
      retained: [{ kind: 'usage', count: 1, reason: 'Counters and costs, which name nobody.' }],
      signature: 'ff00',
    },
  },
  'contact.opted_out': { contact },
  'contact.opted_in': { contact },
  'contact.merged': { contact, former_id: 1188 },
  'contact.identity_changed': { contact, reasons: ['number_changed'] },
  'consent.changed': {
    contact,
    consent: {
      id: 12,
      category: 'marketing',
      state: 'opted_out',
      source: 'network',
      evidence: 'User requested to stop marketing messages',
      occurred_at: '2026-01-31T07:58:39.000Z',
    },
    opted_out: ['marketing'],
  },
  'group.created': { group: label },
  'group.updated': { group: label, previous: { name: 'Very important' } },
  'group.deleted': { group: label },
  'source.created': { source: label },
  'source.updated': { source: label, previous: { name: 'Web' } },
  'source.deleted': { source: label },
  'status.created': { status },
  'status.updated': { status, previous: { color: '#000000' } },
  'status.deleted': { status },
  'message.queued': { message },
  'message.sent': { message },
  'message.delivered': { message },
  'message.read': { message },
  'message.failed': { message },
  'message.cancelled': { message },
  'message.received': { message, details: { forwarding: 'forwarded' } },
  'message.edited': { message, previous: { body: 'Before', content: {} }, edited_at: dates.created_at },
  'message.revoked': { message, revoked_at: dates.created_at },
  'message.reaction': {
    message,
    reaction: { contact_id: 1207, direction: 'inbound', emoji: '👍', occurred_at: dates.created_at },
  },
  'channel.updated': { channel },
  'channel.health_changed': { channel, health, previous: { quality: null } },
  'conversation.updated': {
    conversation: {
      id: 71,
      contact_id: 1207,
      channel_id: 3,
      is_ours: false,
      owner_role: 'partner',
      previous_role: null,
      owned_since: dates.created_at,
    },
  },
  'group_chat.updated': {
    group_chat: {
      ...dates,
      id: 12,
      channel_id: 3,
      network_id: 'Y2FwaV9ncm91cDox',
      subject: 'Tour on Friday',
      description: null,
      status: 'active',
      join_approval_mode: 'auto_approve',
    },
    added_contact_ids: [1207],
    removed_contact_ids: [],
  },
  'template.created': { template },
  'template.updated': { template, previous: { quality: 'GREEN' } },
  'template.status_changed': { template, previous: { status: 'PENDING' } },
  'otp.sent': { otp },
  'otp.verified': { otp },
  'otp.failed': { otp, reason: 'INVALID_CODE' },
  'otp.expired': { otp },
  'order.received': {
    order: { id: '4711', number: '4711', status: 'processing', total: '42.00', currency: 'EUR' },
    integration: { id: 3, name: 'Shop', kind: 'woocommerce' },
    topic: 'order.created',
    contact_id: 1207,
  },
  'bot.replied': {
    bot,
    rule: { trigger: 'contains', keyword: 'price' },
    contact_id: 1207,
    message_id: message.id,
    reply_message_id: '019b76da-a800-7000-8000-0000000000dd',
  },
  'bot.skipped': {
    bot,
    rule: { trigger: 'contains', keyword: 'price' },
    contact_id: 1207,
    message_id: message.id,
    reason: 'TOO_OLD',
    details: 'The message was read more than 5 minutes after it was sent.',
  },
  'webhook.delivery_attempted': { delivery, attempt },
  'webhook.disabled': { webhook, reason: 'gone' },
  'webhook.test': { webhook },
};

const eventOf = (type: EventType): DeliveredEvent => ({
  id: '019b76da-a800-7123-9abc-0123456789ab',
  type,
  occurredAt: '2026-01-31T07:58:39.120Z',
  payload: PAYLOADS[type] as unknown as JsonObject,
  tenant: { id: 42, name: 'Silva Flowers', slug: 'silva' },
  isSandbox: type === 'message.received',
});

test.each(FORMATS)(
  'every type of event has a body in the format %s, as the file of the format has it',
  async format => {
    const bodies = Object.fromEntries(EVENT_TYPES.map(type => [type, JSON.parse(renderBody(format, eventOf(type)))]));
    await expect(`${JSON.stringify(bodies, null, 2)}\n`).toMatchFileSnapshot(`golden/${format}.golden`);
  },
);

test('a body is identical to the byte at every attempt', () => {
  for (const format of FORMATS)
    for (const type of EVENT_TYPES)
      expect(renderBody(format, structuredClone(eventOf(type)))).toBe(renderBody(format, eventOf(type)));
});
