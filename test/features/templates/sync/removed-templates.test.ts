import { afterAll, beforeAll, expect, test } from 'vitest';
import { dataOf } from '../../../support/answers.ts';
import { eventually } from '../../../support/gateway.ts';
import { newPhone } from '../../../support/seed.ts';
import { ORDER, type Sending, startSending } from '../sending.ts';

let sending: Sending;
beforeAll(async () => {
  sending = await startSending();
});
afterAll(() => sending.gateway.stop());

const TEMPLATE_UNKNOWN = 132_001;

test('messages of a template that is removed meanwhile are sent once, or fail with the network’s error', async () => {
  const { gateway, send } = sending;
  const { tenant } = gateway;
  const setRate = (messages: number) =>
    gateway.database.query('update channels set messages_per_second = $2 where tenant_id = $1', [tenant.id, messages]);
  // So few that most messages wait still when the template is removed, however long their acceptance takes.
  await setRate(5);
  const accepted = await Promise.all(
    Array.from(
      { length: 100 },
      async () =>
        dataOf(await send({ ...ORDER, to: newPhone(), waitForAcceptance: false })).sendMessage.message.databaseId,
    ),
  );
  await eventually(() => expect(gateway.emulator.sent().matched).toBeGreaterThan(5));
  const [template] = dataOf(
    await gateway.graphql(
      '{ templates(filter: { name: { eq: "order" }, language: { eq: "en_US" } }) { nodes { id } } }',
    ),
  ).templates.nodes;
  dataOf(await gateway.mutate('deleteTemplate', { id: template.id }, 'deletedId'));
  await setRate(100);
  const rows = async () =>
    dataOf(await gateway.graphql('{ messages(first: 100) { nodes { databaseId status error { code } } } }')).messages
      .nodes as { databaseId: string; status: string; error: { code: number } | null }[];
  await eventually(async () => expect((await rows()).map(({ status }) => status)).not.toContain('QUEUED'));
  const ended = await rows();
  expect(ended.map(({ databaseId }) => databaseId).sort()).toEqual([...accepted].sort());
  const { byCallbackData } = gateway.emulator.sent();
  const failed = ended.filter(({ status }) => status === 'FAILED');
  expect(failed.length).toBeGreaterThan(0);
  expect(new Set(failed.map(({ error }) => error?.code))).toEqual(new Set([TEMPLATE_UNKNOWN]));
  for (const { databaseId, status } of ended)
    expect([databaseId, byCallbackData[databaseId] ?? 0]).toEqual([databaseId, status === 'FAILED' ? 0 : 1]);
  const events = await gateway.database.query<{ id: string }>(
    "select payload->'message'->>'id' as id from events where tenant_id = $1 and type = 'message.failed'",
    [tenant.id],
  );
  expect(events.map(({ id }) => id).sort()).toEqual(failed.map(({ databaseId }) => databaseId).sort());
});
