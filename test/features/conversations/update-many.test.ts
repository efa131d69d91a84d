import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CONVERSATION_JOBS } from '../../../src/features/conversations/jobs/job.ts';
import { runJobs } from '../../../src/features/conversations/jobs/run.ts';
import { type Lane, LaneLost } from '../../../src/lanes/lane.ts';
import { codeOf, dataOf, faultsOf, payloadOf, userErrorsOf } from '../../support/answers.ts';
import { eventually, startGateway, type TestGateway, type TestTenant } from '../../support/gateway.ts';
import { testLane } from '../../support/lane.ts';

let gateway: TestGateway;
/** Accepts jobs, and has no worker. */
let idle: TestGateway;
beforeAll(async () => {
  [gateway, idle] = await Promise.all([startGateway(), startGateway({ role: 'gateway' })]);
});
afterAll(() => Promise.all([gateway.stop(), idle.stop()]));

/** Adds conversations of as many contacts. @returns their keys, in order */
async function conversations(of: TestGateway, tenant: TestTenant, count: number, status = 'open'): Promise<string[]> {
  const rows = await of.database.query<{ id: string }>(
    `with c as (
       insert into contacts (tenant_id, firstname, lastname, type, phone)
       select $1, 'P', n::text, 'lead', '+1415' || lpad((n + 1000 * (select count(*) from contacts where tenant_id = $1))::text, 7, '0')
       from generate_series(1, $2::int) n returning id
     )
     insert into conversations (tenant_id, contact_id, channel_id, status)
     select $1, c.id, (select id from channels where tenant_id = $1 limit 1), $3 from c order by c.id returning id`,
    [tenant.id, count, status],
  );
  return rows.map(({ id }) => String(id)).sort((a, b) => Number(a) - Number(b));
}
const BATCH = `summary { total succeeded failed isRolledBack } matchedCount isQueued job { id databaseId matchedCount updatedCount isFinished }
  results { index outcome conversation { databaseId status } userErrors { code path } }`;
const update = (of: TestGateway, tenant: TestTenant, input: object) =>
  of.mutate('updateConversations', input, BATCH, tenant.token);
const updatedEvents = async (of: TestGateway, tenant: TestTenant) =>
  (
    await of.database.query<{ id: string }>(
      `select payload->'conversation'->>'id' as id from events where tenant_id = $1 and type = 'conversation.updated'`,
      [tenant.id],
    )
  ).map(({ id }) => id);
const jobOf = async (of: TestGateway, tenant: TestTenant, id: string) =>
  dataOf(
    await of.graphql(
      'query ($id: ID!) { conversationJob(id: $id) { matchedCount updatedCount failedCount isFinished error finishedAt } }',
      { id },
      tenant.token,
    ),
  ).conversationJob;

test('a change that is repeated under its key is answered as before, also when its assignee and tag are gone', async () => {
  const tenant = await gateway.addTenant();
  const [id] = await conversations(gateway, tenant, 1);
  const make = async (name: string, input: object, selection: string) =>
    payloadOf(await gateway.mutate(name, input, selection, tenant.token));
  const { staffMember } = await make(
    'createStaffMember',
    { name: 'Ana', email: 'ana@example.com', role: 'AGENT' },
    'staffMember { id }',
  );
  const { tag } = await make('createTag', { name: 'VIP' }, 'tag { id }');
  const set = { assigneeId: staffMember.id, addTagIds: [tag.id] };
  const one = () => make('updateConversation', { id, ...set, idempotencyKey: 'one' }, 'conversation { databaseId }');
  const many = async () => {
    const input = { target: { ids: [id] }, set, idempotencyKey: 'several' };
    return payloadOf(await update(gateway, tenant, input)).results;
  };
  const first = [await one(), await many()];
  await make('deleteStaffMember', { id: staffMember.id }, 'deletedId');
  await make('deleteTag', { id: tag.id }, 'deletedId');
  expect([await one(), await many()]).toEqual(first);
  expect(
    Object.keys(
      faultsOf(await gateway.mutate('updateConversation', { id, ...set }, 'conversation { id }', tenant.token)),
    ),
  ).toEqual(['assigneeId', 'addTagIds.0']);
});

