import fc from 'fast-check';
import { Webhook } from 'standardwebhooks';
import { describe, expect, test } from 'vitest';
import { parsePath, type Step, textAt, valueAt } from '../../../../src/features/integrations/intake/path.ts';
import { parsePayload } from '../../../../src/features/integrations/intake/payload.ts';
import {
  isAuthentic,
  nameDelivery,
  signatureOf,
  TOLERANCE_MS,
} from '../../../../src/features/integrations/intake/signature.ts';
import type { IntegrationRow } from '../../../../src/features/integrations/integration.ts';
import { mismatchOf } from '../../../../src/features/integrations/mappings/mapping.ts';
import type { Kind } from '../../../../src/features/integrations/mappings/paths.ts';
import { DEFAULT_PATHS, PATH_NAMES } from '../../../../src/features/integrations/mappings/paths.ts';
import {
  countryNamed,
  fillTemplate,
  readCustomer,
  readOrder,
} from '../../../../src/features/integrations/orders/order.ts';
import { topicOf } from '../../../../src/features/integrations/orders/process.ts';
import { SHOPIFY_ID, shopifyOrder, wooOrder } from '../fixtures.ts';

const name = fc.oneof(
  fc.stringMatching(/^[\w$@:-]{1,12}$/),
  fc.constantFrom('__proto__', 'constructor', 'toString', 'length', 'prénom', '0'),
);
const steps = fc.array(fc.oneof(name, fc.nat({ max: 5 })), { minLength: 1, maxLength: 6 });
const written = (path: readonly Step[]): string =>
  path.reduce<string>(
    (text, step, at) => text + (typeof step === 'number' ? `[${step}]` : `${at === 0 ? '' : '.'}${step}`),
    '',
  );

describe('a path', () => {
  test('is parsed as written', () =>
    fc.assert(fc.property(steps, path => void expect(parsePath(written(path))).toEqual(path))));

  test('that is malformed is rejected and finds nothing', () => {
    const none = [
      '',
      '.',
      'a.',
      '.a',
      'a..b',
      'a[',
      'a[]',
      'a[-1]',
      'a[01]',
      'a[x]',
      'a]',
      'a b',
      "a['b']",
      'a.b()',
      'a[*]',
      '*',
      'a\0b',
    ];
    for (const text of [...none, 'a'.repeat(201)]) {
      expect(parsePath(text), text).toBeUndefined();
      expect(valueAt({ '': 1, a: [1], 'a b': 1 }, text), text).toBeUndefined();
    }
    fc.assert(
      fc.property(fc.string(), text => {
        const path = parsePath(text);
        // What is taken for a path is one: written down again it is the same text.
        if (path) expect(written(path)).toBe(text);
      }),
    );
  });

  test('finds own properties and nothing inherited', () =>
    fc.assert(
      fc.property(steps, fc.anything({ maxDepth: 1 }), (path, value) => {
        const holder = path.reduceRight<unknown>((inner, step) => {
          if (typeof step === 'number') return Object.assign([], { [step]: inner });
          return Object.defineProperty({}, step, { value: inner, enumerable: true });
        }, value);
        expect(valueAt(holder, written(path))).toBe(value);
        for (const foreign of ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'constructor.name'])
          for (const root of [{}, [], 'text', 7, null, JSON.parse('{"a":{}}')])
            expect(valueAt(root, foreign)).toBeUndefined();
      }),
    ));

  test('uses indexes for lists and names for objects only', () => {
    expect(valueAt({ list: ['a'] }, 'list.0')).toBeUndefined();
    expect(valueAt({ list: ['a'] }, 'list.length')).toBeUndefined();
    expect(valueAt({ map: { '0': 'a' } }, 'map[0]')).toBeUndefined();
    expect(valueAt({ map: { '0': 'a' } }, 'map.0')).toBe('a');
  });

  test('returns texts, numbers and Booleans as text; lists, objects, null and blanks are missing', () => {
    const payload = { text: ' a ', zero: 0, no: false, blank: '  ', list: ['x'], object: {}, none: null };
    expect(['text', 'zero', 'no'].map(path => textAt(payload, path))).toEqual(['a', '0', 'false']);
    for (const path of ['blank', 'list', 'object', 'none', 'other']) expect(textAt(payload, path)).toBeUndefined();
  });
});

