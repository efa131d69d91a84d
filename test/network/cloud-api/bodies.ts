/** Change values as documented or recorded, by field. Numbers and ids are invented. */
const metadata = { display_phone_number: '15550783881', phone_number_id: '106' };
const of = (value: object) => ({ messaging_product: 'whatsapp', metadata, ...value });
const contacts = [{ profile: { name: 'Ana', username: 'ana.s' }, wa_id: '16505551234', user_id: 'US.1' }];
const time = '1790000000';
const from = { from: '16505551234', from_user_id: 'US.1', timestamp: time };

export const VALUES: Readonly<Record<string, readonly object[]>> = {
  messages: [
    of({ contacts, messages: [{ ...from, id: 'wamid.1', type: 'text', text: { body: 'Hi' } }] }),
    of({
      contacts,
      messages: [
        {
          ...from,
          id: 'wamid.2',
          type: 'edit',
          edit: { original_message_id: 'wamid.1', message: { type: 'text', text: { body: 'Ho' } } },
        },
        { ...from, id: 'wamid.3', type: 'revoke', revoke: { original_message_id: 'wamid.1' } },
        { ...from, id: 'wamid.4', type: 'reaction', reaction: { message_id: 'wamid.0' } },
        { ...from, id: 'wamid.5', type: 'request_welcome' },
        { ...from, id: 'wamid.6', type: 'unsupported', errors: [{ code: 131051, title: 'Unknown' }] },
      ],
    }),
    of({
      messages: [
        {
          from: '16505551234',
          id: 'wamid.7',
          timestamp: time,
          type: 'system',
          system: { type: 'user_changed_number', wa_id: '16505559999' },
        },
      ],
    }),
    of({
      contacts,
      statuses: [
        {
          id: 'wamid.8',
          status: 'read',
          timestamp: time,
          recipient_id: '16505551234',
          pricing: { category: 'utility', type: 'regular' },
        },
        { id: 'wamid.8', status: 'captured', type: 'payment', timestamp: time, payment: { reference_id: 'r' } },
      ],
    }),
    of({ user_actions: [{ click_id: 'c', timestamp: time }] }),
    of({ errors: [{ code: 131000, title: 'Something went wrong' }] }),
  ],
  smb_message_echoes: [
    of({
      message_echoes: [
        {
          from: '15550783881',
          to: '16505551234',
          id: 'wamid.9',
          timestamp: time,
          type: 'text',
          text: { body: 'From the app' },
        },
        {
          from: '15550783881',
          to: '16505551234',
          id: 'wamid.10',
          timestamp: time,
          type: 'revoke',
          revoke: { original_message_id: 'wamid.9' },
        },
      ],
    }),
  ],
  history: [
    of({
      history: [
        {
          metadata: { phase: 0, chunk_order: 1, progress: 55 },
          threads: [
            {
              id: '16505551234',
              context: { wa_id: '16505551234', user_id: 'US.1' },
              messages: [
                { from: '16505551234', id: 'wamid.11', timestamp: time, type: 'text', text: { body: 'Old' } },
                {
                  from: '15550783881',
                  to: '16505551234',
                  id: 'wamid.12',
                  timestamp: time,
                  type: 'media_placeholder',
                  history_context: { status: 'READ' },
                },
              ],
            },
          ],
        },
      ],
    }),
    of({ history: [{ errors: [{ code: 2593109, title: 'History sync is turned off' }] }] }),
    of({ messages: [{ from: '16505551234', id: 'wamid.12', timestamp: time, type: 'image', image: { id: '1' } }] }),
  ],
  calls: [
    of({
      contacts,
      calls: [
        {
          id: 'wacid.1',
          event: 'connect',
          direction: 'USER_INITIATED',
          from: '16505551234',
          timestamp: time,
          session: { sdp_type: 'offer', sdp: 'v=0' },
        },
        {
          id: 'wacid.1',
          event: 'terminate',
          direction: 'USER_INITIATED',
          from: '16505551234',
          timestamp: time,
          status: 'Completed',
          duration: 12,
        },
      ],
    }),
    of({
      statuses: [{ id: 'wacid.2', type: 'call', status: 'RINGING', timestamp: time, recipient_id: '16505551234' }],
    }),
  ],
  standby: [
    of({
      standby: {
        contacts,
        messages: [{ ...from, id: 'wamid.13', type: 'text', text: { body: 'To the agent' } }],
        message_echoes: [
          { id: 'wamid.14', timestamp: time, message: { to: '16505551234', type: 'text', text: { body: 'Agent' } } },
        ],
      },
    }),
  ],
  messaging_handovers: [
    {
      sender: { phone_number: '+16505551234' },
      recipient: { phone_number_id: '106' },
      type: 'control_taken',
      timestamp: time,
      control_taken: { previous_owner_role: 'marketing', new_owner_role: 'ai_agent' },
    },
  ],
  group_lifecycle_update: [
    of({
      groups: [{ timestamp: time, group_id: 'G1', type: 'group_create', subject: 'Trip', invite_link: 'https://chat' }],
    }),
  ],
  group_participants_update: [
    of({
      groups: [
        {
          timestamp: time,
          group_id: 'G1',
          type: 'group_add_participants',
          added_participants: [{ wa_id: '16505551234' }],
        },
      ],
    }),
  ],
  group_settings_update: [
    of({
      groups: [
        {
          timestamp: time,
          group_id: 'G1',
          type: 'group_settings_update',
          group_subject: { text: 'Trip 2', update_successful: true },
        },
      ],
    }),
  ],
  user_preferences: [
    of({
      user_preferences: [
        {
          wa_id: '16505551234',
          user_id: 'US.1',
          category: 'marketing_messages',
          value: 'stop',
          timestamp: 1_790_000_000,
        },
      ],
    }),
  ],
  user_id_update: [
    of({ user_id_update: [{ wa_id: '1650', user_id: { previous: 'US.1', current: 'US.2' }, timestamp: time }] }),
  ],
  automatic_events: [of({ automatic_events: [{ id: 'wamid.1', event_name: 'Purchase', timestamp: time }] })],
  smb_app_state_sync: [
    of({ state_sync: [{ type: 'contact', action: 'add', contact: { phone_number: '16505551234' } }] }),
  ],
  phone_number_quality_update: [
    { display_phone_number: '15550783881', event: 'FLAGGED', max_daily_conversations_per_business: 'TIER_2K' },
  ],
  phone_number_name_update: [
    {
      display_phone_number: '15550783881',
      decision: 'REJECTED',
      requested_verified_name: 'X',
      rejection_reason: 'NAME_FORMAT',
    },
  ],
  security: [{ display_phone_number: '15550783881', event: 'PIN_CHANGED', requester: '1' }],
  business_username_updates: [{ display_phone_number: '15550783881', username: 'shop', status: 'approved' }],
  account_review_update: [{ decision: 'APPROVED' }],
  business_capability_update: [{ max_daily_conversations_per_business: 2_000, max_phone_numbers_per_business: 25 }],
  account_settings_update: [
    { timestamp: time, type: 'phone_number_settings', phone_number_settings: { phone_number_id: '106', calling: {} } },
  ],
  account_alerts: [
    {
      entity_type: 'PHONE_NUMBER',
      entity_id: '106',
      alert_info: { alert_severity: 'CRITICAL', alert_type: 'OBA_REJECTED' },
    },
  ],
  account_update: [
    {
      event: 'ACCOUNT_RESTRICTION',
      restriction_info: [{ restriction_type: 'RESTRICTED_BIZ_INITIATED_MESSAGING', expiration: 1_790_000_000 }],
    },
    { event: 'DISABLED_UPDATE', ban_info: { waba_ban_state: 'SCHEDULE_FOR_DISABLE', waba_ban_date: 'April 17, 2025' } },
    { event: 'PARTNER_REMOVED', waba_info: { waba_id: '419', owner_business_id: '7' } },
    { event: 'ACCOUNT_VIOLATION', violation_info: { violation_type: 'SPAM' } },
  ],
  message_template_status_update: [
    {
      event: 'APPROVED',
      message_template_id: 1_234,
      message_template_name: 'x',
      message_template_language: 'en-US',
      reason: 'NONE',
    },
  ],
  partner_solutions: [{ event: 'SOLUTION_CREATED', solution_id: '1', solution_status: 'INITIATED' }],
  payment_configuration_update: [{ configuration_name: 'upi', provider_name: 'x', status: 'Needs Testing' }],
  novelty: [of({ anything: [{ at: 'all' }] })],
};

/** One body with one change. */
export const bodyOf = (field: string, value: unknown, entryId = '419') => ({
  object: 'whatsapp_business_account',
  entry: [{ id: entryId, time: 1_790_000_000, changes: [{ field, value }] }],
});

export const BODIES = Object.entries(VALUES).flatMap(([field, values]) =>
  values.map(value => ({ field, value, body: bodyOf(field, value) })),
);
