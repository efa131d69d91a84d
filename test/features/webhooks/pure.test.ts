import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import { Webhook } from 'standardwebhooks';
import { expect, test } from 'vitest';
import { CodedError, FieldErrorList } from '../../../src/core/errors.ts';
import { parseHeaders } from '../../../src/features/webhooks/delivery/headers.ts';
import type { Claimed } from '../../../src/features/webhooks/delivery/queue.sql.ts';
import { parseRetryAfter, RETRY_DELAYS_MS, retryDelayMs } from '../../../src/features/webhooks/delivery/schedule.ts';
import {
  newSecret,
  plainSignatureOf,
  signatureOf,
  signingKey,
} from '../../../src/features/webhooks/delivery/signature.ts';
import { judge } from '../../../src/features/webhooks/delivery/verdict.ts';
import { parseEndpoint } from '../../../src/features/webhooks/endpoints/endpoint.ts';
import { EndpointQueue } from '../../../src/features/webhooks/endpoints/endpoint-queue.ts';
import type { OpenTarget } from '../../../src/features/webhooks/endpoints/target.ts';
import type { Target } from '../../../src/features/webhooks/endpoints/targets.sql.ts';
import { RESPONSE_BYTES, storableText } from '../../../src/features/webhooks/log/delivery.ts';
import { DAY, HOUR, MINUTE, SECOND } from '../../../src/platform/clock.ts';
import { isStorable } from '../../../src/platform/text.ts';

test('the signature of the test vector is correct', () => {
  const signature = signatureOf(
    [signingKey('whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw')],
    'msg_p5jXN8AQM9LWM0D4loKWxJek',
    1614265330,
    '{"test": 2432232314}',
  );
  expect(signature).toBe('v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=');
});

test('the standard library verifies signatures of either valid secret for any body, and rejects modified ones', () => {
  const [now, before] = [newSecret(), newSecret()];
  const timestamp = Math.floor(Date.now() / SECOND);
  fc.assert(
    fc.property(fc.uuid({ version: 7 }), fc.json({ stringUnit: 'grapheme' }), (id, body) => {
      const headers = {
        'webhook-id': id,
        'webhook-timestamp': String(timestamp),
        'webhook-signature': signatureOf([signingKey(now), signingKey(before)], id, timestamp, body),
      };
      expect(headers['webhook-signature'].split(' ')).toHaveLength(2);
      for (const secret of [now, before]) expect(new Webhook(secret).verify(body, headers)).toEqual(JSON.parse(body));
      expect(() => new Webhook(newSecret()).verify(body, headers)).toThrow();
      expect(() => new Webhook(now).verify(`${body} `, headers)).toThrow();
    }),
  );
});

test('a secret is whsec_ and 32 random bytes; older receivers use its text', () => {
  const secrets = Array.from({ length: 100 }, newSecret);
  expect(new Set(secrets).size).toBe(100);
  for (const secret of secrets) {
    expect(secret).toMatch(/^whsec_/);
    expect(Buffer.from(secret.slice(6), 'base64')).toHaveLength(32);
    expect(plainSignatureOf(signingKey(secret), 'é')).toBe(createHmac('sha256', secret).update('é').digest('hex'));
  }
});

test('the retry schedule is that of the contract', () => {
  expect(RETRY_DELAYS_MS).toEqual([
    5 * SECOND,
    5 * MINUTE,
    30 * MINUTE,
    2 * HOUR,
    5 * HOUR,
    10 * HOUR,
    14 * HOUR,
    20 * HOUR,
    24 * HOUR,
  ]);
  expect(retryDelayMs(10, undefined, 0)).toBeUndefined();
});

test('a retry is never earlier than the schedule or Retry-After, at most a tenth later, and Retry-After counts up to a day', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 9 }),
      fc.option(fc.integer({ min: 0, max: 10 * DAY }), { nil: undefined }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      (tries, retryAfterMs, jitter) => {
        const ms = retryDelayMs(tries, retryAfterMs, jitter) ?? Number.NaN;
        const least = Math.max(RETRY_DELAYS_MS[tries - 1] ?? 0, Math.min(retryAfterMs ?? 0, DAY));
        expect(ms).toBeGreaterThanOrEqual(least);
        expect(ms).toBeLessThanOrEqual(Math.ceil(least * 1.1));
      },
    ),
  );
});

test.each([
  ['120', 120 * SECOND],
  [' 0 ', 0],
  ['Sat, 31 Jan 2026 08:00:00 GMT', 60 * SECOND],
  ['Sat, 31 Jan 2026 07:00:00 GMT', 0],
  ['Saturday, 31-Jan-26 08:00:00 GMT', 60 * SECOND],
  ['Sat Jan 31 08:00:00 2026', 60 * SECOND],
  ['-5', undefined],
  ['1.5', undefined],
  ['soon', undefined],
  ['2026-01-31', undefined],
  ['', undefined],
  [undefined, undefined],
])('Retry-After %j is read', (text, ms) => expect(parseRetryAfter(text, Date.parse('2026-01-31T07:59:00Z'))).toBe(ms));

