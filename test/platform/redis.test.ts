import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, type TestContext, test, vi } from 'vitest';
import { createLog } from '../../src/platform/log.ts';
import { connectRedis } from '../../src/platform/redis/connection.ts';
import { createRedisRateLimits } from '../../src/platform/redis/rate-limits.ts';
import { dataOf } from '../support/answers.ts';
import { startDatabaseProxy } from '../support/database-proxy.ts';
import { startFakeRedis } from '../support/fake-redis.ts';
import { eventually, startGateway, type TestGateway } from '../support/gateway.ts';
import { freePort } from '../support/processes.ts';
import { newPrefix, openRedis, redisUrl } from '../support/redis.ts';
import { startSecondGateway } from '../support/second-gateway.ts';

/** The gateway continues to work while Redis is unavailable. */

/** An address without a listener, which the system does not give to anybody else. */
const nowhere = async (): Promise<string> => `redis://127.0.0.1:${await freePort()}`;

const quota = (limit: number) => [{ name: 'token', key: crypto.randomUUID(), limit }];
const exceeded = (states: readonly { exceeded: boolean }[]): boolean => states.some(state => state.exceeded);

function recordingLog() {
  const lines: Record<string, unknown>[] = [];
  return { lines, log: createLog('info', { write: line => void lines.push(JSON.parse(line)) }) };
}

async function call(gateway: { url: string }, token: string) {
  const answer = await fetch(`${gateway.url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: '{"query":"{ viewer { callsPerMinute } }"}',
  });
  await answer.text();
  return { status: answer.status, left: Number(answer.headers.get('x-ratelimit-remaining')) };
}

test('a gateway starts, serves and stops while its Redis is unreachable, and counts limits by itself', async () => {
  const gateway = await startGateway({ role: 'gateway', env: { REDIS_URL: await nowhere() } });
  const token = await gateway.addToken(gateway.tenant, { callsPerMinute: 10 });
  const seen = [];
  for (let n = 0; n < 12; n += 1) seen.push(await call(gateway, token));
  expect(seen.map(({ status }) => status)).toEqual([...Array.from({ length: 10 }, () => 200), 429, 429]);
  expect(
    dataOf(await gateway.graphql('mutation { createContactGroup(input: { name: "Alone" }) { contactGroup { name } } }'))
      .createContactGroup.contactGroup.name,
  ).toBe('Alone');
  expect((await fetch(`${gateway.url}/readyz`)).status).toBe(200);
  expect(await (await fetch(`${gateway.url}/metrics`)).text()).toMatch(/^parley_redis_ready 0$/m);
  await new Promise(resolve => setTimeout(resolve, 500));
  const lines = gateway.logs.filter(({ msg }) => /redis/i.test(String(msg)));
  expect(lines).toEqual([expect.objectContaining({ level: 40, msg: expect.stringMatching(/^Redis is unavailable/) })]);
  await gateway.stop();
});

test('while Redis is connected and refuses writes, a gateway counts limits by itself, and says so', async () => {
  const fault = "-OOM command not allowed when used memory > 'maxmemory'.";
  const redis = await startFakeRedis({ evalsha: fault, eval: fault, set: fault });
  const gateway = await startGateway({ role: 'gateway', env: { REDIS_URL: `redis://${redis.host}` } });
  const ready = async () =>
    /^parley_redis_ready (\d)$/m.exec(await (await fetch(`${gateway.url}/metrics`)).text())?.[1];
  await eventually(async () => expect(await ready()).toBe('1'));
  const token = await gateway.addToken(gateway.tenant, { callsPerMinute: 3 });
  const seen = [];
  for (let n = 0; n < 5; n += 1) seen.push((await call(gateway, token)).status);
  expect(seen).toEqual([200, 200, 200, 429, 429]);
  expect(await ready()).toBe('0');
  expect((await fetch(`${gateway.url}/readyz`)).status).toBe(200);
  expect(gateway.logs.filter(({ msg }) => String(msg).startsWith('Redis refuses'))).toEqual([
    expect.objectContaining({ level: 40, err: expect.objectContaining({ message: fault.slice(1) }) }),
  ]);
  await gateway.stop();
  redis.stop();
});

