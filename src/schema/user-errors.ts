import { CodedError, type ErrorCode, type FieldCode } from '../core/errors.ts';
import { builder } from './builder.ts';

/**
 * Faults that a user can act on. A mutation returns them as `userErrors`, with a null object; authentication, scopes, limits of
 * requests and faults of the server are errors of the response.
 */

/** Codes of user errors that do not concern a single field; each is an `ErrorCode` of REST as well. */
const REFUSAL_CODES = [
  'NOT_FOUND',
  'CONFLICT',
  'FEATURE_LIMIT_EXCEEDED',
  'FEATURE_NOT_AVAILABLE',
  'CONTACT_OPTED_OUT',
  'OUTSIDE_SERVICE_WINDOW',
  'MESSAGING_NOT_CONFIGURED',
  'MESSAGE_SEND_FAILED',
  'IDEMPOTENCY_MISMATCH',
  'RATE_LIMIT_EXCEEDED',
  'TOO_OLD',
  'DISABLED',
] as const satisfies readonly ErrorCode[];

type RefusalCode = (typeof REFUSAL_CODES)[number];
export type UserErrorCode = FieldCode | RefusalCode;

/** One user error. The other properties of `details` are those of its GraphQL type. */
export interface UserErrorShape {
  readonly code: UserErrorCode;
  readonly message: string;
  /** Below `input`. */
  readonly path: readonly string[];
  readonly details: Readonly<Record<string, unknown>>;
}

const CODES: Readonly<Record<UserErrorCode, string>> = {
  REQUIRED: 'The field is missing or empty.',
  INVALID: 'The value does not have the required form.',
  TOO_SHORT: 'The text is too short.',
  TOO_LONG: 'The text is too long.',
  TOO_MANY: 'The list has too many items.',
  OUT_OF_RANGE: 'The number or time is out of its range.',
  TAKEN: 'Another object has this value, which must be unique.',
  SURPLUS: 'The field cannot be given here.',
  REFERENCE_NOT_FOUND: 'The object with this id does not exist.',
  UNKNOWN_MERGE_FIELD: 'The text contains a merge field that does not exist, or that is empty and has no fallback.',
  NOT_APPROVED: 'The template is not approved.',
  NETWORK_REFUSED: 'The messaging network refuses the value.',
  ROLLED_BACK: 'The row is valid, but another row of its batch has an error.',
  NOT_FOUND: 'The object of the mutation does not exist.',
  CONFLICT: 'The object is in use, or was changed by another request.',
  FEATURE_LIMIT_EXCEEDED: "The plan's limit is reached.",
  FEATURE_NOT_AVAILABLE: 'The plan does not have this feature.',
  CONTACT_OPTED_OUT: 'The contact asked not to be messaged.',
  OUTSIDE_SERVICE_WINDOW: 'The 24-hour service window is closed.',
  MESSAGING_NOT_CONFIGURED: 'No channel is connected and usable.',
  MESSAGE_SEND_FAILED: 'The messaging network refused the message.',
  IDEMPOTENCY_MISMATCH: 'The idempotency key was used with another input.',
  RATE_LIMIT_EXCEEDED: 'Too many attempts. Try again later.',
  TOO_OLD: 'The time in which this was possible is over.',
  DISABLED: 'The object is disabled: enable it first.',
};

/**
 * @param input of the mutation; a NOT_FOUND that names no field gets the path of its `id`
 * @returns undefined for all other errors
 */
export function userErrorsOf(error: unknown, input: object = {}): readonly UserErrorShape[] | undefined {
  if (!(error instanceof CodedError)) return undefined;
  const { code, message, details = {}, faults, field } = error;
  if (faults.length > 0)
    return faults.map(fault => ({
      code: fault.code,
      message: fault.message,
      path: fault.field.split('.'),
      details: {},
    }));
  if (code === 'VALIDATION_ERROR')
    return Object.entries(details).flatMap(([field, messages]) =>
      [messages].flat().map(text => ({ code: 'INVALID', message: String(text), path: field.split('.'), details: {} })),
    );
  if (!isRefusal(code)) return undefined;
  const path = field?.split('.') ?? (code === 'NOT_FOUND' && 'id' in input ? ['id'] : []);
  return [{ code, message, path, details }];
}