test('named conversations without unread messages are closed, and not over a message that is stored meanwhile', async () => {
  const tenant = await gateway.addTenant();
  const ids = await conversations(gateway, tenant, 3);
  const status = () =>
    gateway.database.query<{ id: string; status: string }>(
      'select id::text as id, status from conversations where tenant_id = $1 order by id',
      [tenant.id],
    );
  const unread = 'update conversations set unread_count = unread_count + 1 where tenant_id = $1 and id = $2';
  await gateway.database.query(unread, [tenant.id, ids[0]]);
  const storing = new pg.Client({ connectionString: gateway.database.url });
  await storing.connect();
  try {
    await storing.query('begin');
    await storing.query(unread, [tenant.id, ids[1]]);
    const closing = update(gateway, tenant, {
      target: { filter: { id: { in: ids }, unreadCount: { eq: 0 } } },
      set: { status: 'CLOSED' },
    });
    await eventually(async () =>
      expect(
        await gateway.database.query(
          "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
        ),
      ).not.toEqual([]),
    );
    await storing.query('commit');
    expect(payloadOf(await closing).results).toMatchObject([{ conversation: { databaseId: ids[2] } }]);
  } finally {
    await storing.end();
  }
  expect((await status()).map(row => row.status)).toEqual(['open', 'open', 'closed']);
});

describe('updateConversations of named conversations', () => {
  test('changes them in one transaction, with an outcome for each and one event for each that changed', async () => {
    const tenant = await gateway.addTenant();
    const ids = await conversations(gateway, tenant, 3);
    const { tag } = payloadOf(await gateway.mutate('createTag', { name: 'VIP' }, 'tag { id }', tenant.token));
    const input = {
      target: { ids: [ids[2], '999999', ids[0], 'nonsense'] },
      set: { status: 'CLOSED', addTagIds: [tag.id] },
      idempotencyKey: 'many',
    };
    const batch = payloadOf(await update(gateway, tenant, input));
    expect(batch).toMatchObject({
      summary: { total: 4, succeeded: 2, failed: 2, isRolledBack: false },
      matchedCount: 2,
      isQueued: false,
      job: null,
      results: [
        { index: 0, outcome: 'UPDATED', conversation: { databaseId: ids[2], status: 'CLOSED' }, userErrors: [] },
        {
          index: 1,
          outcome: 'FAILED',
          conversation: null,
          userErrors: [{ code: 'NOT_FOUND', path: ['target', 'ids', '1'] }],
        },
        { index: 2, outcome: 'UPDATED', conversation: { databaseId: ids[0] } },
        { index: 3, outcome: 'FAILED' },
      ],
    });
    expect(payloadOf(await update(gateway, tenant, input))).toEqual(batch);
    expect((await updatedEvents(gateway, tenant)).sort()).toEqual([ids[0], ids[2]].sort());
    const { conversation } = dataOf(
      await gateway.graphql(
        'query ($id: ID!) { conversation(id: $id) { tags { name } } }',
        { id: ids[0] },
        tenant.token,
      ),
    );
    expect(conversation.tags).toEqual([{ name: 'VIP' }]);
  });

  test('with ROLL_BACK changes nothing if one cannot be changed', async () => {
    const tenant = await gateway.addTenant();
    const ids = await conversations(gateway, tenant, 2);
    const batch = payloadOf(
      await update(gateway, tenant, {
        target: { ids: [...ids, '999999'] },
        set: { status: 'CLOSED' },
        onError: 'ROLL_BACK',
      }),
    );
    expect(batch).toMatchObject({
      summary: { total: 3, succeeded: 0, failed: 3, isRolledBack: true },
      results: [{ outcome: 'ROLLED_BACK' }, { outcome: 'ROLLED_BACK' }, { outcome: 'FAILED' }],
    });
    expect(await updatedEvents(gateway, tenant)).toEqual([]);
  });

  test('takes 1 to 500 ids, or a filter, and tells all faults with their paths', async () => {
    const tenant = await gateway.addTenant();
    const set = { status: 'CLOSED' };
    const many = Array.from({ length: 501 }, (_, index) => String(index + 1));
    for (const ids of [[], many])
      expect(faultsOf(await update(gateway, tenant, { target: { ids }, set }))).toEqual({
        'target.ids': [expect.stringContaining('1 to 500')],
      });
    const faulty = { snoozedUntil: '2020-01-01', assigneeId: '999', addTagIds: ['998'] };
    expect(Object.keys(faultsOf(await update(gateway, tenant, { target: { ids: ['1'] }, set: faulty })))).toEqual([
      'set.snoozedUntil',
      'set.assigneeId',
      'set.addTagIds.0',
    ]);
    const filter = { lastActivityAt: { between: ['2026-01-01'] } };
    expect(userErrorsOf(await update(gateway, tenant, { target: { filter }, set }))).toMatchObject([
      { path: ['target', 'filter', 'lastActivityAt', 'between'] },
    ]);
    const reader = await gateway.addToken(tenant, { scopes: ['conversations:read'] });
    const input = { target: { ids: ['1'] }, set };
    expect(codeOf(await gateway.mutate('updateConversations', input, 'matchedCount', reader))).toBe(
      'INSUFFICIENT_SCOPE',
    );
  });

  test('of another tenant are not found', async () => {
    const [tenant, other] = [await gateway.addTenant(), await gateway.addTenant()];
    const [theirs] = await conversations(gateway, other, 1);
    const batch = payloadOf(await update(gateway, tenant, { target: { ids: [theirs] }, set: { status: 'CLOSED' } }));
    expect(batch.results).toMatchObject([{ outcome: 'FAILED', userErrors: [{ code: 'NOT_FOUND' }] }]);
    expect(await updatedEvents(gateway, other)).toEqual([]);
  });
});