test('only 2xx is success, 410 ends the delivery, and everything else is retried until the end of the schedule', () => {
  const at = { isTest: false, nowMs: 0, jitter: 0 };
  fc.assert(
    fc.property(fc.integer({ min: 200, max: 599 }), fc.integer({ min: 1, max: 12 }), (status, tries) => {
      const { body } = { body: Buffer.alloc(0) };
      const verdict = judge({ kind: 'answer', status, retryAfter: undefined, body }, { ...at, tries });
      if (status < 300) expect(verdict).toEqual({ status: 'delivered', retryMs: null, error: null, gone: false });
      else if (status === 410 || tries >= 10)
        expect(verdict).toMatchObject({ status: 'failed', retryMs: null, gone: status === 410 });
      else expect(verdict).toMatchObject({ status: 'pending', retryMs: RETRY_DELAYS_MS[tries - 1], gone: false });
    }),
  );
  const failure = { kind: 'failure', reason: 'ECONNREFUSED', timedOut: false } as const;
  expect(judge(failure, { ...at, tries: 1 })).toMatchObject({ status: 'pending', error: 'ECONNREFUSED' });
  expect(judge(failure, { ...at, tries: 1, isTest: true })).toMatchObject({ status: 'failed', retryMs: null });
});

test('any response body can be stored', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: RESPONSE_BYTES }), bytes => {
      expect(isStorable(storableText(Buffer.from(bytes)))).toBe(true);
    }),
  );
  const cut = Buffer.from(`${'x'.repeat(RESPONSE_BYTES - 2)}€`).subarray(0, RESPONSE_BYTES);
  expect(storableText(cut)).toBe('x'.repeat(RESPONSE_BYTES - 2));
  expect(storableText(Buffer.from('a\0b'))).toBe('ab');
});

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
    parseHeaders([{ name, value: 'x' }], errors);
    expect([name, Object.keys(errors.fields)]).toEqual([name, ['headers']]);
  }
  const errors = new FieldErrorList();
  const headers = [
    { name: 'Authorization', value: ' Basic abc ' },
    { name: 'x-api-key', value: '' },
  ];
  expect(parseHeaders(headers, errors)).toEqual([
    { name: 'Authorization', value: 'Basic abc' },
    { name: 'x-api-key', value: '' },
  ]);
  expect(errors.isEmpty).toBe(true);
  parseHeaders([...headers, { name: 'AUTHORIZATION', value: 'x' }], errors);
  expect(errors.fields['headers']).toEqual(['AUTHORIZATION is there twice.']);
});

test('a queue returns every delivery once and in order during concurrent changes, inserts and restarts', async () => {
  const at = '2026-01-31T07:58:39.120Z';
  const idOf = (index: number): string => `019b76da-a800-7000-8000-${String(index).padStart(12, '0')}`;
  const rowOf = (index: number) => ({ id: idOf(index), next_attempt_at: at }) as Claimed;
  const target = { enabled: true, tenant_status: 'active', failing_since: null } as Target;
  const steps = fc.array(fc.constantFrom('take', 'take', 'take', 'change', 'put', 'wait', 'again'), { maxLength: 300 });
  await fc.assert(
    fc.asyncProperty(fc.nat({ max: 120 }), fc.integer({ min: 1, max: 40 }), steps, async (first, limit, actions) => {
      /** What waits in the table. */
      let waiting = Array.from({ length: first }, (_, index) => rowOf(index));
      let made = first;
      const taken: string[] = [];
      let fetching = Promise.resolve();
      const fetch = async (one: EndpointQueue): Promise<void> => {
        await new Promise(resolve => setImmediate(resolve));
        one.fill(target, performance.now(), () => ({}) as OpenTarget);
        const { wanted } = one;
        if (!wanted) return;
        const found = waiting.filter(row => wanted.behind === undefined || row.id > wanted.behind.id).slice(0, limit);
        await new Promise(resolve => setImmediate(resolve));
        one.add(found, found.length >= limit);
      };
      const queue = new EndpointQueue(1, 2, one => {
        fetching = fetching.then(() => fetch(one));
        return fetching;
      });
      const take = async (): Promise<boolean> => {
        const next = await queue.next();
        if (next) taken.push(next.id);
        return next !== undefined;
      };
      for (const action of actions) {
        if (action === 'take') await take();
        if (action === 'change') queue.refresh();
        if (action === 'wait') await new Promise(resolve => setImmediate(resolve));
        if (action === 'put') {
          waiting.push(rowOf(made));
          made += 1;
          queue.wake();
        }
        if (action === 'again') {
          // All that was taken is written by then, and so waits no more.
          waiting = waiting.filter(row => !taken.includes(row.id));
          await queue.restart();
        }
      }
      queue.wake();
      while (await take()) queue.wake();
      expect(taken).toEqual(Array.from({ length: made }, (_, index) => idOf(index)));
    }),
    // The example: a delivery is queued while a fetch that has read the table is on its way.
    { numRuns: 60, examples: [[5, 5, ['take', 'wait', 'put']]] },
  );
});

test('a queue knows since when its endpoint fails as of the last read, and its own change until that is written', async () => {
  let failing_for_ms: number | null = 1_000;
  const written = Promise.withResolvers<void>();
  const row = (id: string) => ({ id, next_attempt_at: '2026-01-31T07:58:39.120Z' }) as Claimed;
  const queue = new EndpointQueue(1, 2, async one => {
    const beganAt = performance.now();
    await new Promise(resolve => setImmediate(resolve));
    one.fill({ enabled: true, tenant_status: 'active', failing_for_ms } as Target, beganAt, () => ({}) as OpenTarget);
    one.add([row('a')], true);
  });
  const next = async () => {
    queue.refresh();
    await queue.next();
    return queue.failingForMs;
  };
  expect(await next()).toBe(1_000);
  failing_for_ms = 2_000;
  expect(await next()).toBe(2_000);
  queue.noteHealth(false, written.promise);
  expect(await next()).toBeNull();
  failing_for_ms = null;
  written.resolve();
  await written.promise;
  expect(await next()).toBeNull();
  failing_for_ms = 5;
  expect(await next()).toBe(5);
});