const isRefusal = (code: string): code is RefusalCode => (REFUSAL_CODES as readonly string[]).includes(code);

const UserErrorCodeEnum = builder.enumType('ErrorCode', {
  description: 'Codes of user errors. In REST the codes of single fields are all VALIDATION_ERROR.',
  values: Object.fromEntries(Object.entries(CODES).map(([code, description]) => [code, { description }])) as Record<
    UserErrorCode,
    { description: string }
  >,
});

/** The types of user errors with details; all others are InputError. */
const TYPES: Partial<Record<UserErrorCode, string>> = {
  FEATURE_LIMIT_EXCEEDED: 'LimitError',
  CONFLICT: 'ConflictError',
  OUTSIDE_SERVICE_WINDOW: 'WindowError',
  CONTACT_OPTED_OUT: 'ConsentError',
  RATE_LIMIT_EXCEEDED: 'RetryError',
  MESSAGE_SEND_FAILED: 'NetworkError',
};

export const UserError = builder.interfaceRef<UserErrorShape>('UserError').implement({
  description: 'Something that keeps a mutation from its result, and that the caller can act on.',
  resolveType: ({ code }) => TYPES[code] ?? 'InputError',
  fields: t => ({
    code: t.expose('code', {
      type: UserErrorCodeEnum,
      description: 'What is wrong, for programs.',
    }),
    message: t.exposeString('message', { description: 'What is wrong, for people.' }),
    path: t.stringList({
      description:
        'The field, as names and indexes below `input`: `["contacts", "3", "phone"]`. Empty: no single field.',
      resolve: error => [...error.path],
    }),
  }),
});

/** Defines a type of user errors. Features add those whose details are types of the feature. */
export const userErrorRef = (name: string) => builder.objectRef<UserErrorShape>(name);

userErrorRef('InputError').implement({
  description: 'A fault of an input field, or a refusal without further details.',
  interfaces: [UserError],
});

const numberOrNull = (value: unknown): number | null => (typeof value === 'number' ? value : null);

userErrorRef('LimitError').implement({
  description: 'The limit of the plan is reached.',
  interfaces: [UserError],
  fields: t => ({
    feature: t.string({
      description: 'The limited feature.',
      resolve: ({ details }) => String(details['feature'] ?? ''),
    }),
    used: t.field({
      type: 'BigInt',
      nullable: true,
      description: 'How much of it is in use.',
      resolve: ({ details }) => numberOrNull(details['current']),
    }),
    maximum: t.field({
      type: 'BigInt',
      nullable: true,
      description: "The plan's maximum; null if the plan has none of it.",
      resolve: ({ details }) => numberOrNull(details['maximum']),
    }),
  }),
});

userErrorRef('RetryError').implement({
  description: 'Too many attempts.',
  interfaces: [UserError],
  fields: t => ({
    retryAfterSeconds: t.int({
      description: 'Seconds until the next attempt can succeed.',
      resolve: ({ details }) => numberOrNull(details['retry_after']) ?? 0,
    }),
    limit: t.int({
      nullable: true,
      description: 'Number of attempts that the exceeded limit allows; null if it is not known.',
      resolve: ({ details }) => numberOrNull(details['limit']),
    }),
  }),
});

userErrorRef('ConflictError').implement({
  description: 'The object is in use, or was changed by another request.',
  interfaces: [UserError],
  fields: t => ({
    current: t.field({
      type: builder.nodeInterfaceRef(),
      nullable: true,
      description: 'The object as it is now, where another request changed it.',
      resolve: ({ details }) => (details['current'] as never) ?? null,
    }),
  }),
});
