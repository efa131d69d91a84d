import { expect, test } from 'vitest';
import { dataOf, payloadOf } from '../support/answers.ts';
import { eventually, type GraphQLAnswer, mutationOf, post } from '../support/gateway.ts';
import { freePort, setWebhookUrl } from '../support/processes.ts';
import { startPlant } from './processes.ts';

const CALM = { window: 'open', pairLimit: false, throughputLimit: false, latencyMs: 40 } as const;
/** 20,000 with PARLEY_TEST_RECIPIENTS; fewer prove the same in less time. */
const RECIPIENTS = Number(process.env['PARLEY_TEST_RECIPIENTS'] ?? 1_500);
const BATCH = 1_000;
const PATIENCE_MS = 120_000 + RECIPIENTS * 40;

test('a campaign messages each recipient exactly once, although processes are killed and it is paused, resumed and started twice', {
  timeout: 2 * PATIENCE_MS + 200_000,
}, async ({ onTestFinished }) => {
  const plant = await startPlant(CALM);
  onTestFinished(() => plant.stop());
  const { token } = plant;
  const ports = [await freePort(), await freePort()] as const;
  const [first, second] = [await plant.startGateway(ports[0]), await plant.startGateway(ports[1])];
  await setWebhookUrl(plant.emulatorUrl, second.url);
  const mutate = (name: string, input: object, selection = ''): Promise<GraphQLAnswer> =>
    post(second.url, mutationOf(name, selection), { input }, token);

  const template = { name: 'news', language: 'en', category: 'UTILITY', components: [{ type: 'BODY', text: 'News' }] };
  dataOf(await mutate('createTemplate', template));
  await eventually(async () => {
    const { data } = await post(second.url, '{ templates { nodes { name status } } }', {}, token);
    expect(data.templates.nodes).toContainEqual({ name: 'news', status: 'APPROVED' });
  }, PATIENCE_MS);
  const group = await mutate('createContactGroup', { name: 'All' }, 'contactGroup { databaseId }');
  const groupId: string = payloadOf(group).contactGroup.databaseId;
  for (let from = 0; from < RECIPIENTS; from += BATCH) {
    const count = Math.min(BATCH, RECIPIENTS - from);
    const contacts = Array.from({ length: count }, (_, index) => ({
      phone: `+49157${50_000_000 + from + index}`,
      groupIds: [groupId],
    }));
    dataOf(await mutate('createContacts', { contacts }));
  }
  const input = { name: 'News', template: { name: 'news', language: 'en' }, audience: { groupIds: [groupId] } };
  const made = await mutate('createCampaign', { ...input, firstWave: 100_000 }, 'campaign { databaseId }');
  const id: string = payloadOf(made).campaign.databaseId;
  const begun = await Promise.all([mutate('startCampaign', { id }), mutate('startCampaign', { id })]);
  expect(begun.filter(({ data }) => data.startCampaign.userErrors.length === 0)).toHaveLength(1);

  const sentAbove = (count: number): Promise<void> =>
    eventually(async () => expect((await plant.sent()).total).toBeGreaterThan(count), PATIENCE_MS);
  await sentAbove(RECIPIENTS / 8);
  await first.kill();
  expect((await plant.sent()).total).toBeLessThan(RECIPIENTS);
  await sentAbove(RECIPIENTS / 3);
  dataOf(await mutate('pauseCampaign', { id }));
  const third = await plant.startGateway(ports[0]);
  await setWebhookUrl(plant.emulatorUrl, third.url);
  dataOf(await mutate('resumeCampaign', { id }));
  await sentAbove(RECIPIENTS / 2);
  await second.kill();
  expect((await plant.sent()).total).toBeLessThan(RECIPIENTS);

  await eventually(async () => {
    const [campaign] = await plant.database.query('select status from campaigns where id = $1', [Number(id)]);
    expect(campaign).toEqual({ status: 'completed' });
  }, PATIENCE_MS);
  await eventually(
    async () => expect(await plant.database.query('select message_id from outbox')).toEqual([]),
    PATIENCE_MS,
  );
  const { total, byCallbackData } = await plant.sent();
  expect(total).toBe(RECIPIENTS);
  expect(Object.values(byCallbackData).filter(count => count > 1)).toEqual([]);
  const people = await plant.database.query<{ messages: number; people: number }>(
    `select count(*)::int as messages, count(distinct m.contact_id)::int as people from messages m
     join message_states s on s.tenant_id = m.tenant_id and s.message_id = m.id where s.status <> 'cancelled'`,
  );
  expect(people).toEqual([{ messages: RECIPIENTS, people: RECIPIENTS }]);
  await eventually(async () => {
    const states = await plant.database.query(
      'select state, count(*)::int as count from campaign_recipients group by state',
    );
    expect(states).toEqual([{ state: 6, count: RECIPIENTS }]);
    const progress = await plant.database.query('select sent, delivered, read, failed from campaign_progress');
    expect(progress).toEqual([{ sent: RECIPIENTS, delivered: RECIPIENTS, read: RECIPIENTS, failed: 0 }]);
  }, PATIENCE_MS);
  expect(await third.end()).toBe(0);
});
