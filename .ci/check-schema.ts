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

const git = (...args: string[]): string =>
  execFileSync('git', args, { encoding: 'utf8', maxBuffer: 64 * 1024 * 1024, stdio: ['ignore', 'pipe', 'ignore'] });

/** @returns undefined if the command fails: there is no tag, or the tag has no schema */
function gitOrNothing(...args: string[]): string | undefined {
  try {
    return git(...args).trim();
  } catch {
    return undefined;
  }
}

async function main(): Promise<void> {
  const tag = gitOrNothing('describe', '--tags', '--abbrev=0');
  const before = tag === undefined ? undefined : gitOrNothing('show', `${tag}:${FILE}`);
  if (before === undefined) {
    process.stdout.write(
      `Skipped: ${tag === undefined ? 'there is no git tag' : `${tag} has no ${FILE}`} to compare with.\n`,
    );
    return;
  }
  const breaking = await breakingChanges(before, readFileSync(FILE, 'utf8'));
  for (const message of breaking) process.stderr.write(`Breaking: ${message}\n`);
  process.stdout.write(`${breaking.length} breaking changes since ${tag}.\n`);
  if (breaking.length > 0) process.exitCode = 1;
}

if (import.meta.main) await main();
