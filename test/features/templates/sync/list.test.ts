import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { encodeGlobalId } from '../../../../src/core/global-ids.ts';
import type { TemplateSeed } from '../../../../src/emulator/template-store.ts';
import { codeOf, dataOf, faultsOf } from '../../../support/answers.ts';
import { eventually, startGateway, type TestGateway } from '../../../support/gateway.ts';

const WORDS = ['alpha', 'beta', 'gamma', 'delta', 'epsilon'];
const TEMPLATES: readonly TemplateSeed[] = WORDS.flatMap((word, index) =>
  (['en_US', 'de'] as const).map(language => ({
    name: `${word}_${index % 2}`,
    language,
    category: index % 2 === 0 ? 'UTILITY' : 'MARKETING',
    status: language === 'de' && index === 0 ? 'PAUSED' : 'APPROVED',
    components: [
      { type: 'HEADER', format: 'IMAGE' },
      { type: 'BODY', text: `Dear {{1}}, the ${word} of {{2}} is 100% here_.` },
      { type: 'BUTTONS', buttons: [{ type: 'URL', text: 'Go', url: 'https://x.example/{{1}}' }] },
    ],
  })),
);

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway({ role: 'gateway', templates: TEMPLATES });
  dataOf(await gateway.graphql('mutation { syncTemplates { total } }'));
});
afterAll(() => gateway.stop());

const ask = async (document: string, variables = {}) => dataOf(await gateway.graphql(document, variables));
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
    ['filter: { status: { eq: "PAUSED" } }', 1],
    ['filter: { category: { eq: "MARKETING" } }', 4],
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
  test('is found by global id, by the network’s id and by ours, with its parts read', async () => {
    const { nodes } = (
      await ask(
        '{ templates(search: "alpha", filter: { language: { eq: "en_US" } }) { nodes { id databaseId networkId } } }',
      )
    ).templates;
    const [{ id, databaseId, networkId }] = nodes;
    for (const asked of [id, String(databaseId), networkId]) {
      const { template } = await ask(
        'query ($id: ID!) { template(id: $id) { id name header { format text parameters } body { text parameters } footer { text } buttons { index type text url needsParameter } parameterFormat quality codeExpirationMinutes } }',
        { id: asked },
      );
      expect(template).toEqual({
        id,
        name: 'alpha_0',
        header: { format: 'IMAGE', text: null, parameters: [] },
        body: { text: 'Dear {{1}}, the alpha of {{2}} is 100% here_.', parameters: ['1', '2'] },
        footer: null,
        buttons: [{ index: 0, type: 'URL', text: 'Go', url: 'https://x.example/{{1}}', needsParameter: true }],
        parameterFormat: 'POSITIONAL',
        quality: null,
        codeExpirationMinutes: null,
      });
    }
    const node = await ask('query ($id: ID!) { node(id: $id) { ... on Template { name } } }', { id });
    expect(node).toEqual({ node: { name: 'alpha_0' } });
  });

  test.each([
    '0',
    '987654321',
    '9'.repeat(33),
    'x',
    encodeGlobalId('Contact', '1'),
    '01890000-0000-7000-8000-000000000000',
  ])('with the id %s is not found', async id =>
    expect(codeOf(await gateway.graphql('query ($id: ID!) { template(id: $id) { id } }', { id }))).toBe('NOT_FOUND'),
  );
});

describe('a created template', () => {
  const CREATE =
    'mutation ($input: CreateTemplateInput!) { createTemplate(input: $input) { id networkId name language status category components } }';
  const input = {
    name: 'mine',
    language: 'pt-BR',
    category: 'UTILITY',
    components: [{ type: 'body', text: 'Oi {{1}}, tudo bem?' }],
  };

  test('is submitted, listed, and deleted on the network and here', async () => {
    gateway.emulator.setFaults({ templateReview: 'manual' });
    const { createTemplate: template } = await ask(CREATE, { input });
    expect(template).toMatchObject({
      name: 'mine',
      language: 'pt_BR',
      status: 'PENDING',
      components: [{ type: 'BODY', text: 'Oi {{1}}, tudo bem?' }],
    });
    expect((await list('filter: { name: { eq: "mine" } }')).totalCount).toBe(1);
    // Read back, it is what was submitted.
    expect((await ask('mutation { syncTemplates { created updated removed } }')).syncTemplates).toEqual({
      created: 0,
      updated: 0,
      removed: 0,
    });
    expect(
      (await ask('mutation ($id: ID!) { deleteTemplate(id: $id) { id status } }', { id: template.networkId }))
        .deleteTemplate,
    ).toEqual({ id: template.id, status: 'PENDING' });
    expect((await list('filter: { name: { eq: "mine" } }')).totalCount).toBe(0);
    expect((await ask('mutation { syncTemplates { created removed } }')).syncTemplates).toEqual({
      created: 0,
      removed: 0,
    });
    const events = await gateway.database.query<{ type: string; status: string }>(
      "select type, payload->'template'->>'status' as status from events where payload->'template'->>'name' = 'mine' order by xid, seq",
    );
    expect(events).toEqual([
      { type: 'template.created', status: 'PENDING' },
      { type: 'template.status_changed', status: 'DELETED' },
    ]);
  });

  test('with errors is not submitted; all errors are reported by field', async () => {
    const faults = faultsOf(
      await gateway.graphql(CREATE, {
        input: {
          ...input,
          name: 'Mine',
          components: [
            { type: 'BODY', text: '{{1}} hello' },
            { type: 'FOOTER', text: 'x'.repeat(61) },
          ],
        },
      }),
    );
    expect(Object.keys(faults)).toEqual(['name', 'components.0.text', 'components.1.text']);
    expect((await list('filter: { name: { like: "mine" } }')).totalCount).toBe(0);
  });

  test('that the network refuses is rejected with the network’s reason', async () => {
    const again = { ...input, name: 'alpha_0', language: 'de' };
    expect(faultsOf(await gateway.graphql(CREATE, { input: again }))).toEqual({
      components: [expect.stringContaining('already content in this language')],
    });
    expect(codeOf(await gateway.graphql(CREATE, { input: { ...input, channelId: '987654321' } }))).toBe('NOT_FOUND');
  });

  test('that the network no longer has cannot be deleted, and answers with an error', async () => {
    const { createTemplate: template } = await ask(CREATE, { input: { ...input, name: 'gone' } });
    await fetch(`${gateway.emulator.url}/v24.0/${gateway.tenant.wabaId}/message_templates?name=gone`, {
      method: 'DELETE',
      headers: { authorization: `Bearer access-${gateway.tenant.slug.split('-')[1]}` },
    });
    expect(
      faultsOf(await gateway.graphql('mutation ($id: ID!) { deleteTemplate(id: $id) { id } }', { id: template.id })),
    ).toEqual({ id: [expect.stringContaining("can't be found")] });
    await eventually(async () =>
      expect((await ask('mutation { syncTemplates { removed } }')).syncTemplates.removed).toBe(1),
    );
  });
});