describe('updateConversations of those that match a filter', () => {
  test('refuses conditions of null, which a list ignores: they would change more than was meant', async () => {
    const tenant = await gateway.addTenant();
    await conversations(gateway, tenant, 2);
    const filter = { assigneeId: { eq: null }, or: [{ not: { status: null } }, { channelId: { in: null } }] };
    const refused = await update(gateway, tenant, { target: { filter }, set: { status: 'CLOSED' } });
    expect(Object.keys(faultsOf(refused)).sort()).toEqual([
      'target.filter.assigneeId.eq',
      'target.filter.or.0.not.status',
      'target.filter.or.1.channelId.in',
    ]);
    expect(await updatedEvents(gateway, tenant)).toEqual([]);
  });

  test('changes up to 500 at once', async () => {
    const tenant = await gateway.addTenant();
    const open = await conversations(gateway, tenant, 3);
    await conversations(gateway, tenant, 2, 'pending');
    const batch = payloadOf(
      await update(gateway, tenant, { target: { filter: { status: { eq: 'OPEN' } } }, set: { status: 'CLOSED' } }),
    );
    expect(batch).toMatchObject({ matchedCount: 3, isQueued: false, summary: { succeeded: 3, failed: 0 } });
    expect((await updatedEvents(gateway, tenant)).sort()).toEqual([...open].sort());
  });

  test('changes more in the background, each once, and shows the progress', async () => {
    const tenant = await gateway.addTenant();
    const ids = await conversations(gateway, tenant, 701);
    const pending = await conversations(gateway, tenant, 2, 'pending');
    const input = {
      target: { filter: { status: { eq: 'OPEN' } } },
      set: { status: 'CLOSED' },
      idempotencyKey: 'all',
    };
    const batch = payloadOf(await update(gateway, tenant, input));
    expect(batch).toMatchObject({
      summary: null,
      results: [],
      matchedCount: 701,
      isQueued: true,
      job: { matchedCount: 701 },
    });
    expect(payloadOf(await update(gateway, tenant, input)).job.id).toBe(batch.job.id);
    await eventually(async () =>
      expect(await jobOf(gateway, tenant, batch.job.id)).toEqual({
        matchedCount: 701,
        updatedCount: 701,
        failedCount: 0,
        isFinished: true,
        error: null,
        finishedAt: expect.any(String),
      }),
    );
    expect((await updatedEvents(gateway, tenant)).sort()).toEqual([...ids].sort());
    const { conversations: left } = dataOf(
      await gateway.graphql(
        '{ conversations(filter: { status: { ne: CLOSED } }) { nodes { databaseId } } }',
        {},
        tenant.token,
      ),
    );
    expect(left.nodes.map(({ databaseId }: { databaseId: string }) => databaseId).sort()).toEqual([...pending].sort());
    expect(
      codeOf(
        await update(gateway, tenant, {
          ...input,
          set: { status: 'OPEN' },
          target: { filter: {} },
          onError: 'ROLL_BACK',
          idempotencyKey: null,
        }),
      ),
    ).toBe('VALIDATION_ERROR');
  });
});

