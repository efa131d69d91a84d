import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Fixture, type Owner, startFixture } from '../fixture.ts';

let fixture: Fixture;
beforeAll(async () => {
  fixture = await startFixture();
});
afterAll(() => fixture.gateway.stop());

const PERSON = '14155550101';
const seconds = (): string => String(Math.floor(Date.now() / 1_000));

async function tell(owner: Owner, field: string, value: object): Promise<void> {
  const { emulator } = fixture.gateway;
  const answer = await fetch(`${emulator.url}/_emulator/changes`, {
    method: 'POST',
    body: JSON.stringify({ phoneNumberId: owner.phoneNumberId, field, value }),
  });
  expect(answer.status).toBe(200);
  await emulator.settled();
  await answer.text();
}
const handover = (type: string) => ({
  sender: { phone_number: `+${PERSON}` },
  type,
  timestamp: seconds(),
  [type]: { new_owner_role: 'ai_agent' },
});
const message = (id: string, body: string) => ({
  contacts: [{ wa_id: PERSON }],
  messages: [{ from: PERSON, id, timestamp: seconds(), type: 'text', text: { body } }],
});

test('bots answer neither group chats nor calls', async () => {
  const owner = await fixture.tenant();
  await owner.bot();
  await owner.hears('+14155550201', { text: 'Hello all', groupId: 'G1' });
  await tell(owner, 'calls', {
    calls: [
      { id: 'wacid.9', event: 'connect', direction: 'USER_INITIATED', from: '14155550202', timestamp: seconds() },
    ],
  });
  await owner.hears('+14155550203', 'Hello');
  expect(await owner.answers('14155550203', 1)).toEqual(['Hello!']);
  expect(await owner.answers('14155550201', 0)).toEqual([]);
  expect(await owner.answers('14155550202', 0)).toEqual([]);
});

test('bots do not answer in a thread owned by another app, and answer again when it is returned', async () => {
  const owner = await fixture.tenant();
  await owner.bot();
  const { phoneNumberId } = owner;
  const told = { recipient: { phone_number_id: phoneNumberId } };
  await tell(owner, 'messaging_handovers', { ...told, ...handover('control_taken') });
  await tell(owner, 'standby', { standby: message('wamid.s1', 'To the agent') });
  await owner.settled();
  expect(await owner.answers(PERSON, 0)).toEqual([]);
  await tell(owner, 'messaging_handovers', { ...told, ...handover('control_passed') });
  await tell(owner, 'messages', message('wamid.s2', 'To you'));
  expect(await owner.answers(PERSON, 1)).toEqual(['Hello!']);
});