describe('a payload', () => {
  test('keeps ids beyond 2^53 exactly, and removes what cannot be stored', () => {
    expect(parsePayload(Buffer.from('{"id":820982911946154508,"a":1.5,"b":-9007199254740993,"c":12}'))).toEqual({
      id: '820982911946154508',
      a: 1.5,
      b: '-9007199254740993',
      c: 12,
    });
    expect(parsePayload(Buffer.from('\uFEFF{"name":"A\\u0000na \\ud83d"}'))).toEqual({ name: 'Ana \ufffd' });
  });

  test.each([
    ['1e400', '1e400'],
    ['-2e999', '-2e999'],
    ['123456789012345678901234567890', '123456789012345678901234567890'],
    ['1234567890.12345678901', '1234567890.12345678901'],
    ['1.0000000000000000001', '1.0000000000000000001'],
    ['9007199254740991', '9007199254740991'],
    ['100.50', '100.5'],
    ['1e3', '1000'],
  ])('has the order id %s, and no other order the same', (written, id) => {
    expect(readOrder(parsePayload(Buffer.from(`{"id":${written}}`)), DEFAULT_PATHS.woocommerce)?.id).toBe(id);
  });

  test('names its event, of at most 200 characters, by a text that can be stored', () => {
    const generic = { kind: 'generic', topic_path: 'event' } as IntegrationRow;
    expect(topicOf(generic, '', { event: `${'x'.repeat(199)}🛵` })).toBe(`${'x'.repeat(199)}\ufffd`);
  });

  test('that is not a JSON object or list, or nested too deeply, is rejected; brackets in texts do not count', () => {
    for (const text of [
      '',
      'x',
      '1',
      '"a"',
      'null',
      '{"a":',
      `${'['.repeat(65)}${']'.repeat(65)}`,
      '['.repeat(500_000),
    ])
      expect(parsePayload(Buffer.from(text)), text.slice(0, 20)).toBeUndefined();
    expect(parsePayload(Buffer.from(`{"a":"${'[{'.repeat(100)}\\"["}`))).toBeDefined();
    expect(parsePayload(Buffer.from(`${'['.repeat(64)}${']'.repeat(64)}`))).toBeDefined();
  });

  test('is equal to its JSON', () =>
    fc.assert(
      fc.property(
        fc.object({
          maxDepth: 3,
          values: [fc.string({ unit: 'grapheme' }), fc.integer(), fc.boolean(), fc.constant(null)],
        }),
        value => {
          const text = JSON.stringify(value);
          expect(parsePayload(Buffer.from(text))).toEqual(JSON.parse(text));
        },
      ),
    ));
});

describe('a signature', () => {
  const body = Buffer.from('{"id":1}');
  const now = 1_614_265_330_000;

  test("is WooCommerce's: the check value", () => {
    expect(signatureOf(body, 'secret')).toBe('A971iWIMgT8Zj9A9eWfikrFj7wQ16/Qwcc4OlRl2PLc=');
    const headers = { 'x-wc-webhook-signature': 'A971iWIMgT8Zj9A9eWfikrFj7wQ16/Qwcc4OlRl2PLc=' };
    expect(isAuthentic('woocommerce', headers, body, ['secret'], now)).toBe(true);
    expect(isAuthentic('woocommerce', headers, body, ['other', 'secret'], now)).toBe(true);
    expect(isAuthentic('woocommerce', headers, body, ['other'], now)).toBe(false);
    expect(isAuthentic('woocommerce', headers, body, [], now)).toBe(false);
    expect(isAuthentic('shopify', headers, body, ['secret'], now)).toBe(false);
  });

  test('of Standard Webhooks is valid within five minutes of our clock, under any valid secret: the test vector', () => {
    const [secret, payload] = ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', Buffer.from('{"test": 2432232314}')];
    const headers = {
      'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      'webhook-timestamp': '1614265330',
      'webhook-signature': 'v1,AAAA v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    };
    const holds = (nowMs: number, of: object = {}, secrets = ['whsec_AAAA', secret]) =>
      isAuthentic('generic', { ...headers, ...of }, payload, secrets, nowMs);
    expect(holds(now)).toBe(true);
    expect([holds(now + TOLERANCE_MS), holds(now - TOLERANCE_MS)]).toEqual([true, true]);
    expect([holds(now + TOLERANCE_MS + 1), holds(now - TOLERANCE_MS - 1)]).toEqual([false, false]);
    expect(holds(now, { 'webhook-id': 'msg_other' })).toBe(false);
    expect(holds(now, { 'webhook-timestamp': '1614265331' })).toBe(false);
    expect(holds(now, { 'webhook-timestamp': 'x' })).toBe(false);
    expect(holds(now, {}, ['whsec_AAAA'])).toBe(false);
    expect(holds(now, { 'webhook-signature': `v2,${headers['webhook-signature'].slice(12)}` })).toBe(false);
  });

  test('of the library is valid for any secret, and no other is', () =>
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 8, maxLength: 40 }), fc.string(), fc.string(), (key, text, other) => {
        const secret = `whsec_${Buffer.from(key).toString('base64')}`;
        const signature = new Webhook(secret).sign('id', new Date(now), Buffer.from(text));
        const headers = {
          'webhook-id': 'id',
          'webhook-timestamp': String(now / 1_000),
          'webhook-signature': signature,
        };
        expect(isAuthentic('generic', headers, Buffer.from(text), [secret], now)).toBe(true);
        expect(isAuthentic('generic', headers, Buffer.from(other), [secret], now)).toBe(other === text);
      }),
    ));

  test('is not required if the header contains the secret, which must match', () => {
    const holds = (given: string) => isAuthentic('generic', { 'x-parley-secret': given }, body, ['01234567'], now);
    expect(['01234567', '0123456', '012345678', '01234568'].map(holds)).toEqual([true, false, false, false]);
  });
});

