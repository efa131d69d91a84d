import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { expect, test } from 'vitest';

const SRC = resolve('src');

interface Source {
  /** Below src/, such as features/contacts/store.ts */
  readonly path: string;
  readonly text: string;
  /** Files of src/ that it imports, types included. */
  readonly imports: readonly string[];
}

const sources: readonly Source[] = readdirSync(SRC, { recursive: true, encoding: 'utf8' })
  .filter(path => /\.(ts|js)$/.test(path))
  .map(path => {
    const text = readFileSync(join(SRC, path), 'utf8');
    const specifiers = [...text.matchAll(/(?:from|import)\s*\(?\s*'(\.[^']+)'/g)].map(match => match[1] ?? '');
    return { path, text, imports: specifiers.map(specifier => relative(SRC, resolve(SRC, dirname(path), specifier))) };
  });

const isGenerated = (path: string): boolean => path.includes('.generated.');
const featureOf = (path: string): string | undefined => /^features\/([^/]+)\//.exec(path)?.[1];
const isStore = (path: string): boolean => /(^|[-/])store\.ts$|\.sql\.ts$/.test(path);

/** `file → import` pairs that break a rule. */
function offenders(applies: (path: string) => boolean, breaks: (target: string, path: string) => boolean): string[] {
  return sources
    .filter(({ path }) => applies(path))
    .flatMap(({ path, imports }) =>
      imports.filter(target => breaks(target, path)).map(target => `${path} → ${target}`),
    );
}

test('a store imports no other feature but the nouns whose rows it reads', () => {
  const nouns = /\/(contact|label|channel|message|list|cursor|columns|feature|opt-words)\.ts$/;
  const breaks = (target: string, path: string): boolean =>
    featureOf(target) !== undefined && featureOf(target) !== featureOf(path) && !nouns.test(target);
  expect(offenders(path => featureOf(path) !== undefined && isStore(path), breaks)).toEqual([]);
});

test('SQL stands in stores alone, or in what builds it for them', () => {
  const allowed = /^(database|cli)\/|store\.ts$|\.sql\.ts$|\/(outbox|columns|list|lists)\.ts$|^events\/append\.ts$/;
  const found = sources
    .filter(({ path, text }) => !allowed.test(path) && !isGenerated(path) && /\bsql`|sql<[^>]+>`/.test(text))
    .map(({ path }) => path);
  expect(found).toEqual([]);
});

test('only config.ts reads the environment', () => {
  expect(
    sources.filter(({ path, text }) => path !== 'config.ts' && /process\.env/.test(text)).map(({ path }) => path),
  ).toEqual([]);
});

test('no file is over 400 lines, tests among them, and half of the sources are under 100', () => {
  const lengths = sources
    .filter(({ path }) => !isGenerated(path))
    .map(({ path, text }) => ({ path, lines: text.split('\n').length - 1 }));
  expect(lengths.filter(({ lines }) => lines > 400)).toEqual([]);
  const tests = readdirSync('test', { recursive: true, encoding: 'utf8' }).filter(
    path => path.endsWith('.ts') && !path.includes('node_modules'),
  );
  expect(tests.filter(path => readFileSync(join('test', path), 'utf8').split('\n').length > 401)).toEqual([]);
  const sorted = lengths.map(({ lines }) => lines).sort((a, b) => a - b);
  expect(sorted[Math.floor(sorted.length / 2)]).toBeLessThan(100);
});

test('no drawer is named utils, helpers, common, manager or service, and no index.ts re-exports', () => {
  expect(
    sources
      .filter(({ path }) => /(^|\/)(utils?|helpers?|common|managers?|services?|index)(\/|\.ts$)/.test(path))
      .map(({ path }) => path),
  ).toEqual([]);
});

test('nothing is left undone, and no type is looked away from', () => {
  const words = /\b(TODO|FIXME|XXX|HACK)\b|@ts-ignore|@ts-expect-error|console\.log/;
  expect(sources.filter(({ path, text }) => !isGenerated(path) && words.test(text)).map(({ path }) => path)).toEqual(
    [],
  );
});

test('every file that a document names exists', () => {
  const files = ['src', 'test', 'docs'].flatMap(folder =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' }).map(path => `/${folder}/${path}`),
  );
  const documents = ['README.md', 'CONTRIBUTING.md', ...files.filter(path => /^\/docs\/.*\.md$/.test(path))].map(path =>
    path.replace(/^\//, ''),
  );
  const missing = documents.flatMap(document => {
    // Blocks of code have paths of the reader's own projects.
    const prose = readFileSync(document, 'utf8').replace(/^```[\s\S]*?^```/gm, '');
    return [...prose.matchAll(/`([\w./-]+\/[\w.-]+\.(?:ts|tsx|js|mjs|sql|css))`/g)]
      .map(match => match[1] ?? '')
      .filter(named => !files.some(path => path.endsWith(`/${named}`)))
      .map(named => `${document}: ${named}`);
  });
  expect(missing).toEqual([]);
});
