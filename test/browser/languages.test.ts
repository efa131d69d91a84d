import { readFile } from 'node:fs/promises';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { payloadOf } from '../support/answers.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { launchChromium } from './chromium.ts';
import { openDashboard } from './dashboard.ts';

let gateway: TestGateway;
let browser: Browser;

beforeAll(async () => {
  gateway = await startGateway();
  browser = await launchChromium();
  for (const [firstName, phone] of [
    ['Ana', '+14155550100'],
    ['Ben', '+14155550101'],
  ])
    expect(payloadOf(await gateway.mutate('createContact', { firstName, phone })).userErrors).toEqual([]);
});
afterAll(async () => {
  await browser.close();
  await gateway.stop();
});

const EXPECTED = [
  {
    locale: 'de-DE',
    save: 'Speichern',
    email: 'Das ist keine E-Mail-Adresse.',
    taken: 'Diese Telefonnummer gehört schon zu einem anderen Kontakt.',
    long: 'Der Text ist zu lang. Erlaubt sind 255 Zeichen.',
    token: 'Das Token fehlt, ist unbekannt, widerrufen oder abgelaufen.',
  },
  {
    locale: 'ar-EG',
    save: 'حفظ',
    email: 'هذا ليس عنوان بريد إلكتروني.',
    taken: 'رقم الهاتف هذا يخص جهة اتصال أخرى.',
    long: 'النص طويل جدًا. الحد الأقصى لعدد الأحرف هو 255.',
    token: 'الرمز مفقود أو غير معروف أو ملغى أو منتهي الصلاحية.',
  },
];

test.each(EXPECTED)('faults that the API finds are told in the language of the page: $locale', async expected => {
  const { locale, save, email, taken, long, token } = expected;
  const { page } = await openDashboard(browser, gateway.url, gateway.tenant.token, { locale, path: '/contacts' });
  await page.locator('.contact-row').getByText('Ana').click();
  const panel = page.getByRole('complementary', { name: 'Ana' });
  const fields = panel.getByRole('textbox');
  await expect.poll(() => fields.count()).toBeGreaterThan(4);
  const [first, , phone, mail] = await fields.all();
  await mail?.fill('nonsense');
  await first?.fill('n'.repeat(300));
  await panel.getByRole('button', { name: save }).click();
  await panel.locator('.field-error').getByText(email).waitFor();
  await panel.locator('.field-error').getByText(long).waitFor();
  await first?.fill('Ana');
  await mail?.fill('ana@example.com');
  await phone?.fill('+14155550101');
  await panel.getByRole('button', { name: save }).click();
  await panel.locator('.field-error').getByText(taken).waitFor();

  const { page: signIn } = await openDashboard(browser, gateway.url, undefined, { locale });
  await signIn.locator('input[name=token]').fill('ply_wrong');
  await signIn.keyboard.press('Enter');
  await signIn.getByRole('alert').getByText(token).waitFor();
});

test('why a file was not uploaded is told in the language of the page', async () => {
  gateway.emulator.inbound({ from: '+14155550102', text: 'Where is it?', profileName: 'Cleo' });
  const { page } = await openDashboard(browser, gateway.url, gateway.tenant.token, { locale: 'de-DE' });
  await page.locator('.conversation-list').getByText('Cleo', { exact: true }).click();
  const files = page.locator('.composer input[type=file]');
  const problems = page.locator('.attachment.failed');
  await files.setInputFiles({ name: 'empty.png', mimeType: 'image/png', buffer: Buffer.alloc(0) });
  await problems.getByText('Diese Datei wird nicht angenommen').waitFor();
  await page.route('**/*', route => (route.request().method() === 'PUT' ? route.abort() : route.continue()));
  await files.setInputFiles({ name: 'map.txt', mimeType: 'text/plain', buffer: Buffer.from('North') });
  await problems.getByText('Das Gateway ist gerade nicht erreichbar.').waitFor();
});

test('a gateway that cannot be reached is told in the language of the page', async () => {
  const { page } = await openDashboard(browser, gateway.url, gateway.tenant.token, {
    locale: 'de-DE',
    path: '/channels',
  });
  const unreachable = 'Das Gateway ist gerade nicht erreichbar. Versuchen Sie es gleich noch einmal.';
  await page.getByRole('link', { name: 'Posteingang' }).waitFor();
  await page.route('**/graphql', route => route.abort());
  await page.getByRole('link', { name: 'Posteingang' }).click();
  await page.locator('.inbox .notice.danger').getByText(unreachable, { exact: true }).waitFor();
});

test('each language words each fault', async () => {
  const keysOf = async (code: string): Promise<string[]> =>
    Object.keys(JSON.parse(await readFile(`src/dashboard/texts/faults/${code}.json`, 'utf8')));
  expect(await keysOf('ar')).toEqual(await keysOf('de'));
});
