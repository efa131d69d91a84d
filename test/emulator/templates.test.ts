import { describe, expect, test } from 'vitest';
import type { TemplateSeed } from '../../src/emulator/template-store.ts';
import { type GraphBody, NUMBER, PERSON, startNetwork } from '../network/network.ts';

const EDGE = `${NUMBER.wabaId}/message_templates`;
const body = (text: string) => [{ type: 'BODY', text }];
const seeds = (count: number): TemplateSeed[] =>
  Array.from({ length: count }, (_, i) => ({
    name: `t_${i}`,
    language: 'en_US',
    category: 'UTILITY',
    components: body('Hi'),
  }));

const SALE: TemplateSeed = {
  name: 'sale',
  language: 'en_US',
  category: 'MARKETING',
  components: body('Hi {{1}}, use {{2}} today.'),
};
const NAMED: TemplateSeed = {
  name: 'named',
  language: 'en_US',
  category: 'UTILITY',
  parameterFormat: 'NAMED',
  components: body('Hi {{first}} and {{last}}!'),
};
const OTP: TemplateSeed = {
  name: 'otp',
  language: 'en_US',
  category: 'AUTHENTICATION',
  components: [
    { type: 'BODY', add_security_recommendation: true },
    { type: 'BUTTONS', buttons: [{ type: 'OTP', otp_type: 'COPY_CODE' }] },
  ],
};

const texts = (...values: string[]) => values.map(text => ({ type: 'text', text }));
const send = (name: string, components: unknown[], to: object = { to: PERSON }) => ({
  messaging_product: 'whatsapp',
  ...to,
  type: 'template',
  template: { name, language: { code: 'en_US' }, components },
});

describe('the list of templates', () => {
  test('is exactly {"data":[]} if empty', async () => {
    const { graph } = await startNetwork({ templates: [] });
    expect((await graph('GET', EDGE)).body).toEqual({ data: [] });
  });

  test('has cursors.after but no next on its last page; following next returns each template once', async () => {
    const { graph } = await startNetwork({ templates: seeds(60) });
    const names: unknown[] = [];
    let page: GraphBody = (await graph('GET', `${EDGE}?limit=25`)).body;
    for (;;) {
      names.push(...(page.data ?? []).map(t => t['name']));
      expect(page.paging?.cursors.after).toEqual(expect.any(String));
      const next = page.paging?.next;
      if (next === undefined) break;
      page = (await (
        await fetch(next, { headers: { authorization: `Bearer ${NUMBER.accessToken}` } })
      ).json()) as GraphBody;
    }
    expect(names).toEqual(seeds(60).map(t => t.name));
  });

  test('is filtered by name and status', async () => {
    const { graph } = await startNetwork({ templates: [...seeds(3), { ...SALE, status: 'PAUSED' }] });
    expect((await graph('GET', `${EDGE}?name=sale`)).body.data).toHaveLength(1);
    expect((await graph('GET', `${EDGE}?status=APPROVED&fields=name`)).body.data?.[0]).toEqual({
      id: expect.any(String),
      name: 't_0',
    });
  });
});

describe('a template', () => {
  test('is created pending, reviewed, announced, edited and deleted', async () => {
    const { graph, emulator, receiver } = await startNetwork({ templates: [] });
    const created = await graph('POST', EDGE, {
      name: 'order_update',
      language: 'en_US',
      category: 'UTILITY',
      components: body('Your order {{1}} is here.'),
    });
    expect(created.body).toMatchObject({ status: 'PENDING', category: 'UTILITY' });
    const id = created.body.id ?? '';
    await expect.poll(async () => (await graph('GET', id)).body['status']).toBe('APPROVED');
    await emulator.settled();
    expect(receiver.updates()).toMatchObject([
      {
        kind: 'template',
        name: 'order_update',
        // The webhook contains en-US.
        language: 'en_US',
        status: { word: 'APPROVED', reason: null },
      },
    ]);
    expect((await graph('POST', id, { components: body('Order {{1}} came.') })).body).toEqual({ success: true });
    expect((await graph('DELETE', `${EDGE}?name=order_update`)).body).toEqual({ success: true });
    expect((await graph('GET', EDGE)).body).toEqual({ data: [] });
  });

  test.each([
    ['a name with capitals', { name: 'Order', language: 'en_US', category: 'UTILITY', components: body('x') }],
    ['a variable at the end', { name: 'a', language: 'en_US', category: 'UTILITY', components: body('Hello {{1}}') }],
    ['no body', { name: 'a', language: 'en_US', category: 'UTILITY', components: [] }],
    ['an unknown category', { name: 'a', language: 'en_US', category: 'NEWS', components: body('x') }],
    ['a name and language that exist', { name: 'sale', language: 'en_US', category: 'UTILITY', components: body('x') }],
  ])('with %s is rejected', async (_what, template) => {
    const { graph } = await startNetwork({ templates: [SALE] });
    expect((await graph('POST', EDGE, template)).body.error?.code).toBe(100);
  });
});

describe('sending a template', () => {
  test.each([
    [
      'with its parameters is accepted',
      SALE,
      send('sale', [{ type: 'body', parameters: texts('Ana', 'FALL25') }]),
      200,
      undefined,
    ],
    [
      'with too few parameters is rejected',
      SALE,
      send('sale', [{ type: 'body', parameters: texts('Ana') }]),
      400,
      132000,
    ],
    [
      'with upper-case types is accepted',
      SALE,
      send('sale', [
        {
          type: 'BODY',
          parameters: [
            { type: 'TEXT', text: 'a' },
            { type: 'TEXT', text: 'b' },
          ],
        },
      ]),
      200,
      undefined,
    ],
    ['that is paused is rejected', { ...SALE, status: 'PAUSED' }, send('sale', []), 400, 132015],
    ['that is disabled is rejected', { ...SALE, status: 'DISABLED' }, send('sale', []), 400, 132016],
    ['that is pending is refused as not there', { ...SALE, status: 'PENDING' }, send('sale', []), 400, 132001],
    [
      'with named parameters without names is rejected',
      NAMED,
      send('named', [{ type: 'body', parameters: texts('A', 'B') }]),
      400,
      132012,
    ],
    ['with a code on its button is taken', OTP, send('otp', otp('123456')), 200, undefined],
    ['with a code only in the body is rejected', OTP, send('otp', otp('123456').slice(0, 1)), 400, 131008],
    ['with a code to a user id is rejected', OTP, send('otp', otp('123456'), { recipient: 'US.1' }), 400, 131062],
  ] as const)('%s', async (_what, seed, message, status, code) => {
    const { graph } = await startNetwork({ templates: [seed], faults: { templateReview: 'manual' } });
    const answer = await graph('POST', `${NUMBER.phoneNumberId}/messages`, message);
    expect(answer.body.error?.code).toBe(code);
    expect(answer.status).toBe(status);
  });

  test('fills the parameters into the readable text', async () => {
    const { graph, emulator } = await startNetwork({ templates: [SALE] });
    await graph(
      'POST',
      `${NUMBER.phoneNumberId}/messages`,
      send('sale', [{ type: 'body', parameters: texts('Ana', 'FALL25') }]),
    );
    expect(emulator.sent().messages).toMatchObject([
      { body: 'Hi Ana, use FALL25 today.', type: 'template', category: 'marketing' },
    ]);
  });
});

function otp(code: string) {
  return [
    { type: 'body', parameters: texts(code) },
    { type: 'button', sub_type: 'url', index: 0, parameters: texts(code) },
  ];
}
