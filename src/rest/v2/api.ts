import type { ApiDescription } from '../openapi/document.ts';
import { TIME } from '../openapi/shape.ts';
import { failure, success } from './envelope-schema.ts';

/** What version 2 says about itself. */
export const API_V2: ApiDescription = {
  title: 'Parley',
  version: '2',
  prefix: '/api/v2',
  rows: 'chosen',
  wire: { time: TIME, flag: { type: 'boolean' } },
  headers: [],
  success,
  failure,
  errors: [],
  details: {
    INSUFFICIENT_SCOPE: '`required` and `granted`',
    FEATURE_LIMIT_EXCEEDED: '`feature`, `current` and `maximum`',
    VALIDATION_ERROR: 'the messages by field',
    INVALID_CODE: '`attempts_remaining`',
    RATE_LIMIT_EXCEEDED: '`retry_after`',
    MESSAGE_SEND_FAILED: '`provider` with its code, title and details',
  },
  description: `A messaging gateway for WhatsApp. Every route executes a GraphQL operation in process: its rules, scopes and errors are those of GraphQL.

- **Answers** carry an envelope: \`success\`, \`data\`, \`message\`, \`meta\`. Refusals have \`error { code, message, details }\`, or are RFC 9457 for those who send \`Accept: application/problem+json\`.
- **Lists** take \`page\`, \`per_page\`, \`sort\`, \`search\`, \`fields\`, \`include\` and \`filter[…]\`. An unknown name is refused, not ignored.
- **Input** is read generously: lists as arrays or with commas, numbers quoted or bare.
- **HEAD** is possible wherever GET is, **OPTIONS** everywhere; other methods are 405 with \`Allow\`.`,
  tags: {
    account: 'The tenant, what it has used, and what its plan allows.',
    auth: 'One-time passwords.',
    bots: 'Bots that answer.',
    contacts: 'The people whom the business messages.',
    groups: 'Groups of contacts.',
    messages: 'Sending, and what was sent and received.',
    sources: 'Where contacts come from.',
    statuses: 'How far contacts have come.',
    templates: 'Templates that the network has approved, or not.',
    webhooks: 'Where events are delivered.',
  },
};
