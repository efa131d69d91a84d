import { ParleyError, TransportError } from '../../client/errors.ts';
import type { ErrorCode } from '../documents.generated.ts';

/** Codes of top-level errors that a person can meet in the page. */
type RequestCode = 'UNAUTHORIZED' | 'INSUFFICIENT_SCOPE' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE';

/** By code, and where a field has a better text by `CODE.field`. `{message}` is the API's own text, `{number}` the number in it. */
export type FaultTexts = Readonly<Record<ErrorCode | RequestCode, string>>;

/** A user error, or a top-level error with its code. */
export interface Fault {
  readonly message: string;
  readonly code?: string | undefined;
  readonly path?: readonly string[] | undefined;
}

/** A Latin text within one of another direction: U+2066 and U+2069 isolate it. */
const isolated = (text: string): string => `\u2066${text}\u2069`;

/** What is wrong, in the language of the page where its texts know the code. The API's messages are English. */
export function faultText({ code = '', message, path = [] }: Fault, texts: Readonly<Record<string, string>>): string {
  const field = path.findLast(part => !/^\d+$/.test(part));
  const text = texts[`${code}.${field}`] ?? texts[code];
  if (text === undefined) return message;
  const number = /\d[\d,]*/.exec(message)?.[0];
  if (number === undefined && text.includes('{number}')) return message;
  return text.replace('{message}', () => isolated(message)).replace('{number}', number ?? '');
}

/** Answers of a proxy or of the gateway to a file itself, not to the moment at which it came. */
const isOfFile = (status = 0): boolean => status >= 400 && status < 500 && status !== 429;

/** Why a request failed, as a fault with a text: the gateway answered with errors, or none came. */
export function requestFault(error: unknown): Fault {
  if (!(error instanceof Error)) return { message: String(error) };
  const { message } = error;
  if (error instanceof TransportError) return { code: 'SERVICE_UNAVAILABLE', message };
  return { code: error instanceof ParleyError ? error.code : undefined, message };
}

/** Why a file was not uploaded, as a fault with a text. */
export function uploadFault(error: Error): Fault {
  const { message } = error;
  if (error instanceof TransportError && !isOfFile(error.status)) return { code: 'SERVICE_UNAVAILABLE', message };
  const code = error instanceof ParleyError ? error.code : undefined;
  if (code === undefined || code === 'VALIDATION_ERROR' || code === 'BAD_REQUEST')
    return { code: 'INVALID', path: ['file'], message };
  return { code, message };
}

interface Payload {
  readonly userErrors?: unknown;
  readonly results?: unknown;
}

const isList = (value: unknown): value is readonly object[] => Array.isArray(value);

/** The data of a mutation with its user errors, those of the rows of a batch too, as `textOf` words them. */
export function withFaultTexts<Data>(data: Data, textOf: (fault: Fault) => string): Data {
  if (typeof data !== 'object' || data === null) return data;
  const worded = (payload: Payload): Payload => ({
    ...payload,
    ...(isList(payload.userErrors) && {
      userErrors: payload.userErrors.map(error => ({ ...error, message: textOf(error as Fault) })),
    }),
    ...(isList(payload.results) && { results: payload.results.map(worded) }),
  });
  return Object.fromEntries(
    Object.entries(data).map(([field, value]) => [
      field,
      typeof value === 'object' && value !== null && !Array.isArray(value) ? worded(value as Payload) : value,
    ]),
  ) as Data;
}
