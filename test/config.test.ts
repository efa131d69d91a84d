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

test('an address of a database with several hosts is refused, and one with a comma elsewhere is not', () => {
  for (const hosts of ['one:5432,two:5432', 'user:secret@one,two'])
    expect(() => loadConfig({ DATABASE_URL: `postgres://${hosts}/parley` })).toThrow(/DATABASE_URL: .*with one host/);
  const DATABASE_URL = 'postgres://user:a,b@one/parley,2?options=-c%20search_path=a,b';
  expect(loadConfig({ DATABASE_URL }).databaseUrl).toBe(DATABASE_URL);
});

test('variables that do not fit together are reported with those that are invalid', () => {
  const faulty = {
    PORT: '1.5',
    PARLEY_PGBOUNCER: 'true',
    PARLEY_SECRET_KEY: KEY,
    PARLEY_PREVIOUS_SECRET_KEY: KEY,
    PARLEY_MEDIA_S3_ENDPOINT: 'https://s3.example',
    PARLEY_MEDIA_S3_ACCESS_KEY_ID: 'id',
  };
  const reported = [
    /PORT: must be a whole number from 0 to 65535/,
    /DATABASE_URL: is required/,
    /PARLEY_PREVIOUS_SECRET_KEY: must be another/,
    /PARLEY_DIRECT_DATABASE_URL: is required/,
    /PARLEY_MEDIA_S3_BUCKET: is required/,
    /PARLEY_MEDIA_S3_ACCESS_KEY_ID, PARLEY_MEDIA_S3_SECRET_ACCESS_KEY: set both/,
  ];
  for (const message of reported)
    expect(() => loadConfig(faulty, ['DATABASE_URL', 'PARLEY_SECRET_KEY'])).toThrow(message);
});

test('equal current and previous secret keys are refused', () => {
  expect(() => loadConfig({ PARLEY_SECRET_KEY: KEY, PARLEY_PREVIOUS_SECRET_KEY: KEY })).toThrow(
    /PARLEY_PREVIOUS_SECRET_KEY/,
  );
});
