import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { encodeGlobalId } from '../../../../src/core/global-ids.ts';
import type { TemplateSeed } from '../../../../src/emulator/template-store.ts';
import { codeOf, dataOf, faultsOf, payloadOf, userErrorsOf } from '../../../support/answers.ts';
import { eventually, type GraphQLAnswer, startGateway, type TestGateway } from '../../../support/gateway.ts';

const WORDS = ['alpha', 'beta', 'gamma', 'delta', 'epsilon'];
const TEMPLATES: readonly TemplateSeed[] = WORDS.flatMap((word, index) =>
  (['en_US', 'de'] as const).map(language => ({
    name: `${word}_${index % 2}`,
    language,
    category: index % 2 === 0 ? 'UTILITY' : 'MARKETING',
    status: language === 'de' && index === 0 ? 'PAUSED' : 'APPROVED',
    components: [
      { type: 'HEADER', format: 'IMAGE' },
      {
        type: 'BODY',
        text: `Dear {{1}}, the ${word} of {{2}} is 100% here_.`,
        example: { body_text: [['Ana', 'spring']] },
      },
      {
        type: 'BUTTONS',
        buttons: [{ type: 'URL', text: 'Go', url: 'https://x.example/{{1}}', example: ['https://x.example/77'] }],
      },
    ],
  })),
);

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway({ role: 'gateway', templates: TEMPLATES });
  dataOf(await gateway.mutate('syncTemplates', {}));
});
afterAll(() => gateway.stop());

const ask = async (document: string, variables = {}) => dataOf(await gateway.graphql(document, variables));
/** Path and code of each user error. */
const payloadErrors = (answer: GraphQLAnswer) => userErrorsOf(answer).map(({ path, code }) => [path.join('.'), code]);
const list = async (args: string) =>
  (await ask(`{ templates(${args.replace('WABA', gateway.tenant.wabaId)}) { totalCount nodes { name language } } }`))
    .templates;

describe('the list of templates', () => {
  test('is ordered by name, and pages by cursor contain each template once', async () => {
    const seen: string[] = [];
    for (let after: string | null = null; ; ) {
      const { templates } = await ask(
        'query ($after: String) { templates(first: 3, after: $after) { nodes { name language } pageInfo { endCursor hasNextPage } } }',
        { after },
      );
      seen.push(...templates.nodes.map((node: { name: string; language: string }) => `${node.name} ${node.language}`));
      if (!templates.pageInfo.hasNextPage) break;
      after = templates.pageInfo.endCursor;
    }
    expect(seen).toHaveLength(10);
    expect(new Set(seen).size).toBe(10);
    expect(seen.map(text => text.split(' ')[0])).toEqual(
      [...WORDS.map((word, index) => `${word}_${index % 2}`)].sort().flatMap(name => [name, name]),
    );
  });

  test.each([
    ['filter: { status: { eq: PAUSED } }', 1],
    ['filter: { status: { ne: PAUSED } }', 9],
    ['filter: { status: { in: [OTHER, DISABLED] } }', 0],
    ['filter: { networkStatus: { like: "AUS" } }', 1],
    ['filter: { category: { eq: MARKETING } }', 4],
    ['filter: { category: { notIn: [MARKETING] } }', 6],
    ['filter: { networkCategory: { eq: "UTILITY" } }', 6],
    ['filter: { quality: { eq: UNKNOWN } }', 10],
    ['filter: { quality: { isNull: true } }', 0],
    ['filter: { or: [{ status: { eq: PAUSED } }, { category: { eq: MARKETING } }] }', 5],
    ['filter: { not: { name: { like: "alpha%" } } }', 8],
    ['filter: { id: { eq: "987654321" } }', 0],
    ['filter: { language: { in: ["de", "fr"] } }', 5],
    ['filter: { name: { like: "%_1" }, language: { eq: "en_US" } }', 2],
    ['filter: { wabaId: { ne: "WABA" } }', 0],
    ['filter: { createdAt: { gt: "2020-01-01" } }', 10],
    ['search: "GAMMA of"', 2],
    ['search: "100%"', 10],
    ['search: "here_x"', 0],
    ['orderBy: [{ field: UPDATED_AT, direction: DESC }, { field: ID }]', 10],
  ])('%s shows %i', async (args, count) => {
    const { totalCount, nodes } = await list(args);
    expect([totalCount, nodes.length]).toEqual([count, count]);
  });
});

