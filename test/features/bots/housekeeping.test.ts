import { afterAll, beforeAll, expect, test } from 'vitest';
import { readBy } from '../../events/past-events.ts';
import { dataOf } from '../../support/answers.ts';
import { eventually } from '../../support/gateway.ts';
import { newPhone } from '../../support/seed.ts';
import { type Fixture, startFixture } from './fixture.ts';

let fixture: Fixture;
beforeAll(async () => {
  fixture = await startFixture();
});
afterAll(() => fixture.gateway.stop());

test('messages are read for bots only while there is one, and the first message after the first bot is answered', async () => {
  const { gateway } = fixture;
  const owner = await fixture.tenant();
  const queued = (): string[] => gateway.statements.filter(text => text.includes('insert into bot_inbox'));
  await owner.hears(newPhone(), 'before');
  await owner.settled();
  expect(queued()).toEqual([]);

  const id = await owner.bot();
  const phone = newPhone();
  await owner.hears(phone, 'first');
  expect(await owner.answers(phone, 1)).toEqual(['Hello!']);
  expect(queued()).not.toEqual([]);

  dataOf(await gateway.mutate('deleteBot', { id: String(id) }, 'deletedId', owner.token));
  await readBy('bots', gateway, owner.id);
  gateway.statements.length = 0;
  await owner.hears(newPhone(), 'after');
  await owner.settled();
  expect(queued()).toEqual([]);
});

test('the conversation of a message that is not queued for bots yet opens when the last bot of all tenants is deleted', async () => {
  const { gateway } = fixture;
  const owner = await fixture.tenant();
  const phone = newPhone();
  const id = await owner.bot();
  await owner.hears(phone, 'hi');
  await owner.answers(phone.slice(1), 1);
  const conversation = async () =>
    gateway.database.query('select status, unread_count from conversations where tenant_id = $1', [owner.id]);
  expect(await conversation()).toMatchObject([{ status: 'pending' }]);
  const release = await fixture.holdReader();
  await owner.hears(phone, 'Are you there?');
  await eventually(async () => expect(await conversation()).toMatchObject([{ status: 'pending', unread_count: 2 }]));
  dataOf(await gateway.mutate('deleteBot', { id: String(id) }, 'deletedId', owner.token));
  expect(await gateway.database.query('select from bots')).toEqual([]);
  await release();
  await eventually(async () => expect(await conversation()).toMatchObject([{ status: 'open', unread_count: 2 }]));
  expect(await owner.outbound()).toBe(1);
});

test('a message of a tenant that was deleted while it arrived does not stop the bots of others', async () => {
  const { gateway } = fixture;
  const owner = await fixture.tenant();
  await owner.bot();
  // Appended by a transaction that outlived `tenant delete`: nothing refers to a tenant from the log.
  await gateway.database.query(
    `insert into events (tenant_id, id, type, payload)
     values (2147483647, uuid_v7(now(), 1), 'message.received', jsonb_build_object(
       'message', jsonb_build_object('id', uuid_v7(now(), 2)), 'conversation', jsonb_build_object('status', 'pending')))`,
  );
  const phone = newPhone();
  await owner.hears(phone, 'hello');
  expect(await owner.answers(phone, 1)).toEqual(['Hello!']);
});
