import { expect, onTestFinished, test } from 'vitest';
import { dataOf } from '../../../support/answers.ts';
import { eventually, startGateway } from '../../../support/gateway.ts';
import { newPhone } from '../../../support/seed.ts';
import { follow, seen } from '../../events/subscriber.ts';

test('a client that resumes from before an erasure gets none of the personal data that the process still had in memory', async () => {
  // In order: a message that was read first is not reported as delivered.
  const gateway = await startGateway({ emulator: { faults: { webhookConnections: 1 } } });
  onTestFinished(() => gateway.stop());
  const { url, tenant } = gateway;
  const types = ['group.*', 'message.*'];
  const early = await follow(url, tenant.token, { types });
  dataOf(await gateway.mutate('createContactGroup', { name: 'Friends' }, 'contactGroup { id }'));
  const phone = newPhone();
  const message = { to: { phone }, content: { text: { body: 'Meet me at noon' } } };
  const sent = dataOf(await gateway.mutate('sendMessage', message, 'message { contact { id } }'));
  await seen(early, 5);
  expect(JSON.stringify(early.events)).toContain('Meet me at noon');
  await early.stop();

  const { id } = sent.sendMessage.message.contact;
  dataOf(await gateway.mutate('deleteContact', { id }, 'deletedId'));
  const live = await follow(url, tenant.token, { types: ['group.*'] });
  await eventually(async () =>
    expect(await gateway.database.query(`select from events where type = 'contact.erased'`)).toHaveLength(1),
  );
  // Once this one arrives, the process has read the erasure.
  dataOf(await gateway.mutate('createContactGroup', { name: 'Last' }, 'contactGroup { id }'));
  await seen(live, 1);
  await live.stop();

  const late = await follow(url, tenant.token, { types, after: early.events[0]?.cursor });
  onTestFinished(() => late.stop());
  await seen(late, 5);
  expect(late.events.map(({ type }) => type)).toContain('message.read');
  for (const personal of ['Meet me at noon', phone.slice(1)])
    expect(JSON.stringify(late.events)).not.toContain(personal);
});