test('a Redis whose user may not use its channel is named in the log and the metrics', async () => {
  const fault = '-NOPERM No permissions to access a channel';
  const redis = await startFakeRedis({ subscribe: fault, publish: fault });
  const gateway = await startGateway({ role: 'gateway', env: { REDIS_URL: `redis://${redis.host}` } });
  const refusals = () => gateway.logs.filter(({ msg }) => String(msg).startsWith('Redis refuses'));
  await eventually(async () => expect(refusals()).toHaveLength(1));
  expect(refusals()).toMatchObject([
    { msg: 'Redis refuses a command: signals between processes are delayed', err: { message: fault.slice(1) } },
  ]);
  expect(await (await fetch(`${gateway.url}/metrics`)).text()).toMatch(/^parley_redis_ready 0$/m);
  await gateway.stop();
  redis.stop();
});

test('the Redis URL is validated, and its password appears in no error and no log line', async () => {
  await expect(startGateway({ env: { REDIS_URL: 'http://user:hunter2@127.0.0.1' } })).rejects.toThrow(
    /^The configuration is not valid:\n {2}REDIS_URL: must look like redis:(?!.*hunter2)/,
  );
  const { lines, log } = recordingLog();
  const redis = connectRedis((await nowhere()).replace('//', '//user:hunter2@'), log, 250);
  await eventually(() => expect(lines).toHaveLength(1));
  await redis.close();
  expect(JSON.stringify(lines)).not.toContain('hunter2');
});

describe.skipIf(redisUrl === undefined)('when the connection to Redis is lost', () => {
  /** Broken and restored by the test. */
  async function line({ onTestFinished }: TestContext) {
    const opened = await startDatabaseProxy(redisUrl ?? '');
    onTestFinished(() => opened.stop());
    return opened;
  }

  test('limits are counted in memory at once, one warning is logged, and limits are shared again after the recovery', async context => {
    const { databaseUrl: url, cut, mend } = await line(context);
    const { lines, log } = recordingLog();
    const redis = await openRedis(url, log);
    const prefix = newPrefix();
    const limits = createRedisRateLimits(redis, prefix);
    const mine = quota(5);
    await limits.consume(mine, 4);
    cut();
    // Requests during and after the outage begins.
    const states = await Promise.all(Array.from({ length: 5 }, () => limits.consume(mine, 1)));
    expect(states.filter(exceeded)).toEqual([]);
    await eventually(() => expect(redis.isReady()).toBe(false));
    const sent = vi.spyOn(redis.commands, 'sendCommand');
    for (let n = 0; n < 100; n += 1) await limits.consume(mine, 1);
    expect(sent).not.toHaveBeenCalled();
    sent.mockRestore();
    expect(exceeded(await limits.consume(mine, 1))).toBe(true);
    await new Promise(resolve => setTimeout(resolve, 1_000));
    expect(lines).toHaveLength(1);
    mend();
    await eventually(() => expect(redis.isReady()).toBe(true));
    // The count in Redis applies again: four of five.
    const other = await openRedis();
    expect(await createRedisRateLimits(other, prefix).consume(mine, 1)).toMatchObject([
      { remaining: 0, exceeded: false },
    ]);
    expect(exceeded(await limits.consume(mine, 1))).toBe(true);
    expect(lines.map(({ msg }) => msg)).toEqual([
      expect.stringMatching(/^Redis is unavailable/),
      'Redis is available again',
    ]);
    await Promise.all([redis.close(), other.close()]);
  });

  test('two gateways continue to serve, and their subscribers get every event', async context => {
    const { databaseUrl: url, cut, mend } = await line(context);
    const gateway: TestGateway = await startGateway({ env: { REDIS_URL: url, PARLEY_REDIS_PREFIX: newPrefix() } });
    const other = await startSecondGateway(gateway);
    context.onTestFinished(async () => {
      await other.stop();
      await gateway.stop();
    });
    const ready = async () =>
      expect(await (await fetch(`${gateway.url}/metrics`)).text()).toMatch(/^parley_redis_ready 1$/m);
    await eventually(ready);
    const token = await gateway.addToken(gateway.tenant, { callsPerMinute: 30 });
    const [first, second] = [await call(gateway, token), await call(other, token)];
    expect([first.left, second.left]).toEqual([29, 28]);

    const heard: string[] = [];
    const stop = new AbortController();
    const stream = await fetch(`${other.url}/graphql`, {
      method: 'POST',
      signal: stop.signal,
      headers: {
        'content-type': 'application/json',
        accept: 'text/event-stream',
        authorization: `Bearer ${gateway.tenant.token}`,
      },
      body: '{"query":"subscription { events(filter: { types: [GROUP_CREATED] }) { payload } }"}',
    });
    void (async () => {
      const decoder = new TextDecoder();
      for await (const chunk of stream.body as AsyncIterable<Uint8Array>) heard.push(decoder.decode(chunk));
    })().catch(() => undefined);
    const create = (name: string) =>
      gateway.graphql('mutation ($n: String!) { createContactGroup(input: { name: $n }) { contactGroup { id } } }', {
        n: name,
      });
    const hears = (name: string) => eventually(() => expect(heard.join('')).toContain(name));
    dataOf(await create('While it is there'));
    await hears('While it is there');
    cut();
    const during = await Promise.all([call(gateway, token), call(other, token)]);
    expect(during.map(({ status }) => status)).toEqual([200, 200]);
    dataOf(await create('While it is away'));
    await hears('While it is away');
    mend();
    await eventually(ready);
    dataOf(await create('When it is back'));
    await hears('When it is back');
    stop.abort();
  });
});

