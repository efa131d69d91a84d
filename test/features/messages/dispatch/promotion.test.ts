import { expect, test } from 'vitest';
import { dataOf } from '../../../support/answers.ts';
import { eventually, startGateway, type TestGateway } from '../../../support/gateway.ts';
import { startWorker } from '../../../support/second-gateway.ts';
import { PROMOTE, setTimeline } from '../../../support/timeline.ts';

/**
 * A standby that replicated asynchronously lacks the last commits of the primary when it is promoted. Here one transaction takes them
 * back and starts a new timeline.
 */

const TENANTS = 6;
const MESSAGES = 5;
const TOTAL = TENANTS * MESSAGES;

const SEND =
  'mutation ($to: String!) { sendMessage(input: { to: { phone: $to }, content: { text: { body: "Hi" } }, waitForAcceptance: false }) { message { databaseId } userErrors { code message path } } }';

/** Two workers that have sent to several channels; without statuses, which would settle what a worker has forgotten. */
async function startSending(
  onTestFinished: (end: () => Promise<void>) => void,
  latencyMs: number,
): Promise<TestGateway> {
  const gateway = await startGateway({
    emulator: { faults: { dropStatuses: 1, latencyMs, pairLimit: false } },
    env: { PARLEY_NETWORK_TIMEOUT_MS: '30000', PARLEY_LANES: '10' },
  });
  onTestFinished(() => gateway.stop());
  await setTimeline(gateway.database, 1);
  const second = await startWorker(gateway);
  onTestFinished(() => second.stop());
  // Both see the timeline of the test.
  await eventually(async () =>
    expect(await gateway.database.query('select timeline from lane_processes')).toEqual([
      { timeline: 1 },
      { timeline: 1 },
    ]),
  );
  const tenants = [gateway.tenant];
  while (tenants.length < TENANTS) tenants.push(await gateway.addTenant());
  await Promise.all(
    tenants.flatMap(({ token }) =>
      Array.from({ length: MESSAGES }, async (_, index) =>
        dataOf(await gateway.graphql(SEND, { to: `+1415555010${index}` }, token)),
      ),
    ),
  );
  return gateway;
}

/** Takes back the results of all sends, or also their claims. */
const TAKE_BACK = `
  delete from message_wamids;
  update message_states set status = 'queued', wamid = null, sent_at = null where status = 'sent';
  insert into outbox (tenant_id, channel_id, contact_id, message_id, next_attempt_at, priority)
  select m.tenant_id, m.channel_id, m.contact_id, m.id, now() - interval '1 second', 2 from messages m on conflict do nothing;
  update outbox set dispatched_at = null, attempts = 0, first_tried_at = null;
  ${PROMOTE};`;

async function expectAllSentOnce({ database, emulator }: TestGateway): Promise<void> {
  await eventually(async () => {
    expect(await database.query('select from outbox')).toEqual([]);
    expect(
      await database.query('select status, count(*)::int from message_states where wamid is not null group by status'),
    ).toEqual([{ status: 'sent', count: TOTAL }]);
  });
  expect(emulator.sent({ limit: 0 })).toMatchObject({ total: TOTAL, duplicates: 0 });
}

test('messages whose acceptance by the network is lost are settled again, not sent again', async ({
  onTestFinished,
}) => {
  const gateway = await startSending(onTestFinished, 0);
  await expectAllSentOnce(gateway);
  await gateway.database.query(TAKE_BACK);
  await expectAllSentOnce(gateway);
});

test('messages whose claim is lost while the network has not answered are not sent by another process', async ({
  onTestFinished,
}) => {
  const gateway = await startSending(onTestFinished, 3_000);
  await eventually(() => expect(gateway.emulator.sent({ limit: 0 }).total).toBe(TOTAL));
  await gateway.database.query(TAKE_BACK);
  await expectAllSentOnce(gateway);
});
