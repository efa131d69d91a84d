import type { ApiDescription } from '../openapi/description.ts';
import { TIME } from '../openapi/schema.ts';
import type { Route } from '../runtime/route.ts';
import { labelRoutes } from '../wire/labels.ts';
import { time } from '../wire/values.ts';
import { accountRoutes } from './account.ts';
import { botRoutes } from './bots.ts';
import { campaignRoutes } from './campaigns.ts';
import { contactRoutes } from './contacts.ts';
import { contactBatchRoutes } from './contacts-batch.ts';
import { failureSchema, successSchema } from './envelope.ts';
import { exportRoutes } from './exports.ts';
import { groupMemberRoutes } from './group-members.ts';
import { messageRoutes } from './messages.ts';
import { otpRoutes } from './otp.ts';
import { scheduledRoutes } from './scheduled.ts';
import { sendRoutes } from './send.ts';
import { sendBatchRoutes } from './send-batch.ts';
import { templateRoutes } from './templates.ts';
import { webhookRoutes } from './webhooks.ts';

export const ROUTES_V2: readonly Route[] = [
  ...accountRoutes,
  ...botRoutes,
  ...campaignRoutes,
  ...exportRoutes,
  ...contactBatchRoutes,
  ...contactRoutes,
  ...labelRoutes('PATCH', time),
  ...groupMemberRoutes,
  ...templateRoutes,
  ...sendRoutes,
  ...sendBatchRoutes,
  ...scheduledRoutes,
  ...messageRoutes,
  ...otpRoutes,
  ...webhookRoutes,
];

/** The description of version 2 in its OpenAPI document. */
export const API_V2: ApiDescription = {
  title: 'Parley',
  version: '2',
  prefix: '/api/v2',
  rows: 'sparse',
  wire: { time: TIME, flag: { type: 'boolean' } },
  headers: [],
  success: successSchema,
  failure: failureSchema,
  errors: [],
  details: {
    INSUFFICIENT_SCOPE: '`required` and `granted`',
    FEATURE_LIMIT_EXCEEDED: '`feature`, `current` and `maximum`',
    CONTACT_OPTED_OUT:
      '`opted_out_at` (of a person who was erased since: the time of the erasure), `category` and the `consent_entry_id` that decides; of a message that was stopped after its acceptance `chat_message_id`',
    VALIDATION_ERROR: 'the messages by field',
    INVALID_CODE: '`attempts_remaining`',
    RATE_LIMIT_EXCEEDED: '`retry_after`',
    MESSAGE_SEND_FAILED: '`provider` with its code, title and details',
  },
  description: `A messaging gateway for WhatsApp. Every route executes a GraphQL operation in process, with the same rules, scopes and errors.

- **Responses** are an envelope: \`success\`, \`data\`, \`message\`, \`meta\`. Errors have \`error { code, message, details }\`, or are RFC 9457 with \`Accept: application/problem+json\`.
- **Lists** accept \`page\`, \`per_page\`, \`sort\`, \`search\`, \`fields\`, \`include\` and \`filter[…]\`. Unknown names are errors.
- **Input** is accepted in several forms: lists as arrays or separated by commas, numbers quoted or bare.
- **HEAD** is supported by every GET route, **OPTIONS** by every route; other methods return 405 with \`Allow\`.`,
  tags: {
    account: 'The tenant, its plan, usage and limits.',
    auth: 'Sending and verifying one-time passwords.',
    bots: 'Bots that reply to messages.',
    campaigns: 'One template to many contacts.',
    exports: 'Files with the recipients of campaigns.',
    contacts: 'People with whom the tenant exchanges messages.',
    groups: 'Groups of contacts.',
    messages: 'Sending messages, and their history.',
    sources: 'Where contacts come from.',
    statuses: 'Stages of contacts in the sales process.',
    templates: 'Message templates approved by the network.',
    webhooks: 'Endpoints to which events are delivered.',
  },
};