describe('two deliveries are the same', () => {
  const key = (kind: Kind, headers: Record<string, string>, body = '{}') =>
    nameDelivery(kind, headers, Buffer.from(body)).dedupeKey.toString('hex');

  test('of WooCommerce by id, topic and body', () => {
    const of = { 'x-wc-webhook-topic': 'order.created', 'x-wc-webhook-delivery-id': 'd' };
    expect(key('woocommerce', of)).toBe(key('woocommerce', { ...of }));
    expect(key('woocommerce', of)).not.toBe(key('woocommerce', of, '{"id":2}'));
    expect(key('woocommerce', of)).not.toBe(key('woocommerce', { ...of, 'x-wc-webhook-topic': 'order.updated' }));
    expect(key('woocommerce', of)).not.toBe(key('woocommerce', { ...of, 'x-wc-webhook-delivery-id': 'e' }));
  });

  test('of Shopify and Standard Webhooks by id, of others by content', () => {
    const shopify = { 'x-shopify-topic': 'orders/create', 'x-shopify-webhook-id': 'w', 'x-shopify-event-id': 'e' };
    expect(key('shopify', shopify)).toBe(key('shopify', { ...shopify, 'x-shopify-event-id': 'f' }, '{"a":1}'));
    expect(key('shopify', shopify)).not.toBe(key('shopify', { ...shopify, 'x-shopify-webhook-id': 'v' }));
    expect(key('generic', { 'webhook-id': 'm' })).toBe(key('generic', { 'webhook-id': 'm' }, '{"a":1}'));
    expect(key('generic', {})).toBe(key('generic', {}));
    expect(key('generic', {})).not.toBe(key('generic', {}, '{"a":1}'));
  });
});

test.each([
  [
    'of the billing address, which has the number',
    { billing: { country: 'DE', phone: '0171 1234567' } },
    '+491711234567',
  ],
  ['with separators', { billing: { country: 'DE', phone: '(0171) 123-4567' } }, '+491711234567'],
  ['of another country than the integration', { billing: { country: 'AT', phone: '0664 1234567' } }, '+436641234567'],
  [
    'of the shipping address, if that has the number',
    { billing: { country: 'DE', phone: '' }, shipping: { country: 'AT', phone: '0664 1234567' } },
    '+436641234567',
  ],
  ['of the other address, if its own has none', { billing: { country: '', phone: '0171 1234567' } }, '+491711234567'],
])('a national number of a WooCommerce order is read in the country %s', (_name, of, e164) => {
  const payload = parsePayload(Buffer.from(JSON.stringify(wooOrder(of))));
  expect(readCustomer(payload, DEFAULT_PATHS.woocommerce, 'FR').phone.e164).toBe(e164);
});

test.each([
  [
    'billing',
    {
      billing_address: { phone: '0171 1234567', country_code: 'DE' },
      shipping_address: { phone: null, country_code: 'AT' },
    },
    '+491711234567',
  ],
  [
    'shipping',
    {
      billing_address: { phone: null, country_code: 'DE' },
      shipping_address: { phone: '0664 1234567', country_code: 'AT' },
    },
    '+436641234567',
  ],
  [
    'default',
    {
      billing_address: null,
      shipping_address: null,
      customer: { phone: '07911 123456', default_address: { country_code: 'GB' } },
    },
    '+447911123456',
  ],
])('a national number of a Shopify order is read in the country of its %s address', (_name, of, e164) => {
  const payload = parsePayload(Buffer.from(JSON.stringify({ ...JSON.parse(shopifyOrder()), ...of })));
  expect(readCustomer(payload, DEFAULT_PATHS.shopify, 'FR').phone.e164).toBe(e164);
});

