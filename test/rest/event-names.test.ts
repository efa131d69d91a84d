import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { openApi } from './contract.ts';

/**
 * The rows of REST and the objects of webhook bodies have the same field names, apart from what stands here. The bodies are those of
 * every event, which a test of the formats writes.
 */
type Body = Readonly<Record<string, unknown>>;

const golden = JSON.parse(readFileSync('test/features/webhooks/delivery/golden/standard.golden', 'utf8')) as Readonly<
  Record<string, { readonly data: Readonly<Record<string, Body | null>> }>
>;
const bodies = Object.entries(golden)
  // Never posted: each delivery would cause another one.
  .filter(([type]) => type !== 'webhook.delivery_attempted')
  .map(([, { data }]) => data);
const { schemas } = openApi().components;

/** The names that an object has in any event in which it is complete. */
const namesIn = (resource: string): Set<string> =>
  new Set(bodies.map(data => Object.keys(data[resource] ?? {})).reduce((a, b) => (b.length > a.length ? b : a), []));

interface Difference {
  /** Schema of the REST row. */
  readonly row: string;
  /** Names of webhook bodies with those of REST. */
  readonly renamed?: Readonly<Record<string, string>>;
  readonly onlyInEvents?: Readonly<Record<string, string>>;
  readonly onlyInRest?: Readonly<Record<string, string>>;
}

const NOT_STORED = 'Computed or read from other tables by the request; an event holds what was stored with the change.';
const CONTRACT = 'The row is fixed by the contract of version 2, and has fewer fields.';

const of = (names: string, reason: string): Record<string, string> =>
  Object.fromEntries(names.split(' ').map(name => [name, reason]));

const DIFFERENCES: Readonly<Record<string, Difference>> = {
  contact: {
    row: 'Contact',
    onlyInEvents: of('opted_out_at', 'The time; REST has the flag.'),
    onlyInRest: {
      ...of('is_opted_out', 'Follows from opted_out_at.'),
      ...of('group_id groups source status service_window', NOT_STORED),
    },
  },
  group: { row: 'Group', onlyInRest: of('contacts_count', NOT_STORED) },
  source: { row: 'Source' },
  status: { row: 'Status' },
  message: {
    row: 'Message',
    // `message_id` is the gateway's id in other bodies (bot.replied, otp), the network's id in the contract of REST.
    renamed: {
      body: 'message',
      wamid: 'message_id',
      reply_to_wamid: 'ref_message_id',
      conversation_id: 'interaction_id',
      error: 'status_message',
    },
    onlyInEvents: of('channel_id content failed_at updated_at author template_id echo_id retry_of', CONTRACT),
    onlyInRest: { ...of('url', 'Path of the file of `content`.'), ...of('is_read', 'Follows from read_at.') },
  },
  template: {
    row: 'Template',
    renamed: { network_id: 'template_id' },
    onlyInEvents: of('waba_id status_reason parameter_format quality', CONTRACT),
    onlyInRest: {
      ...of('template_name', 'A second name of `name`.'),
      ...of(
        'header_data_format header_data_text header_params_count body_data body_params_count footer_data buttons_data code_expiration_minutes',
        'Follows from components.',
      ),
    },
  },
  bot: { row: 'Bot' },
  webhook: {
    row: 'Webhook',
    renamed: { header_names: 'headers' },
  },
  otp: {
    row: 'SentOtp',
    onlyInEvents: of('id purpose state attempts created_at verified_at', CONTRACT),
    onlyInRest: of(
      'code_sent sandbox_code status sent_at',
      'Of the message that the request sent; `sandbox_code` is secret but for tests.',
    ),
  },
  campaign: {
    row: 'Campaign',
    onlyInEvents: of('channel_id template total pending skipped', 'Parts of `content` and `progress` as of the event.'),
    onlyInRest: {
      ...of(
        'content messages_per_second sending_hours frequency_cap first_wave first_wave_seconds max_failure_percent',
        'Settings.',
      ),
      ...of('progress', NOT_STORED),
    },
  },
};

test.each(Object.entries(DIFFERENCES))('%s has the names of its row', (resource, difference) => {
  const { row, renamed = {}, onlyInEvents = {}, onlyInRest = {} } = difference;
  const inEvents = namesIn(resource);
  const inRest = new Set(Object.keys((schemas[row]?.['properties'] ?? {}) as object));
  expect(inEvents.size).toBeGreaterThan(0);
  expect(inRest.size).toBeGreaterThan(0);
  const named = new Set([...inEvents].map(name => renamed[name] ?? name));
  expect([...named].filter(name => !inRest.has(name)).sort(), 'only in events').toEqual(
    Object.keys(onlyInEvents).sort(),
  );
  expect([...inRest].filter(name => !named.has(name)).sort(), 'only in REST').toEqual(Object.keys(onlyInRest).sort());
  // A name that means two things would be worse than two names.
  for (const name of Object.keys(renamed)) expect([inEvents.has(name), inRest.has(name)]).toEqual([true, false]);
});

test('every object of a webhook body is compared, or REST has no row of it', () => {
  const objects = new Set(
    bodies.flatMap(data =>
      Object.entries(data).flatMap(([name, value]) =>
        value !== null && typeof value === 'object' && 'id' in value ? [name] : [],
      ),
    ),
  );
  expect([...objects].filter(name => !(name in DIFFERENCES)).sort()).toEqual([
    'channel',
    'consent',
    'conversation',
    'group_chat',
    'integration',
    'order',
    'receipt',
  ]);
});

test('every event of a message has id, name and number of the contact, as REST writes them', () => {
  const contacts = bodies.filter(data => 'message' in data).map(data => data['contact']);
  expect(contacts.length).toBeGreaterThan(8);
  for (const contact of contacts)
    expect(Object.keys(contact ?? {}).sort()).toEqual(['firstname', 'id', 'lastname', 'phone']);
});
