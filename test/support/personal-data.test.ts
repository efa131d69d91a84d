import { gzipSync, zstdCompressSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from './database.ts';
import { findPersonalData } from './personal-data.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

const NUMBER = '4915199988877';
const wamid = `wamid.${Buffer.concat([Buffer.from([0x1c, 0x18, NUMBER.length]), Buffer.from(NUMBER), Buffer.from([0x15, 0x02])]).toString('base64')}`;

test.each([
  ['text', 'text', `call +${NUMBER} now`],
  ['an id of a message, which holds the number', 'text', wamid],
  ['such an id behind other letters', 'text', `x/${wamid.slice(6)}`],
  ['such an id within JSON', 'jsonb', JSON.stringify({ deep: [{ wamid }] })],
  ['an array of texts', 'text[]', `{other,${NUMBER}}`],
  ['a number within JSON', 'jsonb', `{"n": ${NUMBER}}`],
  ['bytes', 'bytea', Buffer.from(`{"from":"${NUMBER}"}`)],
  ['compressed bytes', 'bytea', gzipSync(`{"from":"${NUMBER}"}`)],
  ['bytes compressed otherwise', 'bytea', zstdCompressSync(`{"id":"${wamid}"}`)],
  ['bytes written as hex', 'text', Buffer.from(NUMBER).toString('hex')],
])('a person is found in %s, in a table that the scanner does not list', async (_name, type, value) => {
  await database.query(`create table new_feature (tenant_id bigint, notes ${type})`);
  try {
    expect(await findPersonalData(database, { number: NUMBER })).toEqual([]);
    await database.query(`insert into new_feature values (1, $1::${type})`, [value]);
    expect(await findPersonalData(database, { number: NUMBER })).toEqual([
      expect.objectContaining({ table: 'new_feature', column: 'notes', marker: 'number', rows: 1 }),
    ]);
  } finally {
    await database.query('drop table new_feature');
  }
});