describe('one template', () => {
  const FIELDS =
    'id name category networkCategory status networkStatus header { format text parameters { name example } } body { text parameters { name example } } footer { text } buttons { index type text url needsParameter example } parameterFormat quality codeExpirationMinutes';
  const LOOK_UP: readonly (readonly [string, string, string])[] = [
    ['its global id', 'ID', 'template(id: $key)'],
    ['its databaseId', 'ID', 'template(id: $key)'],
    ['an identifier with its global id', 'ID', 'template: templateByIdentifier(identifier: { id: $key })'],
    ['an identifier with its databaseId', 'ID', 'template: templateByIdentifier(identifier: { id: $key })'],
    [
      'an identifier with its id on the network',
      'String',
      'template: templateByIdentifier(identifier: { networkId: $key })',
    ],
  ];

  test.each(LOOK_UP)('is found by %s, with its parts', async (key, type, field) => {
    const [keys] = (
      await ask(
        '{ templates(search: "alpha", filter: { language: { eq: "en_US" } }) { nodes { id databaseId networkId } } }',
      )
    ).templates.nodes;
    const value = key.endsWith('network') ? keys.networkId : key.endsWith('databaseId') ? keys.databaseId : keys.id;
    const { template } = await ask(`query ($key: ${type}!) { ${field} { ${FIELDS} } }`, { key: value });
    expect(template).toEqual({
      id: keys.id,
      name: 'alpha_0',
      category: 'UTILITY',
      networkCategory: 'UTILITY',
      status: 'APPROVED',
      networkStatus: 'APPROVED',
      header: { format: 'IMAGE', text: null, parameters: [] },
      body: {
        text: 'Dear {{1}}, the alpha of {{2}} is 100% here_.',
        parameters: [
          { name: '1', example: 'Ana' },
          { name: '2', example: 'spring' },
        ],
      },
      footer: null,
      buttons: [
        {
          index: 0,
          type: 'URL',
          text: 'Go',
          url: 'https://x.example/{{1}}',
          needsParameter: true,
          example: 'https://x.example/77',
        },
      ],
      parameterFormat: 'POSITIONAL',
      quality: 'UNKNOWN',
      codeExpirationMinutes: null,
    });
    const node = await ask('query ($id: ID!) { node(id: $id) { ... on Template { name } } }', { id: keys.id });
    expect(node).toEqual({ node: { name: 'alpha_0' } });
  });

  test('is null for an id that no template has', async () => {
    const ids = [
      '0',
      '987654321',
      '9'.repeat(33),
      'x',
      encodeGlobalId('Contact', gateway.tenant.id, '1'),
      '01890000-0000-7000-8000-000000000000',
    ];
    for (const id of ids)
      expect(
        await ask(
          'query ($id: ID!, $networkId: String!) { template(id: $id) { id } byId: templateByIdentifier(identifier: { id: $id }) { id } byNetwork: templateByIdentifier(identifier: { networkId: $networkId }) { id } }',
          { id, networkId: id },
        ),
      ).toEqual({ template: null, byId: null, byNetwork: null });
  });
});

