import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { type Rest, restOf, TIMESTAMP } from './client.ts';

let gateway: TestGateway;
let rest: Rest;

beforeAll(async () => {
  const HEADER = { type: 'HEADER', format: 'TEXT', text: 'For {{1}}' };
  const BODY = { type: 'BODY', text: 'Order {{1}} is on its way.' };
  gateway = await startGateway({
    templates: [{ name: 'order', language: 'en', category: 'UTILITY', components: [HEADER, BODY] }],
  });
  rest = restOf(gateway, gateway.tenant);
  await rest('POST', '/templates/sync');
});
afterAll(() => gateway.stop());

const base = { name: 'Prices', trigger: 'contains', keywords: ['price'], reply: { text: { text: 'It costs 5.' } } };

describe('bots', () => {
  it('are created, read, listed, updated and deleted', async () => {
    const created = await rest('POST', '/bots', { ...base, keywords: 'price, cost', priority: '7', is_enabled: 1 });
    expect(created.body).toMatchObject({ success: true, message: 'Bot created' });
    expect(created.status).toBe(201);
    const row = {
      id: expect.any(Number),
      name: 'Prices',
      kind: 'message',
      trigger: 'contains',
      keywords: ['price', 'cost'],
      pattern: null,
      is_enabled: true,
      priority: 7,
      others_may_answer: false,
      cooldown_seconds: 0,
      hand_over_minutes: 0,
      reply: { text: { text: 'It costs 5.' } },
      replies_count: 0,
      last_replied_at: null,
      last_refusal: null,
      created_at: expect.stringMatching(TIMESTAMP),
      updated_at: expect.stringMatching(TIMESTAMP),
    };
    expect(created.body.data).toEqual(row);
    const one = `/bots/${created.body.data.id}`;
    expect((await rest('GET', one)).body.data).toEqual(created.body.data);
    await rest('POST', '/bots', { ...base, name: 'Second', is_enabled: false });
    const names = async (query: string) => (await rest('GET', `/bots?fields=name&${query}`)).body.data;
    expect(await names('sort=-name')).toEqual([{ name: 'Second' }, { name: 'Prices' }]);
    expect(await names('filter[is_enabled]=true&filter[kind]=MESSAGE&search=cost')).toEqual([{ name: 'Prices' }]);
    expect(await names('filter[trigger]=regex')).toEqual([]);

    const changed = await rest('PATCH', one, { is_enabled: 'false', trigger: 'REGEX', pattern: 'pric(e|ing)' });
    expect(changed.body).toMatchObject({ message: 'Bot updated' });
    expect(changed.body.data).toEqual({
      ...row,
      is_enabled: false,
      trigger: 'regex',
      keywords: [],
      pattern: 'pric(e|ing)',
    });
    const removed = await rest('DELETE', one);
    expect(removed.body).toMatchObject({ message: 'Bot deleted', data: { id: created.body.data.id } });
    for (const [method, body] of [
      ['GET', undefined],
      ['PATCH', { name: 'x' }],
      ['DELETE', undefined],
    ] as const)
      expect((await rest(method, one, body)).body.error).toEqual({ code: 'NOT_FOUND', message: 'Bot not found.' });
  });

  it.each([
    ['interactive', { body: 'Which?', footer: 'Or not', buttons: [{ id: 'a', title: 'A' }] }],
    ['interactive', { body: 'x', cta_url: { display_text: 'Open', url: 'https://example.com' } }],
    [
      'interactive',
      { body: 'x', list: { button: 'Open', sections: [{ rows: [{ id: 'r', title: 'Row', description: 'More' }] }] } },
    ],
    ['media', { kind: 'document', link: 'https://example.com/a.pdf', caption: 'Yours', filename: 'a.pdf' }],
    ['template', { name: 'order', language: 'en', header: { text: '@{contact_first_name}' }, body: ['17'] }],
  ])('answer with the reply that was set: %s', async (type, reply) => {
    const created = await rest('POST', '/bots', { ...base, reply: { [type]: reply } });
    expect(created.body.data.reply).toEqual({ [type]: reply });
    expect(created.body.data.kind).toBe(type === 'template' ? 'template' : 'message');
    // What is read can be sent back as it is.
    const again = await rest('PATCH', `/bots/${created.body.data.id}`, created.body.data);
    expect(again.status, JSON.stringify(again.body)).toBe(200);
    expect(again.body.data.reply).toEqual(created.body.data.reply);
  });

  it('are created once for an idempotency key', async () => {
    const key = { 'idempotency-key': 'bot' };
    const [first, second] = [await rest('POST', '/bots', base, key), await rest('POST', '/bots', base, key)];
    expect(second.body.data).toEqual(first.body.data);
    expect(second.headers.get('idempotency-replayed')).toBe('true');
  });
});

test.each<[object, string]>([
  [{ name: '' }, 'name'],
  [{ trigger: 'sometimes' }, 'trigger'],
  [{ trigger: undefined }, 'trigger'],
  [{ keywords: [] }, 'keywords'],
  [{ keywords: ['a', { b: 1 }] }, 'keywords.1'],
  [{ priority: 'high' }, 'priority'],
  [{ cooldown_seconds: -1 }, 'cooldown_seconds'],
  [{ trigger: 'regex', keywords: undefined, pattern: '(' }, 'pattern'],
  [{ reply: undefined }, 'reply'],
  [{ reply: {} }, 'reply'],
  [{ reply: { text: {} } }, 'reply.text.text'],
  [{ reply: { text: { text: 'Hello @{nobody}' } } }, 'reply.text.text'],
  [{ reply: { interactive: { body: 'x', cta_url: { display_text: 'x' } } } }, 'reply.interactive.cta_url.url'],
  [
    { reply: { interactive: { body: 'x', cta_url: { display_text: 'x', url: 'x' } } } },
    'reply.interactive.cta_url.url',
  ],
  [{ reply: { media: { link: 'https://example.com' } } }, 'reply.media.kind'],
  [{ reply: { media: { kind: 'image', media_id: 'x' } } }, 'reply.media.media_id'],
  [{ reply: { template: { name: 'order', language: 'en', body: ['17'] } } }, 'reply.template.header.text'],
  [{ reply: { template: { name: 'order', language: 'en', header: { text: 'a' } } } }, 'reply.template.body.0'],
])('an invalid value is refused under the name that was sent: %j', async (change, field) => {
  const answer = await rest('POST', '/bots', { ...base, ...change });
  expect(answer.status).toBe(422);
  expect(Object.keys(answer.body.error.details)).toEqual([field]);
});
