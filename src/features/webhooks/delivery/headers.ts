import { type FieldCode, FieldErrorList } from '../../../core/errors.ts';

/** A custom header of an endpoint's requests. */
export interface CustomHeader {
  readonly name: string;
  readonly value: string;
}

/** A header as an input has it. Without a value, a change keeps the present one. */
export interface GivenHeader {
  readonly name: string;
  readonly value?: string | null | undefined;
}

const MAX_HEADERS = 20;
const MAX_NAME = 100;
const MAX_VALUE = 2_000;

/** Token and field value (RFC 9110 §5.1, §5.5), the latter restricted to ASCII. */
const NAME = /^[!#$%&'*+.^_`|~0-9a-z-]+$/i;
const VALUE = /^[\t\x20-\x7e]*$/;

/** Connection headers (RFC 9110 §7.6.1) and headers about the body, which the gateway sets. */
const RESERVED: ReadonlySet<string> = new Set([
  'accept-encoding',
  'connection',
  'content-encoding',
  'content-length',
  'content-type',
  'expect',
  'host',
  'http2-settings',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'user-agent',
]);
const RESERVED_PREFIXES = ['webhook-', 'x-webhook-', 'proxy-'];

const isReserved = (name: string): boolean =>
  RESERVED.has(name) || RESERVED_PREFIXES.some(prefix => name.startsWith(prefix));

/**
 * Checks the headers of an endpoint; faults go to `errors` under `headers`.
 * @param partial for a change: a header may have no value
 * @returns them with trimmed values
 */
export function parseHeaders(headers: readonly GivenHeader[], errors: FieldErrorList, partial: boolean): GivenHeader[] {
  const seen = new Set<string>();
  const fault = (message: string, code?: FieldCode): void => errors.add('headers', message, code);
  if (headers.length > MAX_HEADERS) fault(`There may be at most ${MAX_HEADERS}.`, 'TOO_MANY');
  return headers.map(({ name, value }) => {
    const lower = name.toLowerCase();
    const shown = name.slice(0, MAX_NAME);
    if (!NAME.test(name) || name.length > MAX_NAME) fault(`"${shown}" is not the name of a header.`);
    else if (isReserved(lower)) fault(`${shown} is set by the gateway.`);
    else if (seen.has(lower)) fault(`${shown} is there twice.`, 'TAKEN');
    seen.add(lower);
    if (value == null) {
      if (!partial) fault(`${shown} has no value.`, 'REQUIRED');
      return { name };
    }
    if (!VALUE.test(value)) fault(`The value of ${shown} may hold printable ASCII characters alone.`);
    else if (value.length > MAX_VALUE)
      fault(`The value of ${shown} may have at most ${MAX_VALUE} characters.`, 'TOO_LONG');
    return { name, value: value.trim() };
  });
}

/** Whether headers are the present ones, in any order and case, without a new value. */
export const keepsHeaders = (headers: readonly GivenHeader[], present: readonly string[]): boolean => {
  const names = new Set(present.map(name => name.toLowerCase()));
  return (
    headers.length === names.size && headers.every(({ name, value }) => value == null && names.has(name.toLowerCase()))
  );
};

/** Gives headers without a value the present one. @throws VALIDATION_ERROR on `headers` where there is none */
export function withValues(headers: readonly GivenHeader[], present: readonly CustomHeader[]): CustomHeader[] {
  const values = new Map(present.map(({ name, value }) => [name.toLowerCase(), value]));
  const errors = new FieldErrorList();
  const complete = headers.map(({ name, value = values.get(name.toLowerCase()) }) => {
    if (value == null) errors.add('headers', `${name} has no value.`, 'REQUIRED');
    return { name, value: value ?? '' };
  });
  errors.throwIfAny();
  return complete;
}
