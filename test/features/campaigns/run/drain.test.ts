import { afterAll, beforeAll, expect, test } from 'vitest';
import { dataOf, payloadOf } from '../../../support/answers.ts';
import { eventually } from '../../../support/gateway.ts';
import { type CampaignFixture, type People, type Sender, startCampaignFixture } from '../fixture.ts';

let fixture: CampaignFixture;
beforeAll(async () => {
  fixture = await startCampaignFixture();
});
afterAll(() => fixture.gateway.stop());

// biome-ignore lint/suspicious/noExplicitAny: what a test expects of a row it says by assertions
const query = (text: string, values: unknown[] = []): Promise<any[]> => fixture.gateway.database.query(text, values);

const sentTo = ({ phones }: People): number =>
  phones.reduce((sum, to) => sum + fixture.gateway.emulator.sent({ to, limit: 10 }).messages.length, 0);

const statusOf = async (of: Sender, id: string): Promise<string> =>
  dataOf(await of.ask('query ($id: ID!) { campaign(id: $id) { status } }', { id })).campaign.status;

/** Sends a campaign to one person: turns and sends that were running before it have ended when it has. */
async function another(of: Sender): Promise<void> {
  const people = await of.people(1);
  const id = await of.campaign({ audience: { groupIds: [people.groupId] } });
  dataOf(await of.mutate('startCampaign', { id }));
  await eventually(() => expect(sentTo(people)).toBe(1));
  await eventually(async () => expect(await statusOf(of, id)).toBe('COMPLETED'));
}

/** Leaves a running campaign as a process does that is killed between its choice of recipients and the acceptance of their messages. */
async function leaveClaims(of: Sender, id: string, { ids }: People, status = 'running'): Promise<void> {
  await query(
    `insert into campaign_recipients (tenant_id, campaign_id, contact_id, state, due_at, message_id)
     select $1, $2, x::bigint, 1, now(), uuid_v7(clock_timestamp(), x::bigint) from unnest($3::text[]) x`,
    [of.id, id, ids],
  );
  await query(
    `update campaigns set status = $4, started_at = now(), last_message_at = now(), total = $3, pending = 0, is_prepared = true,
       wave_size = 100, position = 1000000000, channel_id = (select id from channels where tenant_id = $1)
     where tenant_id = $1 and id = $2`,
    [of.id, id, ids.length, status],
  );
}

/** Makes each acceptance of messages take so long, until the test ends it. */
async function slowAcceptance(seconds: number): Promise<() => Promise<unknown>> {
  await query(
    `create or replace function slow() returns trigger language plpgsql as $$ begin perform pg_sleep(${seconds}); return null; end $$`,
  );
  await query('create trigger slow before insert on messages for each statement execute function slow()');
  await eventually(async () =>
    expect(
      await query(`select from pg_stat_activity where datname = current_database() and wait_event = 'PgSleep'`),
    ).not.toEqual([]),
  );
  return () => query('drop trigger slow on messages');
}

/** Lets no message of a tenant be sent, until the test ends it. */
async function holdMessages({ id }: Sender): Promise<() => Promise<unknown>> {
  await query(
    `create or replace function later() returns trigger language plpgsql as $$ begin new.next_attempt_at := now() + interval '1 hour'; return new; end $$`,
  );
  await query(
    `create trigger later before insert on outbox for each row when (new.tenant_id = ${id}) execute function later()`,
  );
  return () => query('drop trigger later on outbox');
}

test.each([
  ['that runs', async (of: Sender, id: string) => dataOf(await of.mutate('startCampaign', { id }))],
  ['that a killed process has left', leaveClaims],
])('a campaign %s and is cancelled while its messages are being accepted sends none of them', async (_which, begin) => {
  const of = await fixture.sender();
  const people = await of.people(20);
  const id = await of.campaign({ audience: { groupIds: [people.groupId] } });
  const release = await holdMessages(of);
  const slow = slowAcceptance(1);
  await begin(of, id, people);
  const restore = await slow;
  dataOf(await of.mutate('cancelCampaign', { id }));
  await restore();
  await release();
  // Were a message accepted after the cancellation, it would be sent before this one.
  await another(of);
  expect(sentTo(people)).toBe(0);
  expect(await query('select from outbox where tenant_id = $1', [of.id])).toEqual([]);
});

