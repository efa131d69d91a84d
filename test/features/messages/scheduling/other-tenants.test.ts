import { afterAll, beforeAll, expect, test } from 'vitest';
import { dataOf } from '../../../support/answers.ts';
import { eventually, startGateway, type TestGateway, type TestTenant } from '../../../support/gateway.ts';
import { holdLock } from '../../../support/lock.ts';
import { newPhone } from '../../../support/seed.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.stop());

/** Schedules messages of a tenant. @returns their ids */
async function scheduled({ token }: TestTenant, count: number): Promise<string[]> {
  const messages = Array.from({ length: count }, () => ({
    to: { phone: newPhone() },
    content: { text: { body: 'Later' } },
    scheduledAt: { instant: new Date(Date.now() + 3_600_000).toISOString() },
  }));
  const { results } = dataOf(
    await gateway.mutate('sendMessages', { messages }, 'results { message { databaseId } }', token),
  ).sendMessages;
  return results.map((one: { message: { databaseId: string } }) => one.message.databaseId);
}
/** Lets the time of messages come. */
const come = (ids: readonly string[], secondsAgo: number) =>
  gateway.database.query('update outbox set due_at = now() - make_interval(secs => $2) where message_id = any($1)', [
    ids,
    secondsAgo,
  ]);
const statusesOf = async (ids: readonly string[]): Promise<string[]> =>
  (
    await gateway.database.query<{ status: string }>(
      'select distinct status from message_states where message_id = any($1)',
      [ids],
    )
  ).map(({ status }) => status);
const areSent = (ids: readonly string[]) =>
  eventually(async () => expect(await statusesOf(ids)).not.toEqual(expect.arrayContaining(['scheduled'])));

test('messages of a tenant whose contacts are locked do not hold up those of others', async () => {
  const [busy, other] = [await gateway.addTenant(), await gateway.addTenant()];
  const theirs = await scheduled(busy, 500);
  const ours = await scheduled(other, 1);
  const lock = await holdLock(gateway.database, 'select from contacts where tenant_id = $1 for update', [busy.id]);
  try {
    await come(theirs, 20);
    await come(ours, 10);
    await areSent(ours);
    expect(await statusesOf(theirs)).toEqual(['scheduled']);
  } finally {
    await lock.release();
  }
  await areSent(theirs);
});

test('messages of a tenant that cannot be released do not hold up those of others', async () => {
  const [broken, other] = [await gateway.addTenant(), await gateway.addTenant()];
  const theirs = await scheduled(broken, 1);
  const ours = await scheduled(other, 1);
  await gateway.database.query(
    `create function refuse() returns trigger language plpgsql as $$ begin raise exception 'refused by the test'; end $$;
     create trigger refuse before insert or update on monthly_usage for each row when (new.tenant_id = ${broken.id}) execute function refuse()`,
  );
  await come(theirs, 20);
  await come(ours, 10);
  await areSent(ours);
  expect(await statusesOf(theirs)).toEqual(['scheduled']);
  expect(gateway.logs).toContainEqual(
    expect.objectContaining({ tenantId: broken.id, err: expect.objectContaining({ message: 'refused by the test' }) }),
  );
  await gateway.database.query('drop trigger refuse on monthly_usage; drop function refuse');
  await areSent(theirs);
});
