import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { launchChromium } from './chromium.ts';
import { openDashboard } from './dashboard.ts';

let gateway: TestGateway;
let browser: Browser;
let persons = 0;

beforeAll(async () => {
  gateway = await startGateway();
  browser = await launchChromium();
});
afterAll(async () => {
  await browser.close();
  await gateway.stop();
});

const logOf = (page: Page) => page.getByRole('log');
const texts = (page: Page): Promise<string[]> => logOf(page).locator('.message-text').allInnerTexts();
const press = (page: Page, name: string): Promise<void> => logOf(page).getByRole('button', { name }).click();

/** A page that shows the conversation of a person who wrote `Turn 1` to `Turn n`, a minute apart. */
async function openThread(count: number) {
  persons += 1;
  const name = `Dina ${persons}`;
  const from = `+1415559${String(1_000 + persons)}`;
  gateway.emulator.inbound({ from, text: `Turn ${count}`, profileName: name });
  const { page, faults } = await openDashboard(browser, gateway.url, gateway.tenant.token);
  const row = page.getByRole('list', { name: 'Conversations' }).getByText(name, { exact: true });
  await row.waitFor();
  await gateway.database.query(
    `with n as materialized (select n, (now() - (${count} - n) * interval '1 minute')::timestamptz(3) as at from generate_series(1, ${count - 1}) n),
     m as (
       insert into messages (tenant_id, id, conversation_id, contact_id, channel_id, direction, type, body, created_at)
       select v.tenant_id, message_id_at(floor(extract(epoch from n.at) * 1000)::bigint, nextval('message_arrivals')), v.id, v.contact_id, v.channel_id,
         'inbound', 'text', 'Turn ' || n.n, n.at
       from n, conversations v join contacts c on c.tenant_id = v.tenant_id and c.id = v.contact_id where c.phone = $1
       returning tenant_id, id, created_at
     )
     insert into message_states (tenant_id, message_id, status, updated_at) select tenant_id, id, 'received', created_at from m`,
    [from],
  );
  await row.click();
  await logOf(page).getByText(`Turn ${count}`, { exact: true }).waitFor();
  return {
    page,
    faults,
    from,
    name,
    write: (text: string) => gateway.emulator.inbound({ from, text, profileName: name }),
  };
}

const turns = (from: number, to: number): string[] =>
  Array.from({ length: to - from + 1 }, (_, index) => `Turn ${from + index}`);

test('a long thread is read back to its first message and forward again, with at most ten pages of it on the screen', async () => {
  const { page, faults } = await openThread(600);
  let most = 0;
  for (let first = 561; first > 1; first -= 40) {
    await expect.poll(async () => (await texts(page))[0]).toBe(`Turn ${first}`);
    await press(page, 'Older messages');
    most = Math.max(most, (await texts(page)).length);
  }
  await expect.poll(() => texts(page)).toEqual(turns(1, 400));
  expect(most).toBeLessThanOrEqual(400);
  for (let last = 440; last <= 600; last += 40) {
    await press(page, 'Newer messages');
    await expect.poll(() => texts(page)).toEqual(turns(last - 399, last));
  }
  expect(await logOf(page).getByRole('button', { name: 'Newer messages' }).count()).toBe(0);
  expect(faults).toEqual([]);
});

test('what is read stays where it is when pages come and go around it', async () => {
  const { page } = await openThread(600);
  const topOf = async (turn: number): Promise<number> => {
    const box = await logOf(page).getByText(`Turn ${turn}`, { exact: true }).boundingBox();
    return Math.round(box?.y ?? Number.NaN);
  };
  for (let first = 561; first > 161; first -= 40) {
    await logOf(page).evaluate(element => element.scrollTo(0, 0));
    const top = await topOf(first);
    await press(page, 'Older messages');
    await logOf(page)
      .getByText(`Turn ${first - 1}`, { exact: true })
      .waitFor();
    expect(Math.abs((await topOf(first)) - top)).toBeLessThan(2);
  }
  const last = Number((await texts(page)).at(-1)?.slice(5));
  expect(last).toBe(560);
  await logOf(page).evaluate(element => element.scrollTo(0, element.scrollHeight));
  const top = await topOf(last);
  await press(page, 'Newer messages');
  await logOf(page)
    .getByText(`Turn ${last + 1}`, { exact: true })
    .waitFor();
  expect(Math.abs((await topOf(last)) - top)).toBeLessThan(2);
});

test('who answers from far up, or asks for the latest messages, sees the end of the thread', async () => {
  const { page, write } = await openThread(600);
  const goUp = async (): Promise<void> => {
    for (let first = 561; first > 161; first -= 40) {
      await press(page, 'Older messages');
      await logOf(page)
        .getByText(`Turn ${first - 1}`, { exact: true })
        .waitFor();
    }
    expect(await texts(page)).not.toContain('Turn 600');
  };
  await goUp();
  write('Are you there?');
  await page.getByRole('list', { name: 'Conversations' }).getByText('Are you there?').waitFor();
  expect(await texts(page)).not.toContain('Are you there?');
  await press(page, 'Latest messages');
  await logOf(page).getByText('Are you there?').waitFor();
  await goUp();
  await page.getByLabel('Message', { exact: true }).fill('We are.');
  await page.keyboard.press('Enter');
  await logOf(page).getByText('We are.').waitFor();
  await expect
    .poll(() => logOf(page).evaluate(element => element.scrollHeight - element.scrollTop - element.clientHeight))
    .toBeLessThan(2);
});

