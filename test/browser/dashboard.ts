import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { onTestFinished } from 'vitest';
import { newContext } from './chromium.ts';

export interface OpenedPage {
  readonly page: Page;
  /** Errors of the page and of its console, and requests that left its origin. */
  readonly faults: string[];
}

/** Opens the dashboard, signed in with a token, as a staff member if one is named. */
export async function openDashboard(
  browser: Browser,
  url: string,
  token: string | undefined,
  {
    path = '/',
    staffId,
    ...options
  }: BrowserContextOptions & { readonly path?: string; readonly staffId?: string } = {},
): Promise<OpenedPage> {
  const context = await newContext(browser, { viewport: { width: 1440, height: 900 }, locale: 'en-GB', ...options });
  onTestFinished(async () => {
    // A handler of a route may still be at work when its test has ended: it fails as its page is closed, which is no failure of the test.
    await Promise.all(context.pages().map(page => page.unrouteAll({ behavior: 'ignoreErrors' })));
    await context.close();
  });
  if (token !== undefined)
    await context.addInitScript(
      ([key, value]) => {
        if (localStorage.getItem(key ?? '') === null) localStorage.setItem(key ?? '', value ?? '');
      },
      ['parley.session', JSON.stringify({ token, staffId })] as const,
    );
  const page = await context.newPage();
  const faults: string[] = [];
  page.on('request', request => {
    if (!request.url().startsWith(url) && !/^(data|blob):/.test(request.url())) faults.push(request.url());
  });
  page.on('pageerror', error => faults.push(error.message));
  page.on('console', message => {
    if (message.type() === 'error' || message.type() === 'warning') faults.push(message.text());
  });
  await page.goto(url + path);
  return { page, faults };
}
