import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { NewEvent } from '../../src/core/events.ts';
import { append } from '../../src/events/append.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { launchChromium } from './chromium.ts';
import { openDashboard } from './dashboard.ts';
import { startProxy } from './proxy.ts';

let gateway: TestGateway;
let browser: Browser;

beforeAll(async () => {
  gateway = await startGateway();
  browser = await launchChromium();
});
afterAll(async () => {
  await browser.close();
  await gateway.stop();
});

/** A longer run by hand: `PARLEY_LIVE_SECONDS=3600` prints its figures. */
const SECONDS = Number(process.env['PARLEY_LIVE_SECONDS'] ?? 20);
/** A trace of an hour would not fit into memory: each of these is measured and dropped. */
const TRACED_SECONDS = 60;

/** The types of a busy account; the page reads no payload. */
const EVENTS = (['queued', 'sent', 'delivered', 'read', 'failed'] as const).map(
  (step): NewEvent => ({ type: `message.${step}`, payload: {} as never }),
);

/** @returns the ids of the events */
async function write(count: number): Promise<readonly string[]> {
  const { db, signals } = gateway.gateway.resources;
  const ids = await db.transaction(trx =>
    append(
      trx,
      gateway.tenant.id,
      Array.from({ length: count }, (_, index) => EVENTS[index % EVENTS.length] as NewEvent),
    ),
  );
  signals.send('events');
  return ids;
}

const pause = (ms: number): Promise<void> => new Promise(resolve => setTimeout(resolve, ms));
/** Writes 200 events a second for so long: what a busy machine delays is made up for. */
async function stream(seconds: number): Promise<void> {
  const start = performance.now();
  for (let index = 1; index <= 10 * seconds; index += 1) {
    await write(20);
    await pause(Math.max(0, start + 100 * index - performance.now()));
  }
}

const totalOf = async (page: Page): Promise<number> =>
  Number((await page.locator('.live-events h2 span').innerText()).replaceAll(',', ''));

/** The key in a global id. */
const keyOf = (id: string | null): string =>
  Buffer.from(id ?? '', 'base64url')
    .toString()
    .split(':')
    .at(-1) ?? '';

/** Opens the live view of a gateway, and waits until it shows what is written now. @returns the number of events shown */
async function openLive(url: string) {
  const opened = await openDashboard(browser, url, gateway.tenant.token, { path: '/live' });
  const { page } = opened;
  await page.getByText('Waiting for the next event.').waitFor();
  await expect
    .poll(
      async () => {
        await write(1);
        return totalOf(page);
      },
      { timeout: 60_000 },
    )
    .toBeGreaterThan(0);
  const [last] = await write(1);
  await expect
    .poll(async () => keyOf(await page.locator('[data-event]').first().getAttribute('data-event')), { timeout: 60_000 })
    .toBe(last);
  return { ...opened, total: await totalOf(page) };
}

/** Bytes that live in the page after a garbage collection, and its elements. */
async function sizeOf(page: Page): Promise<{ readonly heap: number; readonly nodes: number }> {
  const session = await page.context().newCDPSession(page);
  await session.send('HeapProfiler.enable');
  await session.send('HeapProfiler.collectGarbage');
  const { usedSize } = await session.send('Runtime.getHeapUsage');
  const nodes = await page.evaluate(() => document.querySelectorAll('*').length);
  await session.detach();
  return { heap: usedSize, nodes };
}

interface TraceEvent {
  readonly name: string;
  readonly ph: string;
  readonly tid: number;
  readonly pid: number;
  readonly args: { readonly name?: string };
  /** CPU time of the thread, in microseconds. */
  readonly tdur?: number;
}

/** CPU milliseconds of the longest task of the page's main thread. Not wall time, which a busy machine prolongs. */
function longestTask(trace: Buffer): number {
  const { traceEvents } = JSON.parse(trace.toString('utf8')) as { readonly traceEvents: readonly TraceEvent[] };
  const mains = new Set(
    traceEvents
      .filter(({ name, args }) => name === 'thread_name' && args.name === 'CrRendererMain')
      .map(({ pid, tid }) => `${pid} ${tid}`),
  );
  const tasks = traceEvents.filter(({ name, pid, tid }) => name.endsWith('RunTask') && mains.has(`${pid} ${tid}`));
  expect(tasks.length).toBeGreaterThan(100);
  return Math.max(...tasks.map(({ tdur = 0 }) => tdur / 1_000));
}

