import type { ApiDescription } from '../openapi/description.ts';
import { BIT, LEGACY_TIME } from '../openapi/schema.ts';
import type { Route } from '../runtime/route.ts';
import { labelRoutes } from '../wire/labels.ts';
import { legacyTime } from '../wire/values.ts';
import { botRoutes } from './bots.ts';
import { contactRoutes } from './contacts.ts';
import { failureSchema, successSchema } from './envelope.ts';
import { sendRoutes } from './send.ts';
import { sendTemplateRoutes } from './send-template.ts';
import { templateRoutes } from './templates.ts';

export const ROUTES_V1: readonly Route[] = [
  ...contactRoutes,
  ...labelRoutes('PUT', legacyTime),
  ...sendRoutes,
  ...sendTemplateRoutes,
  ...templateRoutes,
  ...botRoutes,
];

/** The description of version 1 in its OpenAPI document. */
export const API_V1: ApiDescription = {
  title: 'Parley, version 1',
  version: '1',
  prefix: '/api/v1',
  server: {
    url: '/api/v1/{tenant}',
    variables: { tenant: { default: 'demo', description: 'Name of the tenant to which the token belongs.' } },
  },
  deprecated: true,
  rows: 'complete',
  wire: { time: LEGACY_TIME, flag: BIT },
  headers: ['Deprecation', 'Link', 'Sunset'],
  success: successSchema,
  failure: failureSchema,
  // The tenant in the path may be unknown.
  errors: ['BAD_REQUEST'],
  details: {},
  description: `For clients written before version 2; new clients should use version 2. Routes execute the same GraphQL operations as in version 2, with the same rules, scopes, rate limits and idempotency.

- **The tenant** is part of the path. The token must belong to it.
- **Responses** are \`{ status: "success", message, data }\`. Errors are \`{ status: "error", message, errors }\` with messages by field or a text in \`errors\`; 429 is \`{ message, retry_after }\`.
- **Lists** are paginators in \`data\` and accept \`page\`, \`per_page\`, \`sort\`, \`search\` and \`filter[…]\`.
- **Deprecation**: every response has the headers \`Deprecation\`, \`Link\` and, if the date is known, \`Sunset\`.`,
  tags: {
    contacts: 'People with whom the tenant exchanges messages.',
    groups: 'Groups of contacts.',
    messagebots: 'Bots that reply with a message.',
    messages: 'Sending messages.',
    sources: 'Where contacts come from.',
    statuses: 'Stages of contacts in the sales process.',
    templatebots: 'Bots that reply with a template.',
    templates: 'Message templates approved by the network.',
  },
};
