import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ERROR_CODES } from '../../../src/network/cloud-api/error-codes.ts';
import { classify, toNetworkError, webhookError } from '../../../src/network/cloud-api/errors.ts';

describe('the retry class of an error code', () => {
  test.each([
    [1, 'retry_backoff'],
    [131056, 'retry_backoff'],
    [4, 'retry_after_wait'],
    [131057, 'retry_after_wait'],
    [0, 'auth'],
    [200, 'auth'],
    [299, 'auth'],
    [33, 'pause_account'],
    [368, 'pause_account'],
    [131047, 'no_retry'],
    [132015, 'no_retry'],
    [132016, 'no_retry'],
    [132068, 'no_retry'],
    [131053, 'fix_request'],
    [131063, 'fix_request'],
  ] as const)('%i is %s', (code, retryClass) => {
    expect(classify(code)).toBe(retryClass);
    expect(classify(code, true)).toBe(retryClass);
  });

  test('is no_retry for an unlisted code, unless the network marks it transient', () => {
    fc.assert(
      fc.property(fc.integer(), code => {
        fc.pre(!ERROR_CODES.has(code));
        expect(classify(code)).toBe('no_retry');
        expect(classify(code, true)).toBe('retry_backoff');
      }),
    );
  });
});

describe('toNetworkError', () => {
  test('reads title, details and trace id of the usual format', () => {
    const body = {
      error: {
        message: '(#131030) Recipient phone number not in allowed list',
        type: 'OAuthException',
        code: 131030,
        error_data: { messaging_product: 'whatsapp', details: 'Add recipient phone number to recipient list' },
        fbtrace_id: 'A1',
      },
    };
    expect(toNetworkError(body)).toEqual({
      code: 131030,
      title: 'Recipient phone number not in allowed list',
      details: 'Add recipient phone number to recipient list',
      retryClass: 'no_retry',
      traceId: 'A1',
    });
  });

  test('classifies an invisible object as `auth`, and without error_data uses the message as details', () => {
    const body = {
      error: { message: 'Unsupported get request.', type: 'GraphMethodException', code: 100, error_subcode: 33 },
    };
    expect(toNetworkError(body)).toEqual({
      code: 100,
      title: 'Invalid parameter',
      details: 'Unsupported get request.',
      retryClass: 'auth',
    });
  });

  test.each([-1, 2 ** 31, 3e9, 1e21, '9999999999'])('a code that cannot be stored counts as none: %s', code => {
    expect(toNetworkError({ error: { code, message: 'Odd' } })).toBeUndefined();
    expect(webhookError([{ code, title: 'Odd' }])).toBeUndefined();
  });

  test('never uses texts in the account’s language', () => {
    const body = { error: { code: 100, error_user_title: 'Erro', error_user_msg: 'Mensagem' } };
    expect(JSON.stringify(toNetworkError(body))).not.toMatch(/Erro|Mensagem/);
  });

  test('reads the longest wait (minutes) of the usage header for transient codes', () => {
    const usage = { '1': [{ estimated_time_to_regain_access: 2 }, { estimated_time_to_regain_access: '7' }] };
    const headers = { 'x-business-use-case-usage': JSON.stringify(usage) };
    expect(toNetworkError({ error: { code: 80007 } }, headers)?.retryAfterMs).toBe(420_000);
    const odd = { 'x-business-use-case-usage': '{"1":[{"estimated_time_to_regain_access":1e300}]}' };
    expect(toNetworkError({ error: { code: 80007 } }, odd)?.retryAfterMs).toBe(86_400_000);
    expect(toNetworkError({ error: { code: 100 } }, headers)?.retryAfterMs).toBeUndefined();
    expect(
      toNetworkError({ error: { code: 4 } }, { 'x-business-use-case-usage': 'not json' })?.retryAfterMs,
    ).toBeUndefined();
  });

  test('webhookError keeps title and details of the webhook', () => {
    const errors = [
      {
        code: 131047,
        title: 'Re-engagement message',
        message: 'Re-engagement message',
        error_data: { details: 'More than 24 hours' },
      },
    ];
    expect(webhookError(errors)).toEqual({
      code: 131047,
      title: 'Re-engagement message',
      details: 'More than 24 hours',
      retryClass: 'no_retry',
    });
  });
});

test('arbitrary JSON is read without throwing', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.string(), (value, header) => {
      for (const body of [value, { error: value }, { error: { code: value, error_data: value, message: value } }]) {
        const error = toNetworkError(body, { 'x-business-use-case-usage': header });
        if (error) {
          expect(Number.isInteger(error.code)).toBe(true);
          expect(typeof error.title).toBe('string');
        }
      }
      webhookError(value);
      webhookError([value]);
    }),
  );
});
