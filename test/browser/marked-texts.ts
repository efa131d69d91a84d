import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';

/** Around every translated text; invisible, and left out where Playwright compares texts. */
const [BEGIN, END] = ['\u200b\u00ad', '\u00ad\u200b'];
const MARKED = new RegExp(`${BEGIN}[^]*?${END}`, 'g');
/** The language whose texts are replaced. It is of Europe, so that dates and numbers have its words and not those of English. */
const LANGUAGE = 'de';

interface Found {
  readonly text: string;
  readonly place: string;
}

export interface MarkedTexts {
  /** Texts that are visible, or read out, and come neither from the texts nor from the account's data. */
  untranslated(): Promise<string[]>;
}

/**
 * Makes the page show texts with invisible marks, before it is loaded, and notes which data it receives.
 * @param identifiers of the account, which look like words of the API: names of templates, for example
 */
export async function markTexts(page: Page, identifiers: readonly string[]): Promise<MarkedTexts> {
  const english = JSON.parse(readFileSync('src/dashboard/texts/en.json', 'utf8')) as Record<string, string>;
  const marked = Object.fromEntries(Object.entries(english).map(([key, text]) => [key, `${BEGIN}${text}${END}`]));
  await page.route(new RegExp(`/assets/${LANGUAGE}-[\\w-]+\\.js$`), route =>
    route.fulfill({ contentType: 'text/javascript', body: `export default ${JSON.stringify(marked)};` }),
  );
  await page.addInitScript(language => localStorage.setItem('parley.language', language), LANGUAGE);
  const data = new Set<string>();
  page.on('websocket', socket => socket.on('framereceived', ({ payload }) => collect(data, String(payload))));
  const answers: Promise<void>[] = [];
  page.on('response', response => {
    if (!response.headers()['content-type']?.includes('json')) return;
    const collected = response.text().then(
      text => collect(data, text),
      // The page has been left.
      () => undefined,
    );
    answers.push(collected);
  });
  return {
    async untranslated() {
      await Promise.all(answers);
      const given = [...data, ...identifiers].map(unformatted);
      const isData = (text: string): boolean =>
        !/\p{L}{2}/u.test(text) || identifiers.includes(text) || given.some(value => value.includes(text));
      return (await page.evaluate(visibleTexts)).flatMap(({ text, place }) => {
        const rest = unformatted(text.replace(MARKED, ' '));
        const isTranslated =
          isData(trimmed(rest)) ||
          rest
            .split(/, | · | → /)
            .map(trimmed)
            .every(isData);
        return isTranslated ? [] : `${place}: ${text}`;
      });
    },
  };
}

const plain = (text: string): string => text.replace(/\s+/g, ' ').trim();
/** Without what `Intl` writes. */
const unformatted = (text: string): string => plain(text.replace(FORMATTED, ' '));
/** Without the punctuation around it. */
const trimmed = (text: string): string => plain(text).replace(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu, '');

/** Adds the texts of an answer. Words of enumerations and identifiers are no data that a person wrote: they need a translation. */
function collect(data: Set<string>, answer: string): void {
  const add = (value: unknown): void => {
    if (typeof value === 'string' && !/^([A-Z][A-Z_]*|[a-z]+([A-Z_][a-z]+)*)$/.test(value)) data.add(value);
    else if (typeof value === 'object' && value !== null) Object.values(value).forEach(add);
  };
  for (const line of answer.split('\n'))
    try {
      add(JSON.parse(line));
    } catch {
      // No answer of the API.
    }
}

/** Dates, times, durations and amounts as `Intl` writes them in the language. */
const FORMATTED = (() => {
  // Each month with each day of a week.
  const dates = Array.from({ length: 84 }, (_, index) => new Date(2026, index % 12, 1 + (index % 7)));
  const parts = (options: Intl.DateTimeFormatOptions) => {
    const format = new Intl.DateTimeFormat(LANGUAGE, options);
    return dates
      .flatMap(date => format.formatToParts(date))
      .filter(({ type }) => type === 'month' || type === 'weekday');
  };
  const words = new Set(
    [
      ...parts({ day: 'numeric', month: 'short', weekday: 'short' }),
      ...parts({ dateStyle: 'long' }),
      ...parts({ day: 'numeric', month: 'long', weekday: 'long' }),
      ...parts({ dateStyle: 'medium' }),
    ].map(({ value }) => value.replace('.', '\\.?')),
  );
  const units = ['heute', 'gestern', 'morgen', 'vor', 'in', 'Tg?\\.', 'Tage?n?', 'Std\\.', 'Min\\.', 'Sek\\.', 'um'];
  const sizes = ['kB', 'KB', 'MB', 'GB', 'ms', 'UTC', 'EUR', 'USD'];
  return new RegExp(`(?<![\\p{L}])(${[...words, ...units, ...sizes].join('|')})(?![\\p{L}])`, 'gu');
})();

/** In the page: texts of elements that are shown, and of attributes that are read out. Code and addresses are the same in each language. */
function visibleTexts(): Found[] {
  const found: Found[] = [];
  const untouched = 'script, style, code, pre, bdi, time, [translate=no], .message-text';
  /** What a field shows as an example of its own format: `message.failed`, `https://…`. */
  const isFormat = (text: string): boolean => /^[\w:/…-]*[._/…][\w:/.…-]*$/.test(text);
  const add = (element: Element, text: string | null): void => {
    if (text === null || text.trim() === '' || element.closest(untouched)) return;
    if (!element.checkVisibility()) return;
    found.push({ text, place: `${element.tagName.toLowerCase()}.${element.className}` });
  };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode())
    if (node.parentElement) add(node.parentElement, node.textContent);
  for (const name of ['aria-label', 'placeholder', 'title', 'alt'])
    for (const element of document.querySelectorAll(`[${name}]`)) {
      const text = element.getAttribute(name);
      if (name !== 'placeholder' || !isFormat(text ?? '')) add(element, text);
    }
  return found;
}
