import type { Page } from 'playwright-core';

/**
 * Counts how often the page words a time, which each message and each row of a list does when it is rendered.
 * @returns how often it has since
 */
export async function countWordedTimes(page: Page): Promise<() => Promise<number>> {
  await page.evaluate(() => {
    const { get } = Object.getOwnPropertyDescriptor(Intl.DateTimeFormat.prototype, 'format') ?? {};
    let count = 0;
    Object.defineProperty(Intl.DateTimeFormat.prototype, 'format', {
      get() {
        count += 1;
        document.documentElement.dataset['worded'] = String(count);
        return get?.call(this);
      },
    });
  });
  return async () => Number(await page.locator('html').getAttribute('data-worded'));
}
