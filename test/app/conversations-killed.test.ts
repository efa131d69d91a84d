import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../support/gateway.ts';
import { holdLock } from '../support/lock.ts';
import { freePort } from '../support/processes.ts';
import { type Plant, startPlant } from './processes.ts';

/** A process is killed while it updates conversations in the background; one that starts later goes on. */

let plant: Plant;
beforeAll(async () => {
  plant = await startPlant({}, { PARLEY_LANE_LEASE_MS: '2000' });
});
afterAll(() => plant.stop());

const COUNT = 12_000;

async function graphql(url: string, query: string, variables: object) {
  const answer = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${plant.token}` },
    body: JSON.stringify({ query, variables }),
  });
  const { data, errors } = (await answer.json()) as { data: Record<string, Record<string, unknown>>; errors?: unknown };
  expect(errors).toBeUndefined();
  return data;
}

interface Job {
  readonly updated_count: number;
  readonly finished_at: Date | null;
}
const jobRow = async (): Promise<Job> => {
  const [row] = await plant.database.query<Job>('select updated_count, finished_at from conversation_jobs');
  if (!row) throw new Error('There is no job yet.');
  return row;
};

test('a job whose process was killed is finished by the next one: each conversation is updated once', async () => {
  await plant.database.query(
    `with c as (
       insert into contacts (tenant_id, firstname, lastname, type, phone)
       select tenant_id, 'P', n::text, 'lead', '+1415' || lpad(n::text, 7, '0') from tenants, generate_series(1, $1::int) n returning tenant_id, id
     )
     insert into conversations (tenant_id, contact_id, channel_id)
     select c.tenant_id, c.id, (select h.id from channels h where h.tenant_id = c.tenant_id) from c`,
    [COUNT],
  );
  // However fast the machine is, the job does not get beyond the half of it.
  const lock = await holdLock(
    plant.database,
    'select from conversations where id = (select id from conversations order by id offset $1 limit 1) for update',
    [COUNT / 2],
  );
  const port = await freePort();
  const first = await plant.startGateway(port);
  const update = `mutation ($input: UpdateConversationsInput!) { updateConversations(input: $input) { isQueued matchedCount } }`;
  const { updateConversations } = await graphql(first.url, update, {
    input: { target: { filter: {} }, set: { status: 'CLOSED' } },
  });
  expect(updateConversations).toEqual({ isQueued: true, matchedCount: COUNT });
  await eventually(async () => expect((await jobRow()).updated_count).toBeGreaterThan(0), 60_000);
  await first.kill();
  await lock.release();
  const { updated_count: before, finished_at: finishedAt } = await jobRow();
  expect([before < COUNT, finishedAt]).toEqual([true, null]);
  const second = await plant.startGateway(port);
  await eventually(
    async () => expect(await jobRow()).toEqual({ updated_count: COUNT, finished_at: expect.any(Date) }),
    120_000,
  );
  const [events] = await plant.database.query<{ events: number; conversations: number }>(
    `select count(*)::int as events, count(distinct payload->'conversation'->>'id')::int as conversations
     from events where type = 'conversation.updated'`,
  );
  expect(events).toEqual({ events: COUNT, conversations: COUNT });
  expect(await plant.database.query("select from conversations where status <> 'closed'")).toEqual([]);
  await second.end();
}, 300_000);