describe('a created template', () => {
  const create = (given: object) =>
    gateway.mutate('createTemplate', given, 'template { id networkId name language status category raw }');
  const remove = (given: object) => gateway.mutate('deleteTemplate', given, 'deletedId');
  const sync = async () =>
    payloadOf(await gateway.mutate('syncTemplates', {}, 'createdCount updatedCount removedCount'));
  const input = {
    name: 'mine',
    language: 'pt-BR',
    category: 'UTILITY',
    components: [{ type: 'body', text: 'Oi {{1}}, tudo bem?' }],
  };

  test('is submitted, listed, and deleted on the network and here', async () => {
    gateway.emulator.setFaults({ templateReview: 'manual' });
    const { template } = payloadOf(await create(input));
    expect(template).toMatchObject({
      name: 'mine',
      language: 'pt_BR',
      status: 'PENDING',
      raw: [{ type: 'BODY', text: 'Oi {{1}}, tudo bem?' }],
    });
    expect((await list('filter: { name: { eq: "mine" } }')).totalCount).toBe(1);
    // Read back, it is what was submitted.
    const nothing = { createdCount: 0, updatedCount: 0, removedCount: 0 };
    expect(await sync()).toMatchObject(nothing);
    expect(payloadOf(await remove({ id: template.id })).deletedId).toBe(template.id);
    expect((await list('filter: { name: { eq: "mine" } }')).totalCount).toBe(0);
    expect(await sync()).toMatchObject(nothing);
    const events = await gateway.database.query<{ type: string; status: string }>(
      "select type, payload->'template'->>'status' as status from events where payload->'template'->>'name' = 'mine' order by xid, seq",
    );
    expect(events).toEqual([
      { type: 'template.created', status: 'PENDING' },
      { type: 'template.status_changed', status: 'DELETED' },
    ]);
  });

  test('with errors is not submitted; all errors are reported by field', async () => {
    const refused = await create({
      ...input,
      name: 'Mine',
      category: 'OTHER',
      components: [
        { type: 'BODY', text: '{{1}} hello' },
        { type: 'FOOTER', text: 'x'.repeat(61) },
      ],
    });
    expect(payloadErrors(refused)).toEqual([
      ['name', 'INVALID'],
      ['category', 'INVALID'],
      ['components.0.text', 'INVALID'],
      ['components.1.text', 'TOO_LONG'],
    ]);
    expect(refused.data.createTemplate.template).toBeNull();
    expect((await list('filter: { name: { like: "mine" } }')).totalCount).toBe(0);
  });

  test('that the network refuses is rejected with the network’s reason', async () => {
    const again = { ...input, name: 'alpha_0', language: 'de' };
    const refused = await create(again);
    expect(faultsOf(refused)).toEqual({
      components: [expect.stringContaining('already content in this language')],
    });
    expect(payloadErrors(refused)).toEqual([['components', 'NETWORK_REFUSED']]);
    expect(codeOf(await create({ ...input, channelId: '987654321' }))).toBe('NOT_FOUND');
  });

  test('that the network no longer has cannot be deleted, and answers with an error', async () => {
    const { template } = payloadOf(await create({ ...input, name: 'gone' }));
    await fetch(`${gateway.emulator.url}/v24.0/${gateway.tenant.wabaId}/message_templates?name=gone`, {
      method: 'DELETE',
      headers: { authorization: `Bearer access-${gateway.tenant.slug.split('-')[1]}` },
    });
    expect(faultsOf(await remove({ id: template.id }))).toEqual({ id: [expect.stringContaining("can't be found")] });
    await eventually(async () => expect((await sync()).removedCount).toBe(1));
    expect(codeOf(await remove({ id: template.id }))).toBe('NOT_FOUND');
  });

  test('is submitted and deleted once for an idempotency key, also by requests at the same time', async () => {
    const given = { ...input, name: 'once', idempotencyKey: 'create once' };
    // At the same time, the network refuses one of them.
    await Promise.all([create(given), create(given)]);
    const first = payloadOf(await create(given)).template;
    expect(payloadOf(await create(given)).template).toEqual(first);
    expect(codeOf(await create({ ...given, name: 'twice' }))).toBe('IDEMPOTENCY_MISMATCH');
    const removed = { id: first.id, idempotencyKey: 'delete once' };
    expect(payloadOf(await remove(removed)).deletedId).toBe(first.id);
    expect(payloadOf(await remove(removed)).deletedId).toBe(first.id);
    const made = await gateway.database.query(
      "select type from events where payload->'template'->>'name' = 'once' order by xid, seq",
    );
    expect(made.filter(({ type }) => type === 'template.created')).toHaveLength(1);
  });
});
