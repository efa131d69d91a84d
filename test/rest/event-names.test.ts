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
    onlyInEvents: of('channel_id content failed_at updated_at author template_row_id echo_id retry_of', CONTRACT),
    onlyInRest: {
      ...of('url', 'Path of the file of `content`.'),
      ...of('is_read', 'Follows from read_at.'),
      ...of('status_reason', 'Why it waits at the time of the request.'),
      ...of('scheduled_at', 'Beside the message in message.scheduled.'),
    },
  },
  template: {
    row: 'Template',
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
  export: {
    row: 'Export',
    onlyInEvents: of('resource contact_id author', 'Of exports of GraphQL.'),
    onlyInRest: of('url', 'Signed for those who read it.'),
  },
  webhook: { row: 'Webhook' },
  otp: {
    row: 'SentOtp',
    onlyInEvents: of('id chat_message_id purpose state attempts created_at verified_at', CONTRACT),
    onlyInRest: of(
      'code_sent message_id sandbox_code status sent_at',
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
  const { row, onlyInEvents = {}, onlyInRest = {} } = difference;
  const inEvents = namesIn(resource);
  const inRest = new Set(Object.keys((schemas[row]?.['properties'] ?? {}) as object));
  expect(inEvents.size).toBeGreaterThan(0);
  expect(inRest.size).toBeGreaterThan(0);
  expect([...inEvents].filter(name => !inRest.has(name)).sort(), 'only in events').toEqual(
    Object.keys(onlyInEvents).sort(),
  );
  expect([...inRest].filter(name => !inEvents.has(name)).sort(), 'only in REST').toEqual(
    Object.keys(onlyInRest).sort(),
  );
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

test("`message_id` is the network's id, as in REST, and `chat_message_id` the gateway's", () => {
  const found = new Map<string, Set<string>>();
  const walk = (value: unknown): void => {
    if (value === null || typeof value !== 'object') return;
    for (const [name, inner] of Object.entries(value)) {
      if (/message_id$/.test(name) && typeof inner === 'string')
        found.set(name, (found.get(name) ?? new Set()).add(/^wamid\./.test(inner) ? 'network' : 'gateway'));
      walk(inner);
    }
  };
  walk(bodies);
  expect(Object.fromEntries([...found].sort())).toEqual({
    chat_message_id: new Set(['gateway']),
    last_message_id: new Set(['gateway']),
    message_id: new Set(['network']),
    reply_chat_message_id: new Set(['gateway']),
  });
});

test('every event of a message has id, name and number of the contact, as REST writes them', () => {
  const contacts = bodies.filter(data => 'message' in data).map(data => data['contact']);
  expect(contacts.length).toBeGreaterThan(8);
  for (const contact of contacts)
    expect(Object.keys(contact ?? {}).sort()).toEqual(['firstname', 'id', 'lastname', 'phone']);
});
