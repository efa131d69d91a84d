import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../../../support/gateway.ts';
import { newPhone } from '../../../support/seed.ts';
import { type Fixture, type Owner, startFixture } from '../fixture.ts';

/** What waits for bots that may not answer any more is left to people. */

let fixture: Fixture;
beforeAll(async () => {
  fixture = await startFixture();
});
afterAll(() => fixture.gateway.stop());

const statusOf = async (owner: Owner): Promise<string[]> =>
  (
    await fixture.gateway.database.query<{ status: string }>('select status from conversations where tenant_id = $1', [
      owner.id,
    ])
  ).map(({ status }) => status);

/** A tenant whose bot has answered a person, and so has the conversation. */
async function answered(): Promise<{ readonly owner: Owner; readonly person: string }> {
  const [owner, person] = [await fixture.tenant(), newPhone()];
  await owner.bot();
  await owner.hears(person, 'hi');
  await owner.answers(person.slice(1), 1);
  expect(await statusOf(owner)).toEqual(['pending']);
  return { owner, person };
}

/** Ends the right to use bots. */
const END = {
  'lost the plan': `update tenants set plan_id = (select id from plans where not 'bots' = any(features) order by id limit 1) where tenant_id = $1`,
  'was suspended': `update tenants set status = 'suspended' where tenant_id = $1`,
};
const ENDS = Object.entries(END);

test.each(ENDS)('the conversation of a reply that waits opens when its tenant %s', async (_name, end) => {
  const owner = await fixture.tenant();
  await owner.bot();
  const { query } = fixture.gateway.database;
  await query("update channels set status = 'paused' where tenant_id = $1", [owner.id]);
  await owner.hears(newPhone(), 'hi');
  await eventually(async () => expect(await owner.replies()).toMatchObject([{ state: 'sending' }]));
  expect(await statusOf(owner)).toEqual(['pending']);
  await query(end, [owner.id]);
  await eventually(async () => expect(await owner.replies()).toMatchObject([{ state: 'refused' }]));
  await owner.settled();
  expect(await statusOf(owner)).toEqual(['open']);
  expect(await owner.skips()).toMatchObject([{ reason: 'FEATURE_NOT_AVAILABLE' }]);
  expect(await owner.outbound()).toBe(0);
});

test.each(ENDS)(
  'the conversation of a message that bots have not read opens when its tenant %s',
  async (_name, end) => {
    const { owner, person } = await answered();
    const { query } = fixture.gateway.database;
    const name = `held_${owner.id}`;
    await query(
      `create or replace function ${name}() returns trigger language plpgsql as $$ begin raise exception '${name}'; end $$`,
    );
    await query(
      `create trigger ${name} before delete on bot_inbox for each row when (old.tenant_id = ${owner.id}) execute function ${name}()`,
    );
    await owner.hears(person, 'Are you there?');
    // A decision that has begun before the end is none without the right.
    const { logs } = fixture.gateway;
    await eventually(() => expect(logs.some(line => JSON.stringify(line).includes(name))).toBe(true));
    expect(await query('select from bot_inbox where tenant_id = $1', [owner.id])).toHaveLength(1);
    await query(end, [owner.id]);
    await query(`drop trigger ${name} on bot_inbox`);
    await owner.settled();
    expect(await statusOf(owner)).toEqual(['open']);
    expect(await owner.outbound()).toBe(1);
  },
);

test.each([
  ...ENDS,
  ['disabled its last bot', 'update bots set is_enabled = false where tenant_id = $1'] as const,
  ['deleted its last bot', 'delete from bots where tenant_id = $1'] as const,
])('the conversation of a message that is not queued for bots yet opens when its tenant %s', async (_name, end) => {
  const { owner, person } = await answered();
  const { query } = fixture.gateway.database;
  const release = await fixture.holdReader();
  await owner.hears(person, 'Are you there?');
  await eventually(async () =>
    expect(await query('select from conversations where tenant_id = $1 and unread_count = 2', [owner.id])).toHaveLength(
      1,
    ),
  );
  await query(end, [owner.id]);
  await release();
  await eventually(async () => expect(await statusOf(owner)).toEqual(['open']));
  expect(await owner.outbound()).toBe(1);
});