test('older messages stay on the screen when the thread is read again after others came', async () => {
  const { page, write } = await openThread(200);
  await logOf(page).evaluate(element => element.scrollTo(0, 0));
  for (const first of [121, 81]) {
    await press(page, 'Older messages');
    await logOf(page).getByText(`Turn ${first}`, { exact: true }).waitFor();
  }
  await logOf(page).evaluate(element => element.scrollTo(0, 0));
  for (let turn = 201; turn <= 250; turn += 1) write(`Turn ${turn}`);
  await logOf(page).getByText('Turn 250', { exact: true }).waitFor({ state: 'attached' });
  const reread = page.waitForResponse(response => response.request().postDataJSON()?.operationName === 'Thread');
  await page.evaluate(() => window.dispatchEvent(new Event('parley:stream-started')));
  await reread;
  await page.evaluate(() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done))));
  await expect.poll(() => texts(page)).toEqual(turns(81, 250));
});

test('a message that a search finds is shown with one request, however far it is, and read on from there to the end', async () => {
  const { page, from, faults, write } = await openThread(600);
  for (const turn of [5, 300, 555, 590])
    await gateway.database.query(
      `update messages m set body = 'Needle ' || $2 from contacts c
       where c.tenant_id = m.tenant_id and c.id = m.contact_id and c.phone = $1 and m.body = 'Turn ' || $2`,
      [from, String(turn)],
    );
  await page.reload();
  await page.getByRole('searchbox').fill('Needle');
  const found = page.getByRole('region', { name: 'Messages' });
  let reads = 0;
  page.on('request', request => {
    if (request.postDataJSON()?.operationName === 'Thread') reads += 1;
  });
  const turnsOf = async (): Promise<string[]> => (await texts(page)).map(text => text.replace('Needle', 'Turn'));
  for (const turn of [5, 590, 300, 5]) {
    await found.getByText(`Needle ${turn}`, { exact: true }).click();
    await expect.poll(() => logOf(page).locator('.sought .message-text').allInnerTexts()).toEqual([`Needle ${turn}`]);
    await expect
      .poll(() =>
        logOf(page).evaluate(list => {
          const [area, row] = [list, list.querySelector('.sought article')].map(each => each?.getBoundingClientRect());
          return area !== undefined && row !== undefined && row.top >= area.top && row.bottom <= area.bottom;
        }),
      )
      .toBe(true);
    expect((await texts(page)).length).toBe(turn === 5 ? 24 : 40);
  }
  // The thread itself, perhaps once more, and the pages around 5 and 300.
  expect(reads).toBeLessThan(6);

  await page.getByRole('searchbox').fill('');
  write('Are you there?');
  await page.getByRole('list', { name: 'Conversations' }).getByText('Are you there?').waitFor();
  expect(await turnsOf()).toEqual(turns(1, 24));
  for (let last = 64; last <= 544; last += 40) {
    await press(page, 'Newer messages');
    await expect.poll(turnsOf).toEqual(turns(Math.max(1, last - 399), last));
  }
  await press(page, 'Newer messages');
  await expect.poll(turnsOf).toEqual([...turns(225, 600), 'Are you there?']);
  expect(await logOf(page).getByRole('button', { name: 'Newer messages' }).count()).toBe(0);

  await page.getByRole('searchbox').fill('Needle');
  await found.getByText('Needle 300', { exact: true }).click();
  await expect.poll(() => logOf(page).locator('.sought .message-text').allInnerTexts()).toEqual(['Needle 300']);
  await expect.poll(turnsOf).toEqual([...turns(225, 600), 'Are you there?']);
  await press(page, 'Older messages');
  await expect.poll(async () => (await turnsOf())[0]).toBe('Turn 185');
  expect(faults).toEqual([]);
});

test('a found message that is near the last page is shown together with it', async () => {
  const { page, from } = await openThread(120);
  await gateway.database.query(
    `update messages m set body = 'Haystack' from contacts c
     where c.tenant_id = m.tenant_id and c.id = m.contact_id and c.phone = $1 and m.body = 'Turn 70'`,
    [from],
  );
  await page.reload();
  await page.getByRole('searchbox').fill('Haystack');
  await page.getByRole('region', { name: 'Messages' }).getByText('Haystack', { exact: true }).click();
  await expect.poll(() => texts(page)).toEqual([...turns(50, 69), 'Haystack', ...turns(71, 120)]);
  await press(page, 'Older messages');
  await expect.poll(async () => (await texts(page)).slice(0, 2)).toEqual(turns(10, 11));
});
