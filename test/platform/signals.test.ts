import pg from 'pg';
import { afterAll, beforeAll, describe, expect, type TestContext, test, vi } from 'vitest';
import { createPostgresTransport } from '../../src/database/postgres-signals.ts';
import { createLog } from '../../src/platform/log.ts';
import { createRedisTransport } from '../../src/platform/redis/signal-transport.ts';
import { createSignals, type Signals, type Urgency } from '../../src/platform/signals.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { eventually } from '../support/gateway.ts';
import { newPrefix, openRedis, redisUrl } from '../support/redis.ts';

type Process = Signals & { readonly heard: string[]; readonly greetings: string[] };

/** The tests of every transport. @param cut breaks the connections of all processes once */
function promises(start: (context: TestContext) => Promise<Signals>, cut: () => Promise<unknown>): void {
  async function startProcess(context: TestContext): Promise<Process> {
    const signals = await start(context);
    const heard: string[] = [];
    const greetings: string[] = [];
    signals.on('topic', topic => heard.push(topic));
    signals.on('hello', topic => greetings.push(topic));
    return Object.assign(signals, { heard, greetings });
  }

  /** Waits until both processes listen. These first signals may be late and are not part of a test. */
  const introduced = (one: Signals, ...others: Process[]): Promise<void> =>
    eventually(() => {
      one.send('hello:you');
      for (const other of others) expect(other.greetings).toContain('hello:you');
    });

  test('a signal reaches its own process at once and other processes soon, exactly once, under its topic and its prefix', async context => {
    const [one, two, three] = [await startProcess(context), await startProcess(context), await startProcess(context)];
    await introduced(one, two, three);
    await introduced(two, one);
    const exact: string[] = [];
    two.on('topic:1:2', topic => exact.push(topic));
    one.send('topic:1:2');
    expect(one.heard).toEqual(['topic:1:2']);
    await eventually(() =>
      expect([two.heard, three.heard, exact]).toEqual([['topic:1:2'], ['topic:1:2'], ['topic:1:2']]),
    );
    // Signals keep their order: once the next one has arrived, the first cannot arrive again.
    two.send('topic:next');
    await eventually(() => {
      for (const { heard } of [one, two, three]) expect(heard).toContain('topic:next');
    });
    one.send('topic:last');
    await eventually(() => expect(two.heard).toContain('topic:last'));
    expect(exact).toEqual(['topic:1:2']);
    for (const { heard } of [one, two, three]) expect(heard.slice(0, 2)).toEqual(['topic:1:2', 'topic:next']);
  });

  test('a burst of a thousand signals is coalesced into few notifications, and every topic arrives', async context => {
    const [one, two] = [await startProcess(context), await startProcess(context)];
    await introduced(one, two);
    const topics = Array.from({ length: 1_000 }, (_, index) => `topic:${index % 500}`);
    for (const topic of topics) one.send(topic);
    await eventually(() => expect(new Set(two.heard).size).toBe(500));
    expect(two.heard.length).toBe(500);
  });

  test('an unsubscribed listener gets no signals', async context => {
    const one = await startProcess(context);
    const heard: string[] = [];
    const forget = one.on('topic', topic => heard.push(topic));
    one.send('topic:1');
    forget();
    one.send('topic:2');
    expect(heard).toEqual(['topic:1']);
  });

  test('signals arrive again after a lost connection', async context => {
    const [one, two] = [await startProcess(context), await startProcess(context)];
    await introduced(one, two);
    await cut();
    // Sending without a connection does not throw.
    one.send('topic:into the void');
    await eventually(() => {
      one.send('topic:again');
      expect(two.heard).toContain('topic:again');
    });
  });
}

