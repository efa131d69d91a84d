import type { ErrorCode, GraphQLCode } from '../core/errors.ts';
import { builder } from './builder.ts';

/** Codes that top-level errors do not have: a mutation returns them among its `userErrors`, or only REST has them. */
const USER_ERROR = { isTopLevel: false } as const;
const REST_ONLY = { isTopLevel: false } as const;

/** Every code, with what it means as a top-level error. A new code does not compile until it has an entry. */
const CODES: Readonly<Record<ErrorCode | GraphQLCode, string | { readonly isTopLevel: false }>> = {
  BAD_REQUEST: 'The HTTP request or message is malformed.',
  BAD_USER_INPUT: 'A variable or argument does not have its type.',
  DOCUMENT_NOT_FOUND: 'No document with this `documentId` is published.',
  DOCUMENT_REQUIRED: 'The session executes trusted documents only.',
  GRAPHQL_PARSE_FAILED: 'The document is not GraphQL.',
  GRAPHQL_VALIDATION_FAILED: 'The document does not fit the schema.',
  OPERATION_RESOLUTION_FAILURE: 'The document has no operation of this name, or several and no name is given.',
  PERSISTED_QUERY_NOT_FOUND: 'The persisted query is not known: send its text with its digest.',
  UNAUTHORIZED: 'No valid token.',
  INSUFFICIENT_SCOPE: 'The token lacks a scope. `details` has `required` and `granted`.',
  NOT_FOUND: 'An object that an argument names does not exist. A look-up returns null instead.',
  METHOD_NOT_ALLOWED: 'The HTTP method is not one of GraphQL over HTTP.',
  FEATURE_NOT_AVAILABLE: 'The plan does not have the feature that a query is about.',
  CURSOR_EXPIRED: 'The events after the cursor are no longer kept: read the lists again.',
  PAYLOAD_TOO_LARGE: 'The body is too large.',
  UNSUPPORTED_MEDIA_TYPE: 'The body is not JSON.',
  VALIDATION_ERROR: 'An argument has an invalid value. `details` has messages by argument.',
  RATE_LIMIT_EXCEEDED: 'Too many points or attempts. `details.retry_after` has the seconds to wait.',
  QUERY_TOO_COMPLEX: 'The operation exceeds a limit, which `details` names.',
  INTERNAL_ERROR: 'A fault of the server, logged under the id in `details.request_id`.',
  SERVICE_UNAVAILABLE: 'The server is busy or lacks its database. Try again.',
  FEATURE_LIMIT_EXCEEDED: USER_ERROR,
  CONTACT_OPTED_OUT: USER_ERROR,
  CONFLICT: USER_ERROR,
  TOO_OLD: USER_ERROR,
  DISABLED: USER_ERROR,
  OUTSIDE_SERVICE_WINDOW: USER_ERROR,
  MESSAGING_NOT_CONFIGURED: USER_ERROR,
  IDEMPOTENCY_MISMATCH: USER_ERROR,
  MESSAGE_SEND_FAILED: USER_ERROR,
  PRECONDITION_FAILED: REST_ONLY,
  OTP_NOT_FOUND: REST_ONLY,
  OTP_EXPIRED: REST_ONLY,
  INVALID_CODE: REST_ONLY,
  MAX_ATTEMPTS_EXCEEDED: REST_ONLY,
};

builder.enumType('RequestErrorCode', {
  description:
    'Codes of top-level errors, in their `extensions.code`. No field returns it: it is here for code generators.',
  values: Object.fromEntries(
    Object.entries(CODES).flatMap(([code, description]) =>
      typeof description === 'string' ? [[code, { description }]] : [],
    ),
  ),
});
