import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../../../support/gateway.ts';
import { startSecondGateway } from '../../../support/second-gateway.ts';
import { newPhone } from '../../../support/seed.ts';
import { type Fixture, startFixture } from '../fixture.ts';

let fixture: Fixture;
beforeAll(async () => {
  fixture = await startFixture({
    emulator: { faults: { pairLimit: false, throughputLimit: false, dropStatuses: true } },
  });
});
afterAll(() => fixture.gateway.stop());

test('a burst of 1,000 messages over two processes is answered, each message once', async () => {
  const owner = await fixture.tenant();
  const id = await owner.bot({ trigger: 'CONTAINS', keywords: ['storm'], reply: { text: { text: 'Keep calm.' } } });
  await owner.bot({ trigger: 'REGEX', pattern: 's(t+)o(r+)m', reply: { text: { text: 'Never said.' } } });
  const people = Array.from({ length: 250 }, newPhone);
  const beside = await startSecondGateway(fixture.gateway);
  try {
    for (let index = 0; index < 1_000; index += 1) await owner.hears(people[index % 250] ?? '', `A storm, ${index}`);
    await eventually(async () => expect(await owner.outbound()).toBe(1_000));
    await owner.settled();
  } finally {
    await beside.stop();
  }
  const replies = await owner.replies();
  expect(new Set(replies.map(reply => reply.message_id)).size).toBe(1_000);
  expect(replies.every(reply => reply.state === 'sent' && reply.bot_id === String(id))).toBe(true);
  expect(await owner.outbound()).toBe(1_000);
  expect(await owner.events()).toHaveLength(1_000);
});