/** Whether a Redis server can be started here. */
function spawnable(): Promise<boolean> {
  const child = spawn('redis-server', ['--version'], { stdio: 'ignore' });
  return new Promise(resolve => {
    child.once('error', () => resolve(false)).once('exit', code => resolve(code === 0));
  });
}

describe.skipIf(redisUrl === undefined || !(await spawnable()))('a Redis server', () => {
  async function server({ onTestFinished }: TestContext) {
    const url = await nowhere();
    const start = () =>
      spawn('redis-server', ['--port', new URL(url).port, '--save', '', '--appendonly', 'no'], { stdio: 'ignore' });
    let child = start();
    onTestFinished(() => void child.kill('SIGKILL'));
    return {
      url,
      signal: (name: NodeJS.Signals) => child.kill(name),
      async kill() {
        child.kill('SIGKILL');
        await once(child, 'exit');
      },
      startAgain() {
        child = start();
      },
    };
  }

  test('that was killed and restarted empty is used again', async context => {
    const { url, kill, startAgain } = await server(context);
    const redis = await openRedis(url);
    const limits = createRedisRateLimits(redis, newPrefix());
    const mine = quota(3);
    expect(await limits.consume(mine, 3)).toMatchObject([{ remaining: 0 }]);
    await kill();
    await eventually(() => expect(redis.isReady()).toBe(false));
    expect(await limits.consume(mine, 1)).toMatchObject([{ remaining: 2 }]);
    startAgain();
    await eventually(() => expect(redis.isReady()).toBe(true));
    // Its scripts are lost and are loaded again.
    expect(await limits.consume(mine, 1)).toMatchObject([{ remaining: 2, exceeded: false }]);
    await redis.close();
  });

  test('that hangs delays requests only briefly, and is used again when it responds', async context => {
    const { url, signal } = await server(context);
    const redis = await openRedis(url, createLog('silent'), 250);
    const limits = createRedisRateLimits(redis, newPrefix());
    const mine = quota(3);
    await limits.consume(mine, 1);
    signal('SIGSTOP');
    // It does not wait for a response, which does not come.
    await limits.consume(mine, 1);
    await eventually(() => expect(redis.isReady()).toBe(false));
    const sent = vi.spyOn(redis.commands, 'sendCommand');
    for (let n = 0; n < 5; n += 1) await limits.consume(mine, 0);
    expect(sent).not.toHaveBeenCalled();
    sent.mockRestore();
    signal('SIGCONT');
    await eventually(() => expect(redis.isReady()).toBe(true));
    await redis.close();
  });
});
