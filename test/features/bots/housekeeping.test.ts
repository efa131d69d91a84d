import { afterAll, beforeAll, expect, test } from 'vitest';
import { readBy } from '../../events/past-events.ts';
import { dataOf } from '../../support/answers.ts';
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
