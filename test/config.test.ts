import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { loadConfig, VARIABLES } from '../src/config.ts';

const KEY = Buffer.alloc(32, 7).toString('base64');

test('the README lists every environment variable exactly once, and no other', () => {
  const [, section = ''] = readFileSync('README.md', 'utf8').split('### Configuration\n');
  const [table = ''] = section.split('\n#');
  const rows = [...table.matchAll(/^\| (`[^|]+`) \|/gm)].map(([, cell = '']) => cell);
  const listed = rows.flatMap(cell => [...cell.matchAll(/`([^`]+)`/g)].map(([, name]) => name));
  // npm sets it around its scripts.
  expect(listed.sort()).toEqual(VARIABLES.filter(name => name !== 'npm_lifecycle_event').sort());
});

test('all invalid variables are reported together', () => {
  const faulty = { PORT: 'x', PARLEY_DATABASE_POOL: '0', PARLEY_SECRET_KEY: 'short', DATABASE_URL: 'mysql://x/y' };
  expect(() => loadConfig(faulty)).toThrow(
    expect.objectContaining({
      message: expect.stringMatching(/PORT.*\n.*DATABASE_URL.*\n.*PARLEY_DATABASE_POOL.*\n.*PARLEY_SECRET_KEY/),
    }),
  );
});

test('equal current and previous secret keys are refused', () => {
  expect(() => loadConfig({ PARLEY_SECRET_KEY: KEY, PARLEY_PREVIOUS_SECRET_KEY: KEY })).toThrow(
    /PARLEY_PREVIOUS_SECRET_KEY/,
  );
});