test('recipients that a killed process has left count as pending in a campaign that is cancelled, or fails', async () => {
  const of = await fixture.sender();
  const people = await of.people(20);
  const cancelled = await of.campaign({ audience: { groupIds: [people.groupId] } });
  await leaveClaims(of, cancelled, people, 'paused');
  const selection = 'campaign { status progress { total pending skipped } }';
  const { campaign } = payloadOf(await of.mutate('cancelCampaign', { id: cancelled }, selection));
  expect(campaign).toEqual({ status: 'CANCELLED', progress: { total: 20, pending: 20, skipped: 0 } });

  await query(`update channels set status = 'disconnected' where tenant_id = $1`, [of.id]);
  const failed = await of.campaign({ audience: { groupIds: [people.groupId] } });
  await leaveClaims(of, failed, people);
  await eventually(async () =>
    expect(
      dataOf(
        await of.ask(`query ($id: ID!) { ${selection.replace('campaign', 'campaign(id: $id)')} }`, { id: failed }),
      ),
    ).toEqual({ campaign: { status: 'FAILED', progress: { total: 20, pending: 20, skipped: 0 } } }),
  );
  expect(sentTo(people)).toBe(0);
});

test('what a killed process has left is chosen anew: once each, in the sending hours, and not against an opt-out', async () => {
  const of = await fixture.sender();
  const people = await of.people(20);
  const id = await of.campaign({ audience: { groupIds: [people.groupId] } });
  await query('update contacts set opted_out_at = now() where tenant_id = $1 and id = $2', [of.id, people.ids[0]]);
  await leaveClaims(of, id, people);
  await eventually(async () => expect(await statusOf(of, id)).toBe('COMPLETED'));
  expect(people.phones.map(to => fixture.gateway.emulator.sent({ to, limit: 10 }).messages.length)).toEqual([
    0,
    ...Array.from({ length: 19 }, () => 1),
  ]);

  const later = await of.people(5, { timeZone: 'UTC' });
  const hour = (new Date().getUTCHours() + 6) % 24;
  const at = (value: number): string => `${String(value % 24).padStart(2, '0')}:00`;
  const night = await of.campaign({
    audience: { groupIds: [later.groupId] },
    sendingHours: { start: at(hour), end: at(hour + 2) },
  });
  await leaveClaims(of, night, later);
  await eventually(async () =>
    expect(
      await query(
        'select distinct state, message_id, due_at > now() as is_later from campaign_recipients where campaign_id = $1',
        [night],
      ),
    ).toEqual([{ state: 1, message_id: null, is_later: true }]),
  );
  expect(sentTo(later)).toBe(0);
});

test('a pause during the first wave leaves the others to its outcome', async () => {
  const of = await fixture.sender();
  const people = await of.people(40);
  const id = await of.campaign({
    audience: { groupIds: [people.groupId] },
    ...{ firstWave: 5, firstWaveSeconds: 86_400, maxFailurePercent: 1 },
  });
  // The outcome of the wave is not known.
  const release = await holdMessages(of);
  const run = async () => {
    const [row] = await query(
      `select pending, is_wave_passed, (select count(*)::int from outbox o where o.tenant_id = c.tenant_id) as queued
       from campaigns c where tenant_id = $1 and id = $2`,
      [of.id, id],
    );
    return row;
  };
  const wave = { pending: 35, is_wave_passed: false, queued: 5 };
  dataOf(await of.mutate('startCampaign', { id }));
  await eventually(async () => expect(await run()).toEqual(wave));
  dataOf(await of.mutate('pauseCampaign', { id }));
  expect(await run()).toEqual({ pending: 40, is_wave_passed: false, queued: 0 });
  dataOf(await of.mutate('resumeCampaign', { id }));
  await eventually(async () => expect(await run()).toEqual(wave));
  const steps = fixture.gateway.statements.length;
  await eventually(() => expect(fixture.gateway.statements.length).toBeGreaterThan(steps + 100));
  expect(await run()).toEqual(wave);
  await release();
});

