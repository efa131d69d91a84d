import { expect, test } from 'vitest';
import { EVENT_TYPES, type EventPayloads, type EventType } from '../../../src/events.ts';
import { FORMATS } from '../../../src/features/webhooks/endpoint.ts';
import { type DeliveredEvent, renderBody } from '../../../src/features/webhooks/formats.ts';
import type { JsonObject } from '../../../src/platform/json.ts';

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

/** A payload of every type there is: a new one does not compile until it stands here, and fails until it stands in the files. */
const PAYLOADS: { readonly [T in EventType]: EventPayloads[T] } = {
  'contact.created': { contact },
  'contact.updated': { contact, previous: { city: null, status_id: 1 } },
  'contact.deleted': { contact },
  'contact.opted_out': { contact },
  'contact.opted_in': { contact },
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
  'message.received': { message },
  'channel.updated': { channel },
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

test('a body is the same to the byte each time it is made', () => {
  for (const format of FORMATS)
    for (const type of EVENT_TYPES)
      expect(renderBody(format, structuredClone(eventOf(type)))).toBe(renderBody(format, eventOf(type)));
});
