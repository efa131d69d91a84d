import { mkdir, stat } from 'node:fs/promises';
import type { Browser, Page } from 'playwright-core';
import sharp from 'sharp';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { launchChromium } from './chromium.ts';
import { openDashboard } from './dashboard.ts';
import { type DevelopmentGateway, startDevelopment } from './development.ts';

/** Made anew by `npm run screenshots`. */
const PICTURES = process.env['PARLEY_SCREENSHOTS'] === '1';
const FILE = 'docs/pictures/first-minute.webp';
const SIZE = { width: 1440, height: 810 };
const MAX_BYTES = 2_000_000;

let browser: Browser;
let gateway: DevelopmentGateway;

beforeAll(async () => {
  if (!PICTURES) return;
  browser = await launchChromium();
  gateway = await startDevelopment();
});
afterAll(async () => {
  await browser?.close();
  await gateway?.stop();
});

interface Film {
  /** Adds what the page shows, for so long. */
  shoot(ms: number): Promise<void>;
  /** Types into the focused field, a picture for every few letters. */
  type(text: string): Promise<void>;
  write(path: string): Promise<void>;
}

function filmOf(page: Page): Film {
  const frames: Buffer[] = [];
  const delays: number[] = [];
  const shoot = async (ms: number): Promise<void> => {
    frames.push(await page.screenshot({ animations: 'disabled', caret: 'initial' }));
    delays.push(ms);
  };
  return {
    shoot,
    async type(text) {
      for (let index = 0; index < text.length; index += 5) {
        await page.keyboard.type(text.slice(index, index + 5));
        await shoot(160);
      }
    },
    async write(path) {
      await sharp(frames, { join: { animated: true } })
        .webp({ quality: 78, effort: 6, minSize: true, delay: delays, loop: 0 })
        .toFile(path);
    },
  };
}

test.runIf(PICTURES)(
  'the moving picture of the first minute: sign in, answer, be the customer',
  async () => {
    const { link } = gateway;
    const path = link.pathname + link.hash;
    const { page } = await openDashboard(browser, link.origin, undefined, { path, viewport: SIZE });
    const film = filmOf(page);
    const conversations = page.getByRole('list', { name: 'Conversations' });
    await conversations.getByText('Kofi García').first().waitFor();
    await film.shoot(1_600);
    await conversations.getByText('Kofi García').first().click();
    const thread = page.getByRole('log').first();
    await thread.locator('.bubble').first().waitFor();
    await film.shoot(1_200);
    await page.getByLabel('Message', { exact: true }).click();
    await film.type('Yes, in blue and in *white*.');
    await page.keyboard.press('Enter');
    await thread.getByText('Yes, in blue').waitFor();
    await film.shoot(1_000);
    await page.getByRole('button', { name: 'Answer as the customer' }).click();
    const phone = page.getByRole('region', { name: /’s phone/ });
    await phone.getByText('Yes, in blue').waitFor();
    await film.shoot(1_400);
    await phone.getByRole('textbox').click();
    await film.type('Blue, please!');
    await page.keyboard.press('Enter');
    await thread.getByText('Blue, please!').waitFor();
    await film.shoot(1_600);
    await page.getByRole('button', { name: 'Ask with buttons' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Question').fill('Which size?');
    await dialog.getByLabel('Button 1').fill('Small');
    await dialog.getByLabel('Button 2').fill('Large');
    await film.shoot(1_400);
    await dialog.getByRole('button', { name: 'Send' }).click();
    await phone.getByRole('button', { name: 'Large' }).waitFor();
    await film.shoot(1_200);
    await phone.getByRole('button', { name: 'Large' }).click();
    await thread.locator('.choice', { hasText: 'Large' }).waitFor();
    await film.shoot(2_200);
    await mkdir('docs/pictures', { recursive: true });
    await film.write(FILE);
    expect((await stat(FILE)).size).toBeLessThan(MAX_BYTES);
  },
  180_000,
);

test('the moving picture is animated, and small enough for a page', async () => {
  const { pages = 0, width } = await sharp(FILE, { animated: true }).metadata();
  expect(pages).toBeGreaterThan(10);
  expect(width).toBe(SIZE.width);
  expect((await stat(FILE)).size).toBeLessThan(MAX_BYTES);
});
