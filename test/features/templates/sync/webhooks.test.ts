import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { dataOf } from '../../../support/answers.ts';
import { eventually, startGateway, type TestGateway, type TestTenant } from '../../../support/gateway.ts';
import { follow } from '../../events/subscriber.ts';

let gateway: TestGateway;
let tenant: TestTenant;
beforeAll(async () => {
  gateway = await startGateway({ emulator: { delays: { templateReviewMs: 50 } } });
});
beforeEach(async () => {
  gateway.emulator.resetFaults();
  tenant = await gateway.addTenant();
  // The first sync of the channel would undo what the network does not know: these tests post webhooks of their own.
  await eventually(async () =>
    expect(
      await gateway.database.query(
        'select from template_syncs where tenant_id = $1 and finished_at is not null and run_id is null',
        [tenant.id],
      ),
    ).toHaveLength(1),
  );
});
afterAll(() => gateway.stop());

const ask = async (document: string, variables = {}) =>
  dataOf(await gateway.graphql(document, variables, tenant.token));
const templates = async () =>
  (await ask('{ templates { nodes { name status statusReason quality category body { text } } } }')).templates.nodes;
const told = () =>
  gateway.database.query<{ type: string; payload: { template: { status: string }; previous?: object } }>(
    "select type, payload from events where tenant_id = $1 and type like 'template.%' order by xid, seq",
    [tenant.id],
  );
const create = (name: string) =>
  ask('mutation ($input: CreateTemplateInput!) { createTemplate(input: $input) { template { status networkId } } }', {
    input: { name, language: 'en-US', category: 'UTILITY', components: [{ type: 'body', text: 'Hi' }] },
  });

/** A webhook as the network posts it. */
const post = (...changes: readonly (readonly [field: string, value: object])[]) => postAt(undefined, ...changes);

/** @param time of the changes, in seconds */
async function postAt(
  time: number | undefined,
  ...changes: readonly (readonly [field: string, value: object])[]
): Promise<void> {
  const body = JSON.stringify({
    object: 'whatsapp_business_account',
    entry: [{ id: tenant.wabaId, time, changes: changes.map(([field, value]) => ({ field, value })) }],
  });
  const signature = createHmac('sha256', 'test-app-secret').update(body).digest('hex');
  const answer = await fetch(`${gateway.url}/network/cloud-api/webhook`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-hub-signature-256': `sha256=${signature}` },
    body,
  });
  expect(answer.status).toBe(200);
}
const about = (name: string, value: object) => ({
  message_template_id: 1,
  message_template_name: name,
  message_template_language: 'en-US',
  ...value,
});

test('a created template is approved by webhook, with one event per step', async () => {
  expect((await create('order')).createTemplate.template.status).toBe('PENDING');
  await eventually(async () => expect(await templates()).toMatchObject([{ name: 'order', status: 'APPROVED' }]));
  expect((await told()).map(({ type, payload }) => [type, payload.template.status, payload.previous])).toEqual([
    ['template.created', 'PENDING', undefined],
    ['template.status_changed', 'APPROVED', { status: 'PENDING' }],
  ]);
});

test('status, quality and category are updated by webhook, without a call to the network', async () => {
  gateway.emulator.setFaults({ templateReview: 'manual' });
  await create('order');
  await post(
    ['message_template_status_update', about('order', { event: 'APPROVED', reason: 'NONE' })],
    ['message_template_status_update', about('order', { event: 'PAUSED', reason: 'LOW_QUALITY' })],
    ['message_template_quality_update', about('order', { new_quality_score: 'RED' })],
    ['template_category_update', about('order', { new_category: 'MARKETING' })],
  );
  await eventually(async () =>
    expect(await templates()).toMatchObject([
      { status: 'PAUSED', statusReason: 'LOW_QUALITY', quality: 'RED', category: 'MARKETING' },
    ]),
  );
  const later = (await told()).slice(1).map(({ type, payload }) => [type, payload.previous]);
  expect(later).toEqual([
    ['template.updated', { category: 'UTILITY', quality: null }],
    ['template.status_changed', { status: 'PENDING', status_reason: null }],
  ]);
  // A second time it says nothing new.
  await post(['message_template_quality_update', about('order', { new_quality_score: 'RED', rebuild: true })]);
  await eventually(async () =>
    expect(await gateway.database.query('select from waiting_webhooks where tenant_id = $1', [tenant.id])).toEqual([]),
  );
  expect(await told()).toHaveLength(3);
});

