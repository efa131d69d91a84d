import { afterAll, beforeAll, expect, test } from 'vitest';
import type { EventPayloads } from '../../../src/core/events.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { harnessFor } from '../messages/inbound/harness.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway({ emulator: { faults: { userIds: false } } });
});
afterAll(() => gateway.stop());

test('a take-over by another app and the return when the person writes are one event each', async () => {
  const harness = await harnessFor(gateway);
  await harness.write({ from: '14155550101', text: 'Hello' });
  const taken = {
    recipient: { phone_number_id: harness.tenant.phoneNumberId },
    sender: { phone_number: '+14155550101' },
    type: 'control_taken',
    timestamp: String(Math.floor(Date.now() / 1_000) - 5),
    control_taken: { new_owner_role: 'ai_agent', summary: 'wants a refund' },
  };
  await harness.tell('messaging_handovers', taken);
  await harness.tell('messaging_handovers', taken);
  await harness.write({ from: '14155550101', text: 'Still there?' });
  const changes = await harness.query<{ payload: EventPayloads['conversation.updated']; conversation_id: number }>(
    "select payload, conversation_id from events where tenant_id = $1 and type = 'conversation.updated' order by events.xid, events.seq",
  );
  expect(changes.map(({ payload }) => payload.conversation)).toMatchObject([
    { is_ours: false, owner_role: 'ai_agent' },
    { is_ours: true, owner_role: null },
  ]);
  expect(changes.map(({ conversation_id }) => Number(conversation_id))).toEqual(
    changes.map(({ payload }) => payload.conversation.id),
  );
  expect(JSON.stringify(changes)).not.toContain('refund');
});
