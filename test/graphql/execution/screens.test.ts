import { readFileSync } from 'node:fs';
import { type DocumentNode, Kind, type OperationDefinitionNode, parse, print, validate } from 'graphql';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { schema } from '../../../src/app/schema.ts';
import { measure, pointsOf } from '../../../src/graphql/execution/limits.ts';
import { accountOf } from '../../features/messages/statistics/fixture.ts';
import { dataOf } from '../../support/answers.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';

/** The screens of a front end, as planned: test/bench/screens.ts measures the same documents. */
const screens = new Map(
  parse(readFileSync('test/bench/screens.graphql', 'utf8')).definitions.flatMap(node =>
    node.kind === Kind.OPERATION_DEFINITION && node.name ? [[node.name.value, node] as const] : [],
  ),
);

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway({ role: 'gateway' });
});
afterAll(() => gateway.stop());

test.each([
  ['Inbox', 2],
  ['ChatThread', 1],
  ['ContactCard', 1],
  ['CampaignScreen', 3],
  ['Failures', 3],
  ['WebhookLog', 1],
])('the screen %s costs %i points', (name, points) => {
  const operation = screens.get(name) as OperationDefinitionNode;
  const document: DocumentNode = { kind: Kind.DOCUMENT, definitions: [operation] };
  expect(validate(schema, document)).toEqual([]);
  expect(pointsOf(measure(schema, document, operation), {})).toBe(points);
});

test('failures are counted by error and template, and listed without those that concern the recipient', async () => {
  const account = await accountOf(gateway);
  const at = '2026-11-02T10:00:00.000Z';
  const ids = await account.add([1, 2, 3, 4].map(() => ({ at, phone: '+4915112345678' })));
  const [sender = '', recipient = '', old = ''] = ids;
  const [template] = await gateway.database.query<{ id: string }>(
    `insert into templates (tenant_id, waba_id, network_id, name, language, category, status, parameter_format, components)
     values ($1, 'w', 'n', 'sale', 'en', 'MARKETING', 'APPROVED', 'POSITIONAL', '[]') returning id`,
    [account.tenantId],
  );
  await gateway.database.query('update messages set template_id = $2 where tenant_id = $1 and id = any($3)', [
    account.tenantId,
    template?.id,
    [sender, recipient, old],
  ]);
  await account.apply([
    { id: sender, status: 'failed', at, code: 131_031 },
    { id: recipient, status: 'failed', at, code: 131_026 },
    { id: old, status: 'failed', at, code: 131_031 },
  ]);
  await gateway.database.query(`update message_failures set failed_at = '2026-10-01' where message_id = $1`, [old]);
  const text = print(screens.get('Failures') as OperationDefinitionNode);
  for (const moved of [false, true]) {
    if (moved) await account.move();
    gateway.statements.length = 0;
    const { messageStatistics, messages } = dataOf(await gateway.graphql(text, { since: '2026-11-02' }, account.token));
    // Besides, the use of the token is noted at any time.
    expect(gateway.statements.filter(statement => /\b(?:messages|templates|contacts)\b/.test(statement))).toHaveLength(
      5,
    );
    const sale = { start: '2026-11-02T00:00:00.000Z', template: { name: 'sale' } };
    expect(messageStatistics.total).toBe(4);
    expect(messageStatistics.series).toEqual(
      expect.arrayContaining([
        { ...sale, count: 2, errorCode: 131_031 },
        { ...sale, count: 1, errorCode: 131_026 },
        { start: sale.start, count: 1, errorCode: null, template: null },
      ]),
    );
    expect(messages.totalCount).toBe(1);
    expect(messages.edges).toMatchObject([
      { node: { failedAt: at, template: { name: 'sale' }, error: { code: 131_031, title: 'Failed' } } },
    ]);
  }
});