/** A lane that ends its turn after some batches. */
const laneOf = (tenantId: number, batches: number, fence: Lane['fence'] = () => Promise.resolve()): Lane => {
  let left = batches;
  return {
    ...testLane(CONVERSATION_JOBS, tenantId, String(tenantId)),
    ready: async () => {
      left -= 1;
      return left >= 0;
    },
    fence,
  };
};

describe('a job whose process ends', () => {
  test('goes on where its last batch was committed: none is updated twice, none is left out', async () => {
    const tenant = await idle.addTenant();
    const ids = await conversations(idle, tenant, 650);
    const { resources } = idle.gateway;
    const { job } = payloadOf(await update(idle, tenant, { target: { filter: {} }, set: { status: 'CLOSED' } }));
    expect(await jobOf(idle, tenant, job.id)).toMatchObject({ updatedCount: 0, isFinished: false });
    await runJobs(resources, laneOf(tenant.id, 2));
    expect(await jobOf(idle, tenant, job.id)).toMatchObject({ updatedCount: 400, isFinished: false });
    // Another process has taken the lane over: nothing of this batch stays.
    const lost = () => Promise.reject(new LaneLost('Taken over.'));
    await expect(runJobs(resources, laneOf(tenant.id, 1, lost))).rejects.toThrow(LaneLost);
    expect(await jobOf(idle, tenant, job.id)).toMatchObject({ updatedCount: 400 });
    // Reopened by somebody after its turn: stays open.
    payloadOf(await update(idle, tenant, { target: { ids: [ids[0]] }, set: { status: 'OPEN' } }));
    await runJobs(resources, laneOf(tenant.id, 10));
    expect(await jobOf(idle, tenant, job.id)).toMatchObject({ updatedCount: 650, isFinished: true, error: null });
    // A filter may hold what it looked for in contacts.
    expect(await idle.database.query('select filter from conversation_jobs where id = $1', [job.databaseId])).toEqual([
      { filter: {} },
    ]);
    expect(await updatedEvents(idle, tenant)).toHaveLength(651);
  });

  test('is tried again after an error, and given up when a staff member of it was removed', async () => {
    const tenant = await idle.addTenant();
    await conversations(idle, tenant, 501);
    const { resources } = idle.gateway;
    const [staff] = await idle.database.query<{ id: string }>(
      "insert into staff (tenant_id, name, email) values ($1, 'Eva', 'eva@example.com') returning id",
      [tenant.id],
    );
    const { job } = payloadOf(await update(idle, tenant, { target: { filter: {} }, set: { assigneeId: staff?.id } }));
    const failing = () => Promise.reject(new Error('canceling statement due to statement timeout'));
    await runJobs(resources, laneOf(tenant.id, 1, failing));
    const error = 'The last batch failed, and is tried again.';
    expect(await jobOf(idle, tenant, job.id)).toMatchObject({ isFinished: false, error });
    expect(idle.logs).toContainEqual(
      expect.objectContaining({ msg: 'a batch of conversations could not be updated', jobId: Number(job.databaseId) }),
    );
    await idle.database.query('delete from staff where tenant_id = $1', [tenant.id]);
    // A time of this instant is rounded to milliseconds, perhaps to one that is still to come.
    await idle.database.query(
      "update conversation_jobs set next_attempt_at = now() - interval '1 second' where tenant_id = $1",
      [tenant.id],
    );
    await runJobs(resources, laneOf(tenant.id, 1));
    expect(await jobOf(idle, tenant, job.id)).toMatchObject({
      isFinished: true,
      updatedCount: 0,
      error: 'A staff member of the update was removed.',
    });
  });
});
