import SchemaBuilder from '@pothos/core';
import RelayPlugin from '@pothos/plugin-relay';
import ScopeAuthPlugin, { type AuthFailure } from '@pothos/plugin-scope-auth';
import { type GraphQLError, type GraphQLNamedType, isObjectType, valueFromASTUntyped } from 'graphql';
import { insufficientScope, requestError, unauthorized } from '../core/errors.ts';
import { decodeGlobalId, encodeGlobalId } from '../core/global-ids.ts';
import { tenantOf } from '../core/principal.ts';
import type { Scope } from '../core/scopes.ts';
import { parseDateTime } from '../platform/date-time.ts';
import type { Context } from './context.ts';
import './plugin.ts';

/**
 * The Pothos builder: plugins, scalars, auth scopes. Object types are defined by the features.
 *
 * Scopes are set on root fields and sensitive fields, never on types: a type-level scope wraps every field of the type (nine
 * times slower under graphql-jit).
 */
export const builder = new SchemaBuilder<{
  Context: Context;
  DefaultFieldNullability: false;
  DefaultEdgesNullability: false;
  /** `scope`: all are required; `anyScope`: at least one. */
  AuthScopes: { scope: Scope | readonly Scope[]; anyScope: readonly Scope[]; token: boolean };
  Scalars: {
    ID: { Input: string; Output: string | number };
    DateTime: { Input: string; Output: string };
    BigInt: { Input: number; Output: number };
    JSON: { Input: unknown; Output: unknown };
    EventPattern: { Input: string; Output: string };
    Decimal: { Input: string; Output: string };
    CurrencyCode: { Input: string; Output: string };
  };
}>({
  plugins: [ScopeAuthPlugin, RelayPlugin, 'parley'],
  defaultFieldNullability: false,
  scopeAuth: {
    authorizeOnSubscribe: true,
    authScopes: context => ({
      token: context.principal !== undefined,
      scope: required => [required].flat().every(scope => context.principal?.scopes.has(scope)),
      anyScope: accepted => accepted.some(scope => context.principal?.scopes.has(scope)),
    }),
    unauthorizedError: (_parent, context, _info, result) => refusal(context, result.failure),
  },
  relay: {
    cursorType: 'String',
    nodeTypeOptions: { description: 'An object with a globally unique id.' },
    idFieldOptions: { description: 'Globally unique id, accepted by `node`.' },
    hasNextPageFieldOptions: { description: 'Whether more rows follow this page.' },
    hasPreviousPageFieldOptions: { description: 'Whether rows precede this page.' },
    startCursorFieldOptions: { description: 'Cursor of the first row. Pass it as `before` to get the previous page.' },
    endCursorFieldOptions: { description: 'Cursor of the last row. Pass it as `after` to get the next page.' },
    encodeGlobalID: (typename, id, context) => encodeGlobalId(typename, tenantOf(context), String(id)),
    // An id of another account decodes to nothing, and so is not found.
    decodeGlobalID: (text, context) => {
      const decoded = decodeGlobalId(text);
      return decoded?.tenantId === context.principal?.tenant.id && decoded ? decoded : { typename: '', id: '' };
    },
    nodeQueryOptions: {
      description: 'Looks up any object by its global id.',
      args: { id: { description: 'Global id of the object.' } },
      // The required scope depends on the type and is checked by its loader, which finds nothing without it.
      authScopes: { token: true },
      resolve: async (_root, { id }, _context, { schema }, resolveNode) => {
        return isNode(schema.getType(id.typename)) ? ((await resolveNode(id)) ?? null) : null;
      },
    },
    nodesQueryOptions: false,
    pageInfoTypeOptions: { description: 'Position of a page within its connection.' },
  },
});

export type InputFields = PothosSchemaTypes.InputFieldBuilder<typeof builder.$inferSchemaTypes, 'InputObject'>;

/** Description of every input field `idempotencyKey`. */
export const IDEMPOTENCY_KEY =
  'Repeating the mutation with the same key within 24 hours returns the first result; with other input it is an IDEMPOTENCY_MISMATCH. At most 255 characters.';

/** Whether a type implements Node. Global ids are untrusted input and can name any type. */
export const isNode = (type: GraphQLNamedType | undefined): boolean =>
  isObjectType(type) && type.getInterfaces().some(({ name }) => name === 'Node');

/** Collects the missing scopes of a failure, which may be nested. */
const scopesOf = (failure: AuthFailure): string[] => {
  if ('failures' in failure) return failure.failures.flatMap(scopesOf);
  return 'parameter' in failure ? [failure.parameter].flat().filter(scope => typeof scope === 'string') : [];
};

function refusal(context: Context, failure: AuthFailure): Error {
  const { principal } = context;
  if (!principal) return unauthorized();
  const required = scopesOf(failure);
  return insufficientScope(required, principal.scopes);
}

export const badInput = (message: string): GraphQLError => requestError('BAD_USER_INPUT', message);

builder.scalarType('DateTime', {
  description:
    'An instant in ISO 8601 format, for example `2026-01-31T07:58:39.123Z`. Input may have any UTC offset, or be a date (midnight UTC).',
  specifiedByURL: 'https://scalars.graphql.org/andimarek/date-time.html',
  // Rows contain ISO text; JSON built by the database writes the offset as +00:00.
  serialize: value =>
    typeof value === 'string' && value.endsWith('Z') ? value : new Date(value as string).toISOString(),
  parseValue: value => {
    const ms = typeof value === 'string' ? parseDateTime(value) : undefined;
    if (ms === undefined)
      throw badInput('DateTime must be an ISO 8601 date or instant, for example 2026-01-31T07:58:39Z.');
    return new Date(ms).toISOString();
  },
});

builder.scalarType('BigInt', {
  description: 'A 64-bit integer as a JSON number. Issued ids are below 2^53.',
  specifiedByURL: 'https://www.rfc-editor.org/rfc/rfc8259#section-6',
  serialize: value => value,
  parseValue: value => {
    const number = typeof value === 'string' && /^-?\d+$/.test(value) ? Number(value) : value;
    if (typeof number !== 'number' || !Number.isSafeInteger(number))
      throw badInput('BigInt must be a whole number below 2^53.');
    return number;
  },
});

builder.scalarType('JSON', {
  description: 'Any JSON value.',
  specifiedByURL: 'https://www.rfc-editor.org/rfc/rfc8259',
  serialize: value => value,
  parseValue: value => value,
  parseLiteral: (node, variables) => valueFromASTUntyped(node, variables),
});

builder.scalarType('EventPattern', {
  description:
    'Which events an endpoint receives: one type (`message.delivered`), all types of a resource (`message.*`), or all (`*`). An unknown pattern is an error of its field.',
  specifiedByURL:
    'https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md#event-types',
  serialize: value => value,
  parseValue: value => {
    if (typeof value !== 'string') throw badInput('EventPattern must be text, for example message.*.');
    return value;
  },
});

builder.queryType({ description: 'Read operations.' });
builder.mutationType({ description: 'Write operations.' });
builder.subscriptionType({ description: 'Event streams over WebSocket or Server-Sent Events.' });