describe('the spacing of messages', () => {
  interface Phase {
    readonly everyMs: number;
    readonly forMs: number;
    readonly urgency: Urgency;
  }

  /** Sends signals at one pace after the other. @returns for the last of them, the number of messages and the longest wait of a signal */
  async function sendAll(...phases: readonly Phase[]) {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    const waiting: number[] = [];
    let seen = { messages: 0, longestMs: 0 };
    const signals = createSignals({
      open: ({ onReady }) => onReady(),
      isReady: () => true,
      async send() {
        const waits = waiting.splice(0).map(sinceMs => performance.now() - sinceMs);
        seen = { messages: seen.messages + 1, longestMs: Math.max(seen.longestMs, ...waits) };
      },
      close: async () => {},
    });
    try {
      for (const { everyMs, forMs, urgency } of phases) {
        seen = { messages: 0, longestMs: 0 };
        for (let sentMs = 0; sentMs < forMs; sentMs += everyMs) {
          waiting.push(performance.now());
          signals.send('topic', urgency);
          await vi.advanceTimersByTimeAsync(everyMs);
        }
      }
      return seen;
    } finally {
      await signals.close();
      vi.useRealTimers();
    }
  }

  test('few signals are sent within 20 ms, for as long as they are few', async () => {
    const { messages, longestMs } = await sendAll({ everyMs: 200, forMs: 60_000, urgency: 'later' });
    expect(messages).toBe(300);
    expect(longestMs).toBeLessThanOrEqual(20);
  });

  test('so are those of a short burst of many; then a message leaves every 150 ms', async () => {
    const burst = await sendAll({ everyMs: 5, forMs: 400, urgency: 'later' });
    expect(burst.longestMs).toBeLessThanOrEqual(20);
    const { messages, longestMs } = await sendAll({ everyMs: 5, forMs: 60_000, urgency: 'later' });
    expect(longestMs).toBeLessThanOrEqual(151);
    expect(messages).toBeGreaterThan(60_000 / 150);
    expect(messages).toBeLessThan(60_000 / 150 + 30);
  });

  test('those that somebody waits for are sent within 10 ms, however many', async () => {
    const { longestMs } = await sendAll({ everyMs: 5, forMs: 60_000, urgency: 'soon' });
    expect(longestMs).toBeLessThanOrEqual(11);
  });

  test('a minute of those leaves no debt: others then leave every 150 ms at the latest', async () => {
    const { messages, longestMs } = await sendAll(
      { everyMs: 10, forMs: 60_000, urgency: 'soon' },
      { everyMs: 200, forMs: 4_000, urgency: 'later' },
    );
    expect(messages).toBe(20);
    expect(longestMs).toBeLessThanOrEqual(151);
  });
});

describe('over PostgreSQL', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createTestDatabase();
  });
  afterAll(() => database.drop());

  async function start({ onTestFinished }: TestContext): Promise<Signals> {
    const connect = async (): Promise<pg.Client> => {
      const client = new pg.Client({ connectionString: database.url, application_name: 'signals' });
      await client.connect();
      return client;
    };
    const signals = createSignals(createPostgresTransport(connect, createLog('silent')));
    onTestFinished(() => signals.close());
    return signals;
  }

  promises(start, () =>
    database.query(
      `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and application_name = 'signals'`,
    ),
  );
});

describe.skipIf(redisUrl === undefined)('over Redis', () => {
  const prefix = newPrefix();
  const clients: number[] = [];

  async function start({ onTestFinished }: TestContext): Promise<Signals> {
    const redis = await openRedis();
    clients.push(await redis.commands.client('ID'), await redis.subscriber.client('ID'));
    const signals = createSignals(createRedisTransport(redis, prefix));
    onTestFinished(async () => {
      await signals.close();
      await redis.close();
    });
    return signals;
  }

  promises(start, async () => {
    const redis = await openRedis();
    for (const id of clients) await redis.commands.client('KILL', 'ID', id).catch(() => undefined);
    await redis.close();
  });

  test('installations with different prefixes do not get each other’s signals', async context => {
    const redis = await openRedis();
    const stranger = createSignals(createRedisTransport(redis, newPrefix()));
    const heard: string[] = [];
    stranger.on('topic', topic => heard.push(topic));
    const [one, two] = [await start(context), await start(context)];
    const heardByTwo: string[] = [];
    two.on('topic', topic => heardByTwo.push(topic));
    await eventually(() => {
      one.send('topic:ours');
      expect(heardByTwo).toContain('topic:ours');
    });
    expect(heard).toEqual([]);
    await stranger.close();
    await redis.close();
  });
});
