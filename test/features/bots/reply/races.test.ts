import { afterAll, beforeAll, expect, test } from 'vitest';
import { decideBatch } from '../../../../src/features/bots/engine/decide-batch.ts';
import { Patterns } from '../../../../src/features/bots/engine/pattern.ts';
import { actFor } from '../../../../src/features/tenancy/tenants/act.ts';
import { SECOND } from '../../../../src/platform/clock.ts';
import { dataOf } from '../../../support/answers.ts';
import { eventually } from '../../../support/gateway.ts';
import { newPhone } from '../../../support/seed.ts';
import { type Fixture, type Owner, startFixture } from '../fixture.ts';

let fixture: Fixture;
beforeAll(async () => {
  fixture = await startFixture({
    emulator: { faults: { pairLimit: false, throughputLimit: false, dropStatuses: true } },
  });
});
afterAll(() => fixture.gateway.stop());

/**
 * Keeps everybody from deciding on a tenant's messages until it is let go. Not by a lock: a transaction that stays open would
 * keep the log from being read.
 */
async function hold(owner: Owner): Promise<() => Promise<void>> {
  const { query } = fixture.gateway.database;
  const name = `held_${owner.id}`;
  await query(
    `create or replace function ${name}() returns trigger language plpgsql as $$ begin raise exception 'held'; end $$`,
  );
  await query(
    `create trigger ${name} before delete on bot_inbox for each row when (old.tenant_id = ${owner.id}) execute function ${name}()`,
  );
  return async () => void (await query(`drop trigger ${name} on bot_inbox`));
}

/** Waits until so many messages stand before a tenant's bots. */
const waiting = (owner: Owner, count: number): Promise<void> =>
  eventually(async () => {
    const { query } = fixture.gateway.database;
    expect(await query('select from bot_inbox where tenant_id = $1', [owner.id])).toHaveLength(count);
  });

/** Decides as a process would, until nothing waits. @returns how many answers it noted, none of which it sends */
async function decideAll(owner: Owner): Promise<number> {
  const { resources } = fixture.gateway.gateway;
  const patterns = new Patterns();
  for (let noted = 0; ; ) {
    const context = await actFor(resources, owner.id, 'another process', ['messages:send']);
    if (!context) throw new Error('The tenant is gone.');
    const { found, replies } = await decideBatch(context, patterns);
    noted += replies.length;
    if (found === 0) return noted;
  }
}

/** Lets the leases of answers run out whose process is gone, and has the lane look. */
async function takeOver(owner: Owner): Promise<void> {
  await fixture.pass(16 * SECOND);
  fixture.gateway.gateway.resources.lanes.wake('bots', String(owner.id));
}

/** How many messages were accepted for sending. */
test('cool-down and one bot per message hold with concurrent processes; replies decided by a dead process are sent once', async () => {
  const owner = await fixture.tenant();
  const people = Array.from({ length: 20 }, newPhone);
  for (let round = 0; round < 12; round += 1) for (const person of people) await owner.hears(person, `hi ${round}`);
  await owner.settled();
  await owner.bot({ reply: { text: { text: 'One' } }, cooldownSeconds: 3_600 });
  // Past the reader of the log, so that no lane is woken: six others decide at the same time.
  await fixture.gateway.database.query(
    `insert into bot_inbox (tenant_id, message_id, event_id)
     select tenant_id, (payload->'message'->>'id')::uuid, id from events where tenant_id = $1 and type = 'message.received'`,
    [owner.id],
  );
  const noted = await Promise.all(Array.from({ length: 6 }, () => decideAll(owner)));
  expect(noted.reduce((sum, count) => sum + count, 0)).toBeGreaterThan(0);
  // None of them has sent anything.
  await takeOver(owner);
  await owner.settled();
  const replies = await owner.replies();
  expect(replies).toHaveLength(people.length);
  expect(new Set(replies.map(reply => reply.state))).toEqual(new Set(['sent']));
  expect(await owner.outbound()).toBe(people.length);
  expect(await owner.events()).toHaveLength(people.length);
});

test('a crash between sending a reply and recording it causes neither a second reply nor a second event', async () => {
  const owner = await fixture.tenant();
  const id = await owner.bot();
  const { query } = fixture.gateway.database;
  await query(`
    create function refuse_to_note() returns trigger language plpgsql as $$ begin raise exception 'dead'; end $$`);
  await query(`
    create trigger dies before update on bot_replies for each row when (new.state = 'sent') execute function refuse_to_note()`);
  const person = newPhone();
  await owner.hears(person, 'hi');
  await eventually(async () => expect(await owner.outbound()).toBe(1));
  await eventually(() =>
    expect(fixture.gateway.logs.filter(line => line['lane'] === `bots:${owner.id}`).length).toBeGreaterThan(0),
  );
  expect(await owner.replies()).toMatchObject([{ state: 'sending', attempts: 1 }]);
  await query('drop trigger dies on bot_replies');
  await eventually(async () => {
    await takeOver(owner);
    expect(await owner.replies()).toMatchObject([{ state: 'sent', attempts: 2 }]);
  });
  expect(await owner.outbound()).toBe(1);
  expect(await owner.events()).toHaveLength(1);
  expect(dataOf(await owner.ask('query ($id: ID!) { bot(id: $id) { repliesCount } }', { id })).bot.repliesCount).toBe(
    1,
  );
});

test('a disabled bot answers neither queued messages nor sends pending replies', async () => {
  const owner = await fixture.tenant();
  const [ana, bo] = [newPhone(), newPhone()];
  const [one, other] = [
    await owner.bot({ trigger: 'EXACT', keywords: ['a'] }),
    await owner.bot({ trigger: 'EXACT', keywords: ['b'] }),
  ];
  const off = async (id: number) =>
    dataOf(await fixture.gateway.mutate('updateBot', { id: String(id), isEnabled: false }, 'bot { id }', owner.token));
  const release = await hold(owner);
  await owner.hears(ana, 'a');
  await waiting(owner, 1);
  await off(one);
  await release();
  await owner.settled();
  expect(await owner.replies()).toEqual([]);
  // Decided, and not to be sent at this moment.
  const { query } = fixture.gateway.database;
  await query("update channels set status = 'paused' where tenant_id = $1", [owner.id]);
  await owner.hears(bo, 'b');
  // No attempt that was begun while the bot was enabled is under way.
  await owner.postponed();
  await off(other);
  await query("update channels set status = 'active' where tenant_id = $1", [owner.id]);
  await eventually(async () => {
    await takeOver(owner);
    expect(await owner.replies()).toMatchObject([{ state: 'refused', refusal: { code: 'DISABLED' } }]);
  });
  expect(await owner.outbound()).toBe(0);
});
