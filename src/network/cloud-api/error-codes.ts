import type { RetryClass } from '../network.ts';

/**
 * Titles of the Cloud API's error codes, by retry class. Source: Meta's error-codes page, fetched 2026-09-11; titles from an older
 * revision, or our own where neither has one. 17, 104 and 803 occur only in Meta's OpenAPI examples. The retry class is our
 * interpretation of Meta's text.
 */
const TITLES: Readonly<Record<RetryClass, Readonly<Record<number, string>>>> = {
  retry_backoff: {
    1: 'API Unknown',
    2: 'API Service',
    130429: 'Rate limit hit',
    131000: 'Something went wrong',
    131016: 'Service unavailable',
    131056: '(Business Account, Consumer Account) pair rate limit hit',
    133004: 'Server temporarily unavailable',
  },
  retry_after_wait: {
    4: 'API Too Many Calls',
    17: 'User request limit reached',
    80007: 'Rate limit issues',
    131057: 'Account in maintenance mode',
    132069: 'Flow is throttled',
    133008: 'Too many two step verification PIN guesses',
    133009: 'Two step verification PIN guessed too fast',
    133015: 'Please wait a few minutes before attempting to register this phone number',
    133016: 'Account register deregister rate limit exceeded',
    134101: 'Your template is still syncing',
  },
  auth: {
    0: 'AuthException',
    3: 'API Method',
    10: 'Permission Denied',
    104: 'An access token is required',
    190: 'Access token has expired',
    131005: 'Access denied',
  },
  pause_account: {
    // The number was deleted, as when it moves to another business account: the channel's other messages would fail too.
    33: 'Parameter value is not valid',
    368: 'Temporarily blocked for policies violations',
    131031: 'Account has been locked',
    131037: 'Display name approval needed',
    131042: 'Business eligibility payment issue',
    131045: 'Incorrect certificate',
    131048: 'Spam rate limit hit',
    131064: 'Template classification violations limit',
    133010: 'Phone number not registered',
    134011: 'Payments terms of service not accepted',
    134102: 'Template unavailable for use',
  },
  no_retry: {
    130403: 'Business has blocked the user',
    130472: "User's number is part of an experiment",
    130497: 'Business account is restricted from messaging users in this country',
    131021: 'Recipient cannot be sender',
    131026: 'Message undeliverable',
    131030: 'Recipient phone number not in allowed list',
    131047: 'Re-engagement message',
    131049: 'This message was not delivered to maintain healthy ecosystem engagement.',
    131050: 'Recipient has stopped marketing messages',
    131052: 'Media download error',
    // Concern only the template or its flow: other messages of the channel are not affected.
    132015: 'Template is paused',
    132016: 'Template is disabled',
    132068: 'Flow is blocked',
  },
  fix_request: {
    100: 'Invalid parameter',
    803: 'Object does not exist',
    131008: 'Required parameter is missing',
    131009: 'Parameter value is not valid',
    131051: 'Unsupported message type',
    131053: 'Media upload error',
    131055: 'Method not allowed',
    131062: 'Business-scoped user id not supported for this message',
    // Concerns only marketing templates: codes, answers and other templates of the channel are not affected.
    131063: 'Marketing templates are disabled',
    132000: 'Number of parameters does not match the expected number of params',
    132001: 'Template name does not exist in the translation',
    132005: 'Template hydrated text too long',
    132007: 'Template format character policy violated',
    132012: 'Template parameter format mismatch',
    132018: 'Template validation error',
    133000: 'Incomplete deregistration',
    133005: 'Two step verification PIN mismatch',
    133006: 'Phone number re-verification needed',
    134100: 'Only marketing messages supported',
    135000: 'Generic user error',
  },
};

export interface KnownCode {
  readonly title: string;
  readonly retryClass: RetryClass;
}

/** All known codes, including each of the range 200 to 299. */
export const ERROR_CODES: ReadonlyMap<number, KnownCode> = new Map([
  ...Array.from({ length: 100 }, (_, i): [number, KnownCode] => [
    200 + i,
    { title: 'API Permission', retryClass: 'auth' },
  ]),
  ...(Object.keys(TITLES) as RetryClass[]).flatMap(retryClass =>
    Object.entries(TITLES[retryClass]).map(([code, title]): [number, KnownCode] => [
      Number(code),
      { title, retryClass },
    ]),
  ),
]);