test('the default paths find order and customer of each shop', () => {
  const woo = parsePayload(Buffer.from(JSON.stringify(wooOrder())));
  expect(readOrder(woo, DEFAULT_PATHS.woocommerce)).toEqual({
    id: '727',
    number: '727',
    status: 'processing',
    total: '64.80',
    currency: 'EUR',
  });
  expect(readCustomer(woo, DEFAULT_PATHS.woocommerce, null)).toEqual({
    phone: { e164: '+4915123456789', key: '4915123456789' },
    firstName: 'Ana',
    lastName: 'Müller',
    email: 'ana@example.com',
  });
  const shopify = parsePayload(Buffer.from(shopifyOrder()));
  expect(readOrder(shopify, DEFAULT_PATHS.shopify)).toEqual({
    id: SHOPIFY_ID,
    number: '#9999',
    status: 'paid',
    total: '404.95',
    currency: 'USD',
  });
  expect(readCustomer(shopify, DEFAULT_PATHS.shopify, null)).toMatchObject({
    phone: { e164: '+14155552671' },
    firstName: 'John',
    lastName: 'Smith',
  });
  for (const paths of Object.values(DEFAULT_PATHS))
    for (const path of PATH_NAMES.flatMap(one => paths[one])) expect(parsePath(path), path).toBeDefined();
});

test('without a country a national number is invalid; the default country is used last', () => {
  const read = (payload: object, country: string | null) => {
    try {
      return readCustomer(payload, DEFAULT_PATHS.generic, country).phone.e164;
    } catch (error) {
      return (error as { reason: { code: string; path: string } }).reason;
    }
  };
  expect(read({ phone: '4155552671' }, null)).toMatchObject({ code: 'PHONE_INVALID', path: 'phone' });
  expect(read({ phone: '4155552671' }, 'US')).toBe('+14155552671');
  expect(read({ phone: '4155552671', country: 'us' }, 'DE')).toBe('+14155552671');
  expect(read({ phone: '0151 23456789', country: 'Germany' }, 'US')).toBe('+4915123456789');
  expect(read({ customer: { phone: '12' } }, 'US')).toMatchObject({ code: 'PHONE_INVALID', path: 'customer.phone' });
  expect(read({}, 'US')).toMatchObject({ code: 'PHONE_MISSING', path: 'phone' });
  expect([countryNamed('DEU'), countryNamed('de'), countryNamed('Nowhere')]).toEqual(['DE', 'DE', undefined]);
});

test('a mapping applies to its topics and statuses, and to nothing while disabled', () => {
  const mapping = { is_enabled: true, topics: ['order.created'], statuses: ['processing'] } as unknown as Parameters<
    typeof mismatchOf
  >[0];
  expect(mismatchOf(mapping, 'order.created', 'Processing')).toBeUndefined();
  expect(mismatchOf(mapping, 'order.updated', 'processing')).toBe('OTHER_TOPIC');
  expect(mismatchOf(mapping, 'order.created', undefined)).toBe('OTHER_STATUS');
  expect(mismatchOf({ ...mapping, is_enabled: false }, 'order.created', 'processing')).toBe('SWITCHED_OFF');
  expect(mismatchOf({ ...mapping, topics: [], statuses: [] }, 'x', undefined)).toBeUndefined();
});

test('values are cleaned for the network: one line, single spaces, no merge fields written by customers', () => {
  const template = {
    name: 'x',
    language: 'en',
    body: [{ path: 'note' }, { text: '@{contact_first_name}' }, { path: 'gone', fallback: 'you' }, { path: 'gone' }],
  };
  const { values, faults, parameters } = fillTemplate(template, { note: 'a\n\tb     c @{contact_phone}' });
  expect(values.body).toEqual(['a b c @\u200b{contact_phone}', '@{contact_first_name}', 'you', '']);
  expect(faults).toEqual([
    {
      code: 'PARAMETER_MISSING',
      field: 'body.3',
      path: 'gone',
      message: expect.stringContaining('at gone for {{4}}'),
    },
  ]);
  expect(parameters.map(({ path }) => path)).toEqual(['note', null, 'gone', 'gone']);
});
