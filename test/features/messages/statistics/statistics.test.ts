import fc from 'fast-check';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { deleteZeroCounts, movePending } from '../../../../src/features/messages/statistics/statistics.sql.ts';
import type { MessageStatus } from '../../../../src/network/network.ts';
import { codeOf, dataOf } from '../../../support/answers.ts';
import { startGateway, type TestGateway } from '../../../support/gateway.ts';
import { type Account, accountOf, type Counted } from './fixture.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway({ role: 'gateway' });
});
afterAll(() => gateway.stop());

const HOUR = 3_600_000;
const QUERY = `query ($since: DateTime!, $until: DateTime, $interval: StatisticsInterval!, $groupBy: [StatisticsDimension!]!, $zone: String, $filter: MessageFilter) {
  messageStatistics(since: $since, until: $until, interval: $interval, groupBy: $groupBy, timeZone: $zone, filter: $filter) {
    total series { start count status direction errorCode category country { alpha2 } source }
  }
}`;

interface Answer {
  readonly total: number;
  readonly series: readonly { readonly start: string; readonly count: number; readonly [field: string]: unknown }[];
}

const ask = async ({ token }: Account, variables: object): Promise<Answer> =>
  dataOf(await gateway.graphql(QUERY, { groupBy: [], zone: 'UTC', interval: 'DAY', ...variables }, token))[
    'messageStatistics'
  ];

/** The hour and the date of an instant on the clocks of a zone. */
function localOf(zone: string, at: Date): { readonly date: string; readonly hour: string; readonly minute: string } {
  const [date = '', time = ''] = at.toLocaleString('sv-SE', { timeZone: zone }).split(' ');
  return { date, hour: time.slice(0, 2), minute: time.slice(3, 5) };
}

/** What identifies the interval of an instant to a reader of a calendar. Offsets tell the two hours apart that a clock repeats. */
function labelOf(interval: string, zone: string, at: Date): string {
  const { date, hour, minute } = localOf(zone, at);
  if (interval === 'MONTH') return date.slice(0, 7);
  if (interval === 'DAY') return date;
  if (interval === 'HOUR') return `${date} ${hour} ${Math.round((at.getTime() / 60_000 - Number(minute)) / 60 - 0.5)}`;
  const day = new Date(`${date}T00:00Z`);
  return new Date(day.getTime() - ((day.getUTCDay() + 6) % 7) * 24 * HOUR).toISOString().slice(0, 10);
}

const WORDS: Readonly<Record<string, (message: Counted) => unknown>> = {
  STATUS: ({ status }) => status.toUpperCase(),
  DIRECTION: ({ status }) => (status === 'received' ? 'INBOUND' : 'OUTBOUND'),
  ERROR_CODE: ({ status, code }) => (status === 'failed' ? code : null),
  CATEGORY: ({ category }) => category?.toUpperCase() ?? null,
  COUNTRY: ({ country }) => country,
  SOURCE: ({ author }) => author?.kind.toUpperCase() ?? null,
};
const FIELDS: Readonly<Record<string, string>> = {
  STATUS: 'status',
  DIRECTION: 'direction',
  ERROR_CODE: 'errorCode',
  CATEGORY: 'category',
  COUNTRY: 'country',
  SOURCE: 'source',
};

type Naive = { readonly interval: string; readonly zone: string; readonly groupBy: readonly string[] };

function naiveCounts(messages: readonly Counted[], { interval, zone, groupBy }: Naive): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const message of messages) {
    const key = JSON.stringify([
      labelOf(interval, zone, message.created_at),
      ...groupBy.map(name => WORDS[name]?.(message)),
    ]);
    counts[key] = (counts[key] ?? 0) + 1;
  }
  return counts;
}

function answeredCounts({ series }: Answer, { interval, zone, groupBy }: Naive): Record<string, number> {
  return Object.fromEntries(
    series.map(point => {
      const values = groupBy.map(name => {
        const value = point[FIELDS[name] ?? ''];
        return name === 'COUNTRY' ? ((value as { alpha2: string } | null)?.alpha2 ?? null) : value;
      });
      return [JSON.stringify([labelOf(interval, zone, new Date(point.start)), ...values]), point.count];
    }),
  );
}

const ZONES = ['UTC', 'Europe/Berlin', 'America/New_York', 'Asia/Kolkata', 'Asia/Kathmandu', 'Australia/Lord_Howe'];
/** Around the day on which clocks in Europe go back. */
const FROM = Date.parse('2026-10-22T00:00Z');
const TO = Date.parse('2026-11-04T00:00Z');

