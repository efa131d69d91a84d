import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { CriticalityLevel, diff } from '@graphql-inspector/core';
import { buildSchema } from 'graphql';

/** `npm run schema:check`: fails if schema.graphql breaks clients of the last tagged version. */

const FILE = 'schema.graphql';

/** What a client of the old schema could rely on, and the new one does not have: one sentence for each. */
export async function breakingChanges(before: string, after: string): Promise<string[]> {
  const changes = await diff(buildSchema(before), buildSchema(after));
  return changes
    .filter(({ criticality }) => criticality.level === CriticalityLevel.Breaking)
    .map(({ message }) => message);
}

/** @throws if git fails: a repository that cannot be read must not pass for one without tags */
const git = (...args: string[]): string =>
  execFileSync('git', args, {
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
    stdio: ['ignore', 'pipe', 'inherit'],
  }).trim();

function skip(reason: string): void {
  process.stdout.write(`Skipped: ${reason} to compare with.\n`);
}

async function main(): Promise<void> {
  if (git('tag', '--merged', 'HEAD') === '') return skip('there is no git tag');
  const tag = git('describe', '--tags', '--abbrev=0');
  if (git('ls-tree', '--name-only', tag, FILE) === '') return skip(`${tag} has no ${FILE}`);
  const before = git('show', `${tag}:${FILE}`);
  const breaking = await breakingChanges(before, readFileSync(FILE, 'utf8'));
  for (const message of breaking) process.stderr.write(`Breaking: ${message}\n`);
  process.stdout.write(`${breaking.length} breaking changes since ${tag}.\n`);
  if (breaking.length > 0) process.exitCode = 1;
}

if (import.meta.main) await main();
