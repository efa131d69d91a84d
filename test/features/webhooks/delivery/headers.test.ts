import { expect, test } from 'vitest';
import { FieldErrorList } from '../../../../src/core/errors.ts';
import { parseHeaders } from '../../../../src/features/webhooks/delivery/headers.ts';

test('no custom header can replace a header of the gateway, in any case', () => {
  const names = [
    'Host',
    'content-length',
    'Content-Type',
    'CONNECTION',
    'Keep-Alive',
    'TE',
    'Trailer',
    'Transfer-Encoding',
    'Upgrade',
    'Expect',
    'User-Agent',
    'Webhook-Id',
    'webhook-timestamp',
    'WEBHOOK-SIGNATURE',
    'X-Webhook-Event',
    'x-webhook-signature',
    'Proxy-Authorization',
    'Proxy-Connection',
    'HTTP2-Settings',
    'Content-Encoding',
    'Accept-Encoding',
    'a b',
    'a:b',
    '',
    'ä',
    'a\n',
  ];
  for (const name of names) {
    const errors = new FieldErrorList();
    parseHeaders([{ name, value: 'x' }], errors, false);
    expect([name, Object.keys(errors.fields)]).toEqual([name, ['headers']]);
  }
  const errors = new FieldErrorList();
  const headers = [
    { name: 'Authorization', value: ' Basic abc ' },
    { name: 'x-api-key', value: '' },
  ];
  expect(parseHeaders(headers, errors, false)).toEqual([
    { name: 'Authorization', value: 'Basic abc' },
    { name: 'x-api-key', value: '' },
  ]);
  expect(errors.isEmpty).toBe(true);
  parseHeaders([...headers, { name: 'AUTHORIZATION', value: 'x' }], errors, false);
  expect(errors.fields['headers']).toEqual(['AUTHORIZATION is there twice.']);
});
