import type { ApiDescription } from '../openapi/document.ts';
import { BIT, LEGACY_TIME } from '../openapi/shape.ts';
import { failure, success } from './envelope-schema.ts';

/** What version 1 says about itself. */
export const API_V1: ApiDescription = {
  title: 'Parley, version 1',
  version: '1',
  prefix: '/api/v1',
  server: {
    url: '/api/v1/{tenant}',
    variables: { tenant: { default: 'demo', description: 'The name of the tenant that the token belongs to.' } },
  },
  deprecated: true,
  rows: 'whole',
  wire: { time: LEGACY_TIME, flag: BIT },
  headers: ['Deprecation', 'Link', 'Sunset'],
  success,
  failure,
  // The path has to name a tenant.
  errors: ['BAD_REQUEST'],
  details: {},
  description: `The interface for clients that were written before version 2, which is the one to begin with. Every route executes the GraphQL operation that version 2 executes: rules, scopes, rates and idempotency are the same.

- **The tenant** stands in the path, and the token has to be one of its own.
- **Answers** are \`{ status: "success", message, data }\`. Refusals are \`{ status: "error", message, errors }\` with messages by field or a text in \`errors\`; 429 is \`{ message, retry_after }\`.
- **Lists** are paginators in \`data\`, and take \`page\`, \`per_page\`, \`sort\`, \`search\` and \`filter[…]\`.
- **Every answer** says by \`Deprecation\`, \`Link\` and, where it is known, \`Sunset\` that there is a successor.`,
  tags: {
    contacts: 'The people whom the business messages.',
    groups: 'Groups of contacts.',
    messagebots: 'Bots that answer with a message.',
    messages: 'Sending.',
    sources: 'Where contacts come from.',
    statuses: 'How far contacts have come.',
    templatebots: 'Bots that answer with a template.',
    templates: 'Templates that the network has approved, or not.',
  },
};
