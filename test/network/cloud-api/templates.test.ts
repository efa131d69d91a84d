import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import fc from 'fast-check';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { TemplateSeed } from '../../../src/emulator/template-store.ts';
import { readTemplateUpdate } from '../../../src/network/cloud-api/templates.ts';
import {
  type ChannelCredentials,
  type Network,
  NetworkCallError,
  type NetworkTemplate,
} from '../../../src/network/network.ts';
import { CHANNEL, createClient, NUMBER, startNetwork } from '../network.ts';
import { parseWebhook } from '../parse.ts';

const BODY = [{ type: 'BODY', text: 'Hi' }];
const seeds = (count: number): TemplateSeed[] =>
  Array.from({ length: count }, (_, i) => ({
    name: `t_${i}`,
    language: 'en_US',
    category: 'UTILITY',
    components: BODY,
  }));

async function all(network: Network, channel: ChannelCredentials = CHANNEL): Promise<NetworkTemplate[][]> {
  const pages: NetworkTemplate[][] = [];
  for await (const page of network.templatePages(channel)) pages.push([...page]);
  return pages;
}

/** A network with a fixed sequence of responses, which records the requests. */
async function answering(
  ...answers: readonly unknown[]
): Promise<{ network: Network; seen: IncomingMessage[]; url: string }> {
  const seen: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    const answer = answers[Math.min(seen.push(request), answers.length) - 1];
    request.resume();
    const isError = typeof answer === 'object' && answer !== null && 'error' in answer;
    response.writeHead(isError ? 400 : 200).end(typeof answer === 'string' ? answer : JSON.stringify(answer));
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { network: createClient(url), seen, url };
}

const page = (names: readonly string[], next?: string, after = 'MAZDZD') => ({
  data: names.map(name => ({
    id: name,
    name,
    language: 'en_US',
    status: 'APPROVED',
    category: 'UTILITY',
    components: BODY,
  })),
  paging: { cursors: { before: 'x', after }, ...(next !== undefined && { next }) },
});

describe('templatePages', () => {
  test.each([0, 1, 25, 100, 101, 230])('lists %i templates once each, in pages of 100', async count => {
    const { network } = await startNetwork({ templates: seeds(count) });
    const pages = await all(network);
    expect(pages.flat().map(({ name }) => name)).toEqual(seeds(count).map(({ name }) => name));
    expect(pages).toHaveLength(Math.max(1, Math.ceil(count / 100)));
  });

  test('ends without `next`, although the last page has a cursor', async () => {
    const { network, seen } = await answering(
      page(['a'], 'https://graph.example/next', 'ONE'),
      page(['b'], undefined, 'TWO'),
    );
    expect((await all(network)).flat().map(({ name }) => name)).toEqual(['a', 'b']);
    expect(seen.map(({ url }) => new URL(url ?? '', 'http://x').searchParams.get('after'))).toEqual([null, 'ONE']);
  });

  test('takes the cursor from `next` if `cursors` is missing, and never requests that URL', async () => {
    const first = { ...page(['a']), paging: { next: 'https://evil.example/v24.0/1/message_templates?after=CURSOR' } };
    const { network, seen } = await answering(first, page(['b']));
    expect((await all(network)).flat()).toHaveLength(2);
    expect(seen[1]?.url).toContain('after=CURSOR');
  });

  test('fails instead of looping if the list repeats', async () => {
    const { network, seen } = await answering(page(['a'], 'https://graph.example/next', 'SAME'));
    await expect(all(network)).rejects.toThrow('does not end');
    expect(seen).toHaveLength(2);
  });

  test('requests and reads the fields that the network omits by default', async () => {
    const { network, seen } = await answering({
      data: [
        {
          ...page(['a']).data[0],
          language: 'pt-BR',
          quality_score: { score: 'GREEN', date: 1 },
          rejected_reason: 'NONE',
          parameter_format: 'NAMED',
        },
      ],
    });
    expect((await all(network)).flat()).toEqual([
      {
        id: 'a',
        name: 'a',
        language: 'pt_BR',
        status: 'APPROVED',
        category: 'UTILITY',
        statusReason: null,
        parameterFormat: 'NAMED',
        quality: 'GREEN',
        components: BODY,
      },
    ]);
    expect(seen[0]?.url).toContain('quality_score%2Crejected_reason');
  });

  test('removes characters that PostgreSQL cannot store', async () => {
    const text =
      '{"data":[{"id":"1","name":"a","language":"en","status":"APPROVED","components":[{"type":"BODY","text":"x\\u0000y\\ud83d"}]}]}';
    const { network } = await answering(text);
    expect((await all(network)).flat()[0]?.components).toEqual([{ type: 'BODY', text: 'xy\ufffd' }]);
  });

  test('turns arbitrary JSON into templates or a NetworkCallError', async () => {
    const values = fc.sample(fc.jsonValue({ maxDepth: 3 }), 40);
    for (const value of values) {
      const { network } = await answering({ data: [value, page(['good']).data[0]] });
      expect((await all(network)).flat().at(-1)?.name).toBe('good');
    }
  });

  test.each([
    [
      'OAuthException',
      { error: { message: '(#80007) Too many', type: 'OAuthException', code: 80_007 } },
      'retry_after_wait',
    ],
    [
      'GraphMethodException',
      { error: { message: 'Unsupported get request.', type: 'GraphMethodException', code: 100, error_subcode: 33 } },
      'auth',
    ],
    ['an object instead of a list', { data: {} }, undefined],
    ['a proxy’s HTML page', '<html>', undefined],
  ])('rejects with the retry class if the response is %s', async (_what, answer, retryClass) => {
    const { network } = await answering(answer);
    const error: unknown = await all(network).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(NetworkCallError);
    expect((error as NetworkCallError).error?.retryClass).toBe(retryClass);
  });

  test('rejects for an account that the token may not see', async () => {
    const { network } = await startNetwork();
    await expect(all(network, { ...CHANNEL, wabaId: '999' })).rejects.toBeInstanceOf(NetworkCallError);
  });
});

