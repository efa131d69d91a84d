import { DAY, MINUTE } from '../../platform/clock.ts';
import { asList, asNumber, asObject, asText, type JsonObject, parseJson } from '../../platform/json.ts';
import { isRetryable, type NetworkError, type RetryClass } from '../network.ts';
import { ERROR_CODES } from './error-codes.ts';

/** Header names in lower case, as in Node and undici. */
export type ResponseHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

/**
 * Classifies an error code. For undocumented codes, the network's `is_transient` decides; without it the send is not retried, because
 * a retry for an unknown reason costs money and may reach the person twice.
 */
export function classify(code: number, isTransient = false): RetryClass {
  return ERROR_CODES.get(code)?.retryClass ?? (isTransient ? 'retry_backoff' : 'no_retry');
}

/**
 * Reads the error in a response body: `OAuthException` with `error_data`, or `GraphMethodException` (unknown object)
 * without. Undefined if the body has no error with a code, for example the HTML page of a proxy.
 *
 * `error_user_title` and `error_user_msg` are in the account's language and are never read. `error_subcode` is documented as removed
 * but still occurs; only 33 is used, to recognise an invisible object.
 */
export function toNetworkError(body: unknown, headers: ResponseHeaders = {}): NetworkError | undefined {
  const error = asObject(asObject(body)?.['error']);
  if (!error) return undefined;
  const read = readError(error);
  if (!read) return undefined;
  const retryAfterMs = isRetryable(read) ? regainAccessMs(headers) : undefined;
  const traceId = asText(error['fbtrace_id']);
  return { ...read, ...(retryAfterMs !== undefined && { retryAfterMs }), ...(traceId !== undefined && { traceId }) };
}

/** The first error of a webhook's list (`statuses[].errors`, `messages[].errors`): `code`, `title`, `message`, `error_data.details`. */
export function webhookError(errors: unknown): NetworkError | undefined {
  const first = asObject(asList(errors)[0]);
  return first && readError(first);
}

/** A response that is not from the network (a proxy's page, a redirect): nothing was accepted, and the intermediary may recover. */
export function foreignResponse(status: number): NetworkError {
  return {
    code: status,
    title: `HTTP ${status}`,
    details: 'The response did not come from the network',
    retryClass: 'retry_backoff',
  };
}

/** Codes are stored as `integer`, and a negative one means there that a message has not failed. */
const MAX_CODE = 2 ** 31 - 1;

function readError(error: JsonObject): NetworkError | undefined {
  const code = asNumber(error['code']);
  if (code === undefined || !Number.isInteger(code) || code < 0 || code > MAX_CODE) return undefined;
  // "(#131030) Recipient phone number not in allowed list": the code has its own field.
  const message = asText(error['message'])?.replace(/^\(#\d+\)\s*/, '') ?? '';
  const title = asText(error['title']) ?? ERROR_CODES.get(code)?.title ?? (message || `Error ${code}`);
  const details = asText(asObject(error['error_data'])?.['details']) ?? message;
  // An object that does not exist or is not visible is the channel's number: all further messages would fail too.
  const isChannelFault =
    error['type'] === 'GraphMethodException' && code === 100 && asNumber(error['error_subcode']) === 33;
  return { code, title, details, retryClass: isChannelFault ? 'auth' : classify(code, error['is_transient'] === true) };
}

/**
 * The longest `estimated_time_to_regain_access` (minutes) in `X-Business-Use-Case-Usage`, in milliseconds. No recorded response
 * has a `Retry-After`; this header is on every response about a business account, with 0 while nothing is throttled. At most a day: the
 * channel sends nothing meanwhile, and quotas are of hours or a day.
 */
function regainAccessMs(headers: ResponseHeaders): number | undefined {
  const header = headers['x-business-use-case-usage'];
  if (typeof header !== 'string') return undefined;
  let minutes = 0;
  for (const usages of Object.values(asObject(parseJson(header)) ?? {})) {
    for (const usage of asList(usages)) {
      minutes = Math.max(minutes, asNumber(asObject(usage)?.['estimated_time_to_regain_access']) ?? 0);
    }
  }
  return minutes > 0 ? Math.min(minutes * MINUTE, DAY) : undefined;
}