const step = fc.record({
  message: fc.nat({ max: 39 }),
  status: fc.constantFrom<MessageStatus>('sent', 'delivered', 'read', 'failed'),
  afterMs: fc.integer({ min: 0, max: 3 * HOUR }),
  pricing: fc.option(
    fc.record({
      category: fc.constantFrom('marketing', 'utility', 'service'),
      type: fc.constantFrom('regular', 'free_customer_service'),
      isBillable: fc.boolean(),
    }),
  ),
});
const history = fc.array(fc.oneof(fc.array(step, { minLength: 1, maxLength: 12 }), fc.constant('move' as const)), {
  maxLength: 14,
});
const questions = fc.array(
  fc.record({
    interval: fc.constantFrom('HOUR', 'DAY', 'WEEK', 'MONTH'),
    zone: fc.constantFrom(...ZONES),
    groupBy: fc.uniqueArray(fc.constantFrom(...Object.keys(WORDS)), { maxLength: 3 }),
    since: fc.integer({ min: FROM, max: TO - 1 }),
    length: fc.integer({ min: 1, max: TO - FROM }),
    isWhole: fc.boolean(),
  }),
  { minLength: 6, maxLength: 6 },
);

test('statistics equal a naive count, for any order of statuses, prices and moves, in any zone', {
  timeout: 180_000,
}, async () => {
  const phones = ['+4915112345678', '+14155550101', '+14165550101', '+919876543210'];
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.integer({ min: FROM, max: TO - 1 }), { minLength: 40, maxLength: 40 }),
      history,
      questions,
      async (times, turns, asked) => {
        const account = await accountOf(gateway);
        const ids = await account.add(
          times.map((ms, place) => ({ at: new Date(ms).toISOString(), phone: phones[place % 4] ?? '' })),
        );
        for (const turn of turns) {
          if (turn === 'move') await account.move(7);
          else
            await account.apply(
              turn.map(({ message, status, afterMs, pricing }) => ({
                id: ids[message] ?? '',
                status,
                at: new Date((times[message] ?? 0) + afterMs).toISOString(),
                ...(status === 'failed' && { code: 131_000 + (message % 3) }),
                ...(pricing && { pricing }),
              })),
            );
        }
        const all = await account.naive();
        for (const { since, length, isWhole, ...question } of asked) {
          const from = isWhole ? Math.floor(since / HOUR) * HOUR : since;
          const until = Math.min(TO, from + length);
          const answer = await ask(account, {
            ...question,
            since: new Date(from).toISOString(),
            until: new Date(until).toISOString(),
          });
          const within = all.filter(({ created_at: at }) => at.getTime() >= from && at.getTime() < until);
          expect(answer.total).toBe(within.length);
          expect(answeredCounts(answer, question)).toEqual(naiveCounts(within, question));
        }
      },
    ),
    { numRuns: 20 },
  );
});

test('a filter counts what a list with the same filter has, from the statistics or the messages', async () => {
  const account = await accountOf(gateway);
  const at = '2026-11-02T10:15:00Z';
  const ids = await account.add([1, 2, 3, 4, 5].map(() => ({ at, phone: '+4915112345678' })));
  const [first = '', second = '', third = ''] = ids;
  await account.apply([
    { id: first, status: 'failed', at, code: 131_026 },
    { id: second, status: 'failed', at, code: 131_056 },
    { id: third, status: 'read', at },
  ]);
  const filters = [
    {},
    { status: { eq: 'FAILED' } },
    { status: { ne: 'FAILED' } },
    { status: { eq: 'QUEUED' } },
    { errorCode: { ne: 131_026 } },
    { errorClass: { ne: 'RECIPIENT' } },
    { direction: { eq: 'INBOUND' } },
    { channelId: { eq: String(account.channelId) }, status: { in: ['READ', 'QUEUED'] } },
    { templateId: { isNull: true } },
    { templateId: { ne: '7' } },
    { templateId: { in: ['7'] } },
    { createdAt: { lt: '2026-11-02T10:00:00Z' } },
    { failedAt: { gte: at } },
  ];
  for (const moved of [false, true]) {
    if (moved) await account.move();
    for (const filter of filters) {
      const listed = dataOf(
        await gateway.graphql(
          'query ($filter: MessageFilter) { messages(filter: $filter) { totalCount } }',
          { filter },
          account.token,
        ),
      )['messages'].totalCount;
      const { total } = await ask(account, { since: '2026-11-01', until: '2026-11-04', filter });
      expect([filter, total]).toEqual([filter, listed]);
    }
  }
});

test('counts that have become zero are removed two days later, and the others are not', async () => {
  const account = await accountOf(gateway);
  const { db } = gateway.gateway.resources;
  const zeros = async () =>
    (
      await gateway.database.query<{ old: number; recent: number; others: number }>(
        `select count(*) filter (where messages = 0 and hour < now() - interval '2 days')::int as old,
           count(*) filter (where messages = 0 and hour >= now() - interval '2 days')::int as recent,
           count(*) filter (where messages <> 0)::int as others
         from message_statistics where tenant_id = $1`,
        [account.tenantId],
      )
    )[0];
  const [long, now] = [Date.now() - 72 * HOUR, Date.now()].map(ms => new Date(ms).toISOString());
  const ids = await account.add([long, now].map(at => ({ at: at ?? '', phone: '+4915112345678' })));
  for (const status of ['sent', 'delivered', 'read'] as const) {
    await account.apply(ids.map(id => ({ id, status, at: now ?? '' })));
    await account.move();
  }
  expect(await zeros()).toEqual({ old: 2, recent: 2, others: 2 });
  await deleteZeroCounts(db.write, 1_000);
  expect(await zeros()).toEqual({ old: 0, recent: 2, others: 2 });
});