test('a first wave that the network does not take is not over when its time is', async () => {
  const of = await fixture.sender();
  const people = await of.people(40);
  const id = await of.campaign({ audience: { groupIds: [people.groupId] }, firstWave: 5, firstWaveSeconds: 1 });
  const release = await holdMessages(of);
  dataOf(await of.mutate('startCampaign', { id }));
  const run = async () =>
    (
      await query(
        `select pending, is_wave_passed, wave_ended_at > started_at + interval '4 seconds' as is_late from campaigns where tenant_id = $1 and id = $2`,
        [of.id, id],
      )
    )[0];
  await eventually(async () => expect(await run()).toEqual({ pending: 35, is_wave_passed: false, is_late: true }));
  await release();
  await query("update outbox set next_attempt_at = now() - interval '1 second' where tenant_id = $1", [of.id]);
  await eventually(async () => expect(await statusOf(of, id)).toBe('COMPLETED'));
  expect(sentTo(people)).toBe(40);
});

test('a running campaign stops when its tenant is suspended', async () => {
  const of = await fixture.sender();
  const people = await of.people(200);
  const id = await of.campaign({ audience: { groupIds: [people.groupId] }, messagesPerSecond: 1, firstWave: 1_000 });
  dataOf(await of.mutate('startCampaign', { id }));
  await eventually(() => expect(sentTo(people)).toBeGreaterThan(0));
  await query(`update tenants set status = 'suspended' where tenant_id = $1`, [of.id]);
  await eventually(async () =>
    expect(await query(`select error from lanes where queue = 'campaigns' and tenant_id = $1`, [of.id])).toEqual([
      { error: 'The tenant is suspended.' },
    ]),
  );
});

test('messages that still wait when their sending hours are over are taken back until the next ones', async () => {
  const of = await fixture.sender();
  const people = await of.people(20, { timeZone: 'UTC' });
  const id = await of.campaign({
    audience: { groupIds: [people.groupId] },
    sendingHours: { start: '00:00', end: '23:59' },
  });
  const release = await holdMessages(of);
  dataOf(await of.mutate('startCampaign', { id }));
  const queued = async () =>
    (await query('select count(*)::int as count from outbox where tenant_id = $1', [of.id]))[0].count;
  await eventually(async () => expect(await queued()).toBe(20));
  const hour = (new Date().getUTCHours() + 6) % 24;
  const at = (value: number): string => `${String(value % 24).padStart(2, '0')}:00`;
  const hours = JSON.stringify({ start: at(hour), end: at(hour + 2) });
  await query('update campaigns set sending_hours = $2 where tenant_id = $1', [of.id, hours]);
  await eventually(async () =>
    expect(
      await query(
        'select state, message_id, due_at > now() as is_later, count(*)::int as people from campaign_recipients where campaign_id = $1 group by 1, 2, 3',
        [id],
      ),
    ).toEqual([{ state: 1, message_id: null, is_later: true, people: 20 }]),
  );
  expect([await queued(), await statusOf(of, id)]).toEqual([0, 'RUNNING']);
  await release();
  await query(`update campaigns set sending_hours = '{"start": "00:00", "end": "23:59"}' where tenant_id = $1`, [
    of.id,
  ]);
  await query("update campaign_recipients set due_at = now() - interval '1 second' where campaign_id = $1", [id]);
  await eventually(async () => expect(await statusOf(of, id)).toBe('COMPLETED'));
  expect(people.phones.map(to => fixture.gateway.emulator.sent({ to, limit: 10 }).messages.length)).toEqual(
    people.phones.map(() => 1),
  );
});
