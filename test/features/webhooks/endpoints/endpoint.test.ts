import { expect, test } from 'vitest';
import { CodedError } from '../../../../src/core/errors.ts';
import { isEventPattern } from '../../../../src/core/events.ts';
import { parseEndpoint } from '../../../../src/features/webhooks/endpoints/endpoint.ts';

test('the URL of an endpoint is stored as given or rejected', () => {
  const rules = { allowHttp: false, allowsHost: () => true };
  const parse = (url: string) => parseEndpoint({ url, events: ['*'] }, rules, false).url;
  expect(parse(' https://Example.com:8443/a%20b?c=d ')).toBe('https://example.com:8443/a%20b?c=d');
  expect(parse('https://[2606:4700::1111]/')).toBe('https://[2606:4700::1111]/');
  const faulty = [
    'https:/example.com',
    'https:example.com',
    '//example.com',
    'https:///example.com',
    String.raw`https:\\example.com`,
    'https://example.com:0/',
    'https://example.com/a\r\nHost: b',
    'https://exam\tple.com/',
    'https://example.com/a b',
    String.raw`https://example.com\@10.0.0.1/`,
    'https://a@example.com',
    'https://:b@example.com',
    'https://example.com/#c',
    'http://example.com',
    'ftp://example.com',
  ];
  for (const url of faulty) expect(() => parse(url), url).toThrow(CodedError);
});

test('names of Object.prototype are rejected as event types', () => {
  for (const pattern of ['constructor', 'toString', 'toString.*', '__proto__.*'])
    expect(isEventPattern(pattern)).toBe(false);
});