describe('deliveries', () => {
  test('have the median and the 95th percentile of their times, within a quarter', async () => {
    const account = await accountOf(gateway);
    const start = Date.parse('2026-11-02T10:00:00Z');
    const at = (ms: number): string => new Date(start + ms).toISOString();
    const ids = await account.add(Array.from({ length: 200 }, () => ({ at: at(0), phone: '+4915112345678' })));
    await account.apply(ids.map((id, place) => ({ id, status: 'delivered', at: at(500 + place * 50) })));
    // The acceptance may become known after the delivery, which then took less.
    await account.apply(ids.slice(0, 100).map(id => ({ id, status: 'sent', at: at(400) })));
    for (const moved of [false, true]) {
      if (moved) await account.move();
      const { series } = dataOf(
        await gateway.graphql(
          '{ messageStatistics(since: "2026-11-02", until: "2026-11-03", interval: HOUR) { series { count deliveryMsP50 deliveryMsP95 } } }',
          {},
          account.token,
        ),
      )['messageStatistics'];
      const times = (await account.naive()).map(({ delivery_ms: ms }) => ms ?? 0).sort((a, b) => a - b);
      expect(series).toHaveLength(1);
      for (const [field, share] of [
        ['deliveryMsP50', 0.5],
        ['deliveryMsP95', 0.95],
      ] as const) {
        const exact = times[Math.ceil(times.length * share) - 1] ?? 0;
        expect(series[0][field] / exact).toBeGreaterThan(0.8);
        expect(series[0][field] / exact).toBeLessThan(1.25);
      }
    }
  });
});

test('moving changes into the statistics neither loses nor doubles one: concurrently, rolled back, or killed before the commit', async () => {
  const account = await accountOf(gateway);
  const at = '2026-11-02T10:15:00Z';
  const ids = await account.add(Array.from({ length: 60 }, () => ({ at, phone: '+4915112345678' })));
  for (const status of ['sent', 'delivered', 'read'] as const)
    for (const id of ids) await account.apply([{ id, status, at, pricing: { category: 'utility', type: 'regular' } }]);
  const { db } = gateway.gateway.resources;
  const killed = () =>
    db.transaction(async trx => {
      await movePending(trx, 50);
      await sql`select pg_terminate_backend(pg_backend_pid())`.execute(trx);
    });
  const rolledBack = () =>
    db.transaction(async trx => {
      await movePending(trx, 50);
      throw new Error('rolled back');
    });
  await expect(killed()).rejects.toThrow();
  await expect(rolledBack()).rejects.toThrow('rolled back');
  await Promise.all(Array.from({ length: 4 }, () => account.move(20)));
  expect(
    await ask(account, { since: '2026-11-02', until: '2026-11-03', groupBy: ['STATUS', 'CATEGORY'] }),
  ).toMatchObject({
    series: [{ count: 60, status: 'READ', category: 'UTILITY' }],
  });
  while ((await account.move()) > 0);
  expect(
    await gateway.database.query('select from message_statistics_pending where tenant_id = $1', [account.tenantId]),
  ).toEqual([]);
  expect(await ask(account, { since: '2026-11-02', until: '2026-11-03', groupBy: ['STATUS'] })).toMatchObject({
    series: [{ count: 60, status: 'READ' }],
  });
});

test('a count is one statement, with percentiles two', async () => {
  const account = await accountOf(gateway);
  gateway.statements.length = 0;
  const answer = await gateway.graphql(
    '{ messageStatistics(since: "2026-11-02", groupBy: [STATUS, TEMPLATE, CHANNEL]) { total cost { amount } series { start count status template { name } channel { name } deliveryMsP95 } } }',
    {},
    account.token,
  );
  expect(answer.errors).toBeUndefined();
  expect(gateway.statements.filter(text => text.includes('message_statistics'))).toHaveLength(2);
  gateway.statements.length = 0;
  await ask(account, { since: '2026-11-02' });
  expect(gateway.statements.filter(text => /statistics|messages/.test(text))).toHaveLength(1);
});

test.each([
  ['an unknown zone', { since: '2026-11-02', zone: 'Europe/Nowhere' }],
  ['a reversed range', { since: '2026-11-02', until: '2026-11-01' }],
  ['too many intervals', { since: '1990-01-01', interval: 'HOUR' }],
])('%s is refused', async (_what, variables) => {
  const account = await accountOf(gateway);
  const answer = await gateway.graphql(QUERY, { groupBy: [], interval: 'DAY', ...variables }, account.token);
  expect(codeOf(answer)).toBe('VALIDATION_ERROR');
});
