import { randomBytes, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { laneOf, OUTBOX } from '../../../../src/features/messages/dispatch/lane.ts';
import { QueueFront } from '../../../../src/features/messages/dispatch/lane-memory.ts';
import { claimDue } from '../../../../src/features/messages/dispatch/outbox.sql.ts';
import { type Outcome, OutcomeWriter } from '../../../../src/features/messages/dispatch/outcome-writer.ts';
import type { Lane } from '../../../../src/lanes/lane.ts';
import { dataOf } from '../../../support/answers.ts';
import { eventually, startGateway, type TestGateway, type TestTenant } from '../../../support/gateway.ts';
import { ANY_TIMELINE, testLane } from '../../../support/lane.ts';

/** Outcomes of many lanes, written together. No worker runs; the test itself sends. */

let gateway: TestGateway;
let writer: OutcomeWriter;
beforeAll(async () => {
  gateway = await startGateway({ role: 'gateway' });
  writer = new OutcomeWriter(gateway.gateway.resources);
});
afterAll(() => gateway.stop());

const EPOCH = 7;

interface Sent {
  readonly tenant: TestTenant;
  readonly channelId: number;
  readonly lane: Lane;
  readonly messageId: string;
}

const SEND =
  'mutation ($to: String!) { sendMessage(input: { to: { phone: $to }, content: { text: { body: "Hi" } }, waitForAcceptance: false }) { message { databaseId } userErrors { code message path } } }';

/** A tenant with a message, whose lane is held. */
async function accepted(): Promise<Sent> {
  const tenant = await gateway.addTenant();
  const messageId = dataOf(await gateway.graphql(SEND, { to: '+14155550111' }, tenant.token)).sendMessage.message
    .databaseId;
  const [row] = await gateway.database.query<{ id: number }>('select id::int from channels where tenant_id = $1', [
    tenant.id,
  ]);
  const channelId = row?.id ?? 0;
  const lane = { ...testLane(OUTBOX, tenant.id, laneOf(tenant.id, channelId)), epoch: EPOCH };
  await gateway.database.query(
    'insert into lanes (tenant_id, queue, key, epoch, taken_at) values ($1, $2, $3, $4, now())',
    [tenant.id, OUTBOX, lane.key, EPOCH],
  );
  return { tenant, channelId, lane, messageId };
}

const took = ({ tenant, lane, messageId }: Sent): Outcome => ({
  lane,
  kind: 'settled',
  type: 'text',
  status: {
    ...{ tenantId: tenant.id, messageId, status: 'sent', at: new Date().toISOString() },
    wamid: `wamid.${randomUUID()}`,
  },
});
const refused = ({ tenant, lane, messageId }: Sent): Outcome => ({
  lane,
  kind: 'settled',
  type: 'text',
  status: {
    ...{ tenantId: tenant.id, messageId, status: 'failed', at: new Date().toISOString() },
    error: { code: 131_026, title: 'Undeliverable', details: '' },
  },
});
/** Texts that PostgreSQL cannot store: U+0000, and one cut within an emoji. */
const UNSTORABLE = ['a \0 b', 'cut \ud83d'];
const lose = ({ lane }: Sent) =>
  gateway.database.query('update lanes set epoch = epoch + 1 where tenant_id = $1 and key = $2', [
    lane.tenantId,
    lane.key,
  ]);
async function statusOf({ messageId }: Sent): Promise<string | undefined> {
  const [row] = await gateway.database.query<{ status: string }>(
    'select status from message_states where message_id = $1',
    [messageId],
  );
  return row?.status;
}

test('one statement claims for many lanes, up to the limit of each', async () => {
  const lanes = [await accepted(), await accepted(), await accepted()];
  const claimed = await claimDue(
    gateway.gateway.resources.db.write,
    lanes.map(({ tenant, channelId }, index) => ({
      ...{ tenantId: tenant.id, channelId, front: new QueueFront() },
      limit: index === 1 ? 0 : 10,
    })),
    60_000,
    ANY_TIMELINE,
  );
  expect(claimed.map(rows => rows.map(row => row.message_id))).toEqual([
    [lanes[0]?.messageId],
    [],
    [lanes[2]?.messageId],
  ]);
});

test('outcomes of many tenants are written together, each with its event, and removed from the outbox', async () => {
  const messages = [await accepted(), await accepted(), await accepted()];
  const [one, two, three] = messages as [Sent, Sent, Sent];
  await Promise.all([took(one), refused(two), took(three)].map(outcome => writer.write(outcome)));
  expect(await Promise.all(messages.map(statusOf))).toEqual(['sent', 'failed', 'sent']);
  const ids = messages.map(({ messageId }) => messageId);
  const events = await gateway.database.query<{ tenant_id: number; type: string; id: string }>(
    `select tenant_id::int, type, payload->'message'->>'id' as id from events
     where type in ('message.sent', 'message.failed') and payload->'message'->>'id' = any($1::text[]) order by seq`,
    [ids],
  );
  expect(events).toEqual(
    [...messages]
      .sort((a, b) => a.tenant.id - b.tenant.id)
      .map(({ tenant, messageId }) => ({
        ...{ tenant_id: tenant.id, id: messageId },
        type: messageId === two.messageId ? 'message.failed' : 'message.sent',
      })),
  );
  expect(await gateway.database.query('select from outbox where message_id = any($1::uuid[])', [ids])).toEqual([]);
  const [{ leaked } = { leaked: 1 }] = await gateway.database.query<{ leaked: number }>(
    `select count(*)::int as leaked from events where payload->'message' ? 'tenant_id'`,
  );
  expect(leaked, 'a public payload does not tell the id of its tenant').toBe(0);
});

test.each(UNSTORABLE)('an outcome with a text that cannot be stored is written without it: %j', async text => {
  const [failed, waiting, other] = [await accepted(), await accepted(), await accepted()];
  const outcome = refused(failed);
  if (outcome.kind !== 'settled') throw new Error('It is a refusal.');
  const error = { code: 131_009, title: text, details: text };
  await gateway.database.query('update outbox set attempts = 1 where message_id = $1', [waiting.messageId]);
  await Promise.all([
    writer.write({ ...outcome, status: { ...outcome.status, error } }),
    writer.write({
      lane: waiting.lane,
      kind: 'postponed',
      postponed: {
        ...{ messageId: waiting.messageId, attempts: 1, afterMs: 3_600_000, attempted: true, inDoubt: false },
        reason: 'a \0 b',
      },
    }),
    writer.write(took(other)),
  ]);
  const [row] = await gateway.database.query<{ status: string; error: object }>(
    'select status, error from message_states where message_id = $1',
    [failed.messageId],
  );
  expect(row).toEqual({ status: 'failed', error: { code: 131_009, title: '', details: '' } });
  const [postponed] = await gateway.database.query<{ is_later: boolean }>(
    `select next_attempt_at > now() + interval '30 minutes' as is_later from outbox where message_id = $1`,
    [waiting.messageId],
  );
  expect(postponed).toEqual({ is_later: true });
  expect(await statusOf(other)).toBe('sent');
});

test('an acceptance whose network id is too long for its index is written without the id, and does not hold up others', async () => {
  const [long, other] = [await accepted(), await accepted()];
  const outcome = took(long);
  if (outcome.kind !== 'settled') throw new Error('It is an acceptance.');
  const wamid = `wamid.${randomBytes(6_000).toString('base64')}`;
  await Promise.all([writer.write({ ...outcome, status: { ...outcome.status, wamid } }), writer.write(took(other))]);
  expect(await Promise.all([long, other].map(statusOf))).toEqual(['sent', 'sent']);
  expect(await gateway.database.query('select from outbox where message_id = $1', [long.messageId])).toEqual([]);
});

test('of lanes that were taken over, only acceptances are written', async () => {
  const [one, two, three] = [await accepted(), await accepted(), await accepted()];
  const claim = { tenantId: three.tenant.id, channelId: three.channelId, limit: 1, front: new QueueFront() };
  await claimDue(gateway.gateway.resources.db.write, [claim], 60_000, ANY_TIMELINE);
  const outboxOf = ({ messageId }: Sent) =>
    gateway.database.query('select next_attempt_at, attempts, dispatched_at from outbox where message_id = $1', [
      messageId,
    ]);
  const before = await outboxOf(three);
  await Promise.all([one, two, three].map(lose));
  await Promise.all([
    writer.write(took(one)),
    writer.write(refused(two)),
    writer.write({
      lane: three.lane,
      kind: 'postponed',
      postponed: { messageId: three.messageId, attempts: 1, afterMs: 60_000, attempted: true, inDoubt: false },
    }),
  ]);
  expect([await statusOf(one), await statusOf(two)]).toEqual(['sent', 'queued']);
  expect(await outboxOf(three)).toEqual(before);
});

test('a locked message does not block other tenants, and is written when it is unlocked', async () => {
  const [locked, free] = [await accepted(), await accepted()];
  const { db } = gateway.gateway.resources;
  const client = await db.connect();
  try {
    await client.query('begin');
    await client.query('select from message_states where message_id = $1 for update', [locked.messageId]);
    let isWritten = false;
    const pending = writer.write(took(locked)).then(() => {
      isWritten = true;
    });
    await writer.write(took(free));
    expect(await statusOf(free)).toBe('sent');
    // Its own transaction waits for the lock.
    await eventually(async () => {
      const [row] = await gateway.database.query<{ waiting: number }>(
        `select count(*)::int as waiting from pg_stat_activity
         where datname = current_database() and wait_event_type = 'Lock' and query like '%lock_outbound%'`,
      );
      expect(row?.waiting).toBe(1);
    });
    expect(isWritten).toBe(false);
    await client.query('commit');
    await pending;
    expect(await statusOf(locked)).toBe('sent');
  } finally {
    await client.end();
  }
});