test('a webhook that is delivered late does not replace what the network says now', async () => {
  await create('order');
  await eventually(async () => expect(await templates()).toMatchObject([{ status: 'APPROVED' }]));
  const hourAgo = Math.floor(Date.now() / 1_000) - 3_600;
  await postAt(hourAgo, ['message_template_status_update', about('order', { event: 'PAUSED', reason: 'NONE' })]);
  await eventually(async () => expect((await told()).at(-2)?.payload.template.status).toBe('PAUSED'));
  expect(await templates()).toMatchObject([{ status: 'APPROVED' }]);
});

test('an unknown template is read from the network', async () => {
  // The first reading, which the connection asked for, is over.
  await eventually(async () => {
    const [row] = await gateway.database.query('select finished_at from template_syncs where tenant_id = $1', [
      tenant.id,
    ]);
    expect(row?.['finished_at']).not.toBeNull();
  });
  await fetch(`${gateway.emulator.url}/v24.0/${tenant.wabaId}/message_templates`, {
    method: 'POST',
    headers: { authorization: `Bearer access-${tenant.slug.split('-')[1]}` },
    body: JSON.stringify({
      name: 'elsewhere',
      language: 'en_US',
      category: 'UTILITY',
      components: [{ type: 'BODY', text: 'Made in the manager' }],
    }),
  });
  await eventually(async () =>
    expect(await templates()).toMatchObject([
      { name: 'elsewhere', status: 'APPROVED', body: { text: 'Made in the manager' } },
    ]),
  );
});

test('a template that the network deleted is removed, with status_changed as its last event', async () => {
  gateway.emulator.setFaults({ templateReview: 'manual' });
  await create('order');
  await post(['message_template_status_update', about('order', { event: 'DELETED' })]);
  await eventually(async () => expect(await templates()).toEqual([]));
  const last = (await told()).at(-1);
  expect([last?.type, last?.payload.template.status, last?.payload.previous]).toEqual([
    'template.status_changed',
    'DELETED',
    { status: 'PENDING' },
  ]);
});

test('a webhook does not change templates of another tenant', async () => {
  gateway.emulator.setFaults({ templateReview: 'manual' });
  const first = tenant;
  await create('order');
  tenant = await gateway.addTenant();
  await create('order');
  await post(['message_template_status_update', about('order', { event: 'DISABLED' })]);
  await eventually(async () => expect(await templates()).toMatchObject([{ status: 'DISABLED' }]));
  tenant = first;
  expect(await templates()).toMatchObject([{ status: 'PENDING' }]);
});

test('templates of a newly connected channel are synced within seconds', async () => {
  const seed = {
    name: 'hello',
    language: 'de',
    category: 'UTILITY',
    components: [{ type: 'BODY', text: 'Hallo' }],
  } as const;
  const seeded = await startGateway({ templates: [seed] });
  try {
    const document = '{ templates { nodes { name language } } }';
    await eventually(async () =>
      expect(dataOf(await seeded.graphql(document)).templates.nodes).toEqual([{ name: 'hello', language: 'de' }]),
    );
  } finally {
    await seeded.stop();
  }
});

test('a subscription delivers templates as they are, with the payload of the event', async () => {
  gateway.emulator.setFaults({ templateReview: 'manual' });
  const query =
    'subscription ($filter: EventFilter) { events(filter: $filter) { type payload ... on TemplateEvent { template { name body { text } } } } }';
  const follower = await follow(gateway.url, tenant.token, { query, types: ['template.*'] });
  const others = await gateway.addToken(tenant, { scopes: ['events:read', 'groups:read'] });
  const blind = await follow(gateway.url, others, { query });
  await create('order');
  await post(['message_template_status_update', about('order', { event: 'APPROVED' })]);
  const template = { name: 'order', body: { text: 'Hi' } };
  const withStatus = (status: string) => expect.objectContaining({ template: expect.objectContaining({ status }) });
  await eventually(() =>
    expect(follower.events).toEqual([
      { type: 'template.created', template, payload: withStatus('PENDING') },
      { type: 'template.status_changed', template, payload: withStatus('APPROVED') },
    ]),
  );
  expect(blind.events).toEqual([]);
  await follower.stop();
  await blind.stop();
});