test(
  '200 events a second for 20 seconds: the page keeps its size, and no task needs 100 ms',
  async () => {
    const { page, faults, total } = await openLive(gateway.url);
    // As many as the page keeps, so that it has its full size.
    for (let index = 0; index < 8; index += 1) await write(400);
    await expect.poll(() => totalOf(page), { timeout: 60_000 }).toBe(total + 3_200);
    const before = await sizeOf(page);
    await page.evaluate(() => {
      const durations: number[] = [];
      Object.assign(window, { durations });
      new PerformanceObserver(list => durations.push(...list.getEntries().map(({ duration }) => duration))).observe({
        type: 'longtask',
      });
    });
    let longest = 0;
    for (let done = 0; done < SECONDS; done += TRACED_SECONDS) {
      await browser.startTracing(page, { categories: ['toplevel', '__metadata'] });
      await stream(Math.min(TRACED_SECONDS, SECONDS - done));
      longest = Math.max(longest, longestTask(await browser.stopTracing()));
      if (done % 600 === 540)
        process.stdout.write(
          `${JSON.stringify({ minutes: (done + TRACED_SECONDS) / 60, ...(await sizeOf(page)), longest })}\n`,
        );
    }
    await expect.poll(() => totalOf(page), { timeout: 60_000 }).toBe(total + 3_200 + 200 * SECONDS);
    const after = await sizeOf(page);
    if (SECONDS !== 20) {
      const durations = await page.evaluate(() => (window as unknown as { durations: number[] }).durations);
      process.stdout.write(`${JSON.stringify({ before, after, longestCpuMs: longest, longTasksMs: durations })}\n`);
    }
    expect(longest).toBeLessThan(100);
    expect(after.nodes - before.nodes).toBeLessThan(100);
    expect(after.heap / before.heap).toBeLessThan(1.25);
    expect(faults).toEqual([]);
  },
  180_000 + 5_000 * SECONDS,
);

test('a socket that is lost and regained during a stream of events: the page says so, and shows every event once', async () => {
  const proxy = await startProxy(gateway.url);
  try {
    const { page, total } = await openLive(proxy.url);
    const lost = page.getByText('The connection is lost.');
    const written: string[] = [];
    for (let round = 0; round < 3; round += 1) {
      for (let index = 0; index < 10; index += 1) written.push(...(await write(5)));
      proxy.cut();
      for (let index = 0; index < 10; index += 1) written.push(...(await write(5)));
      await lost.waitFor();
      proxy.restore();
      for (let index = 0; index < 10; index += 1) written.push(...(await write(5)));
      await lost.waitFor({ state: 'detached', timeout: 120_000 });
    }
    await expect.poll(() => totalOf(page), { timeout: 60_000 }).toBe(total + written.length);
    const shown: string[] = [];
    const list = page.locator('.event-list');
    await page.getByRole('button', { name: 'Pause' }).click();
    for (let top = 0; ; top += 300) {
      await list.evaluate((element, y) => element.scrollTo(0, y), top);
      await page.evaluate(() => new Promise(resolve => requestAnimationFrame(() => requestAnimationFrame(resolve))));
      const rows = await list.locator('li').evaluateAll(all => all.map(row => row.getAttribute('data-event') ?? ''));
      for (const id of rows) if (!shown.includes(id)) shown.push(id);
      if (await list.evaluate(element => element.scrollTop + element.clientHeight >= element.scrollHeight - 1)) break;
    }
    // Newest first.
    const keys = shown.map(keyOf);
    expect(keys.slice(0, written.length)).toEqual(written.toReversed());
    expect(keys.length).toBe(total + written.length);
  } finally {
    await proxy.stop();
  }
}, 240_000);
