import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { breakingChanges } from '../../.ci/check-schema.ts';

const BEFORE = `
  enum Color { RED GREEN }
  input Wish { color: Color }
  type Query { color(wish: Wish): Color old: String @deprecated(reason: "Use color.") }
`;

test('a schema that only adds breaks nothing', async () => {
  const after = `
    enum Color { RED GREEN BLUE }
    input Wish { color: Color size: Int }
    type Query { color(wish: Wish): Color old: String @deprecated(reason: "Use color.") more: Int }
  `;
  expect(await breakingChanges(BEFORE, after)).toEqual([]);
});

test.each([
  ['a field is removed', BEFORE.replace('old: String @deprecated(reason: "Use color.")', '')],
  ['an enum value is removed', BEFORE.replace('RED GREEN', 'RED')],
  ['the type of a field changes', BEFORE.replace('old: String', 'old: [String]')],
  ['an input field becomes required', BEFORE.replace('{ color: Color }', '{ color: Color! }')],
])('it breaks clients when %s', async (_what, after) => {
  expect(await breakingChanges(BEFORE, after)).toHaveLength(1);
});

test('the schema in the repository can be compared', async () => {
  const sdl = readFileSync('schema.graphql', 'utf8');
  expect(await breakingChanges(sdl, sdl)).toEqual([]);
});

test('the check compares with the last tag, passes without one, and fails where git does', () => {
  const cwd = mkdtempSync(join(tmpdir(), 'parley-schema-'));
  onTestFinished(() => rmSync(cwd, { recursive: true }));
  // Not a repository that contains the directory of temporary files.
  const env = { ...process.env, GIT_CEILING_DIRECTORIES: tmpdir() };
  const author = ['-c', 'user.name=Test', '-c', 'user.email=test@example.com'];
  const git = (...args: string[]) => execFileSync('git', [...author, ...args], { cwd, env });
  const write = (sdl: string) => writeFileSync(join(cwd, 'schema.graphql'), sdl);
  const check = () => {
    const script = resolve('.ci/check-schema.ts');
    const { status, stdout, stderr } = spawnSync(process.execPath, [script], { cwd, env, encoding: 'utf8' });
    return { status, stdout, stderr };
  };
  write(BEFORE);
  expect(check()).toMatchObject({ status: 1, stdout: '', stderr: expect.stringContaining('not a git repository') });
  git('init', '--quiet');
  git('commit', '--quiet', '--allow-empty', '-m', 'Begin');
  expect(check()).toMatchObject({ status: 0, stdout: 'Skipped: there is no git tag to compare with.\n' });
  git('tag', 'v0.9');
  expect(check()).toMatchObject({ status: 0, stdout: 'Skipped: v0.9 has no schema.graphql to compare with.\n' });
  git('add', 'schema.graphql');
  git('commit', '--quiet', '-m', 'Add the schema');
  git('tag', 'v1.0');
  expect(check()).toMatchObject({ status: 0, stdout: '0 breaking changes since v1.0.\n' });
  write(BEFORE.replace('RED GREEN', 'RED'));
  expect(check()).toMatchObject({ status: 1, stdout: '1 breaking changes since v1.0.\n' });
});