describe('a template', () => {
  const definition = {
    name: 'order',
    language: 'en_US',
    category: 'UTILITY',
    parameterFormat: 'NAMED',
    components: [{ type: 'BODY', text: 'Dear {{first_name}}!' }],
  } as const;

  test('is created as PENDING, and deleted only in its language', async () => {
    const { network, graph, emulator } = await startNetwork({ templates: [] });
    emulator.setFaults({ templateReview: 'manual' });
    const created = await network.createTemplate(CHANNEL, definition);
    expect(created).toEqual({ id: expect.stringMatching(/^\d+$/), status: 'PENDING', category: 'UTILITY' });
    await network.createTemplate(CHANNEL, { ...definition, language: 'de' });
    expect((await all(network)).flat()).toMatchObject([
      { name: 'order', language: 'en_US', parameterFormat: 'NAMED' },
      { language: 'de' },
    ]);
    await network.deleteTemplate(CHANNEL, { id: created.id, name: 'order' });
    expect((await graph('GET', `${NUMBER.wabaId}/message_templates`)).body.data).toMatchObject([{ language: 'de' }]);
  });

  test('is rejected with the network’s error', async () => {
    const { network } = await startNetwork({ templates: [] });
    const refused = network.createTemplate(CHANNEL, { ...definition, components: [] });
    await expect(refused).rejects.toMatchObject({ error: { code: 100, retryClass: 'fix_request' } });
    await expect(network.deleteTemplate(CHANNEL, { id: '1', name: 'nobody' })).rejects.toMatchObject({
      error: { code: 100 },
    });
  });
});

describe('a webhook about templates', () => {
  const named = { message_template_id: 1, message_template_name: 'order', message_template_language: 'en-US' };
  const updatesOf = (field: string, value: object) =>
    parseWebhook({ entry: [{ id: '419', changes: [{ field, value }] }] });
  const template = { kind: 'template', wabaId: '419', name: 'order', language: 'en_US' };

  test.each([
    [
      'message_template_status_update',
      { event: 'PAUSED', reason: 'LOW_QUALITY' },
      { status: { word: 'PAUSED', reason: 'LOW_QUALITY' } },
    ],
    [
      'message_template_status_update',
      { event: 'APPROVED', reason: 'NONE' },
      { status: { word: 'APPROVED', reason: null } },
    ],
    [
      'message_template_quality_update',
      { previous_quality_score: 'GREEN', new_quality_score: 'YELLOW' },
      { quality: 'YELLOW' },
    ],
    [
      'template_category_update',
      { previous_category: 'UTILITY', new_category: 'MARKETING' },
      { category: 'MARKETING' },
    ],
    ['template_category_update', { new_category: 'UTILITY', correct_category: 'MARKETING' }, { category: 'UTILITY' }],
    ['message_template_components_update', { message_template_element: 'x' }, {}],
  ])('%s %j is typed', (field, value, known) => {
    expect(updatesOf(field, { ...named, ...value })).toEqual([{ ...template, ...known }]);
  });

  test('without a template name or content is stored as unhandled', () => {
    for (const value of [{}, { event: 'APPROVED' }, named])
      expect(updatesOf('message_template_status_update', value)).toMatchObject([{ kind: 'unhandled' }]);
    expect(updatesOf('account_update', named)).toMatchObject([{ kind: 'unhandled' }]);
    expect(readTemplateUpdate('1', 'message_template_status_update', undefined)).toBeUndefined();
  });
});
