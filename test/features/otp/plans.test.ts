import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Db } from '../../../src/database/database.ts';
import { lockCodes, writeContacts } from '../../../src/features/otp/codes.sql.ts';
import { endCodes, getOtps, getSentOtps, type MessageOfContact } from '../../../src/features/otp/store.ts';
import { openTestDatabase } from '../../support/database.ts';
import { mostRowsRead, stopAutovacuum } from '../../support/rows-read.ts';

/** Tables without statistics, as after a restore. */

const CODES = 20_000;
/** Of `CODES` contacts, each with one code and its message. */
const contactIds = Array.from({ length: 200 }, (_, n) => 50 * n + 1);
let codes: readonly string[];
let messages: readonly MessageOfContact[];

let opened: Awaited<ReturnType<typeof openTestDatabase>>;
beforeAll(async () => {
  opened = await openTestDatabase();
  const { database } = opened;
  await stopAutovacuum(database, ['otps', 'messages']);
  await opened.db.transaction(async trx => {
    // The tenant and the contacts are not needed.
    await sql`set local session_replication_role = replica`.execute(trx);
    const numbers = sql`generate_series(1, ${sql.lit(CODES)}) n`;
    await sql`
      insert into messages (tenant_id, id, conversation_id, contact_id, channel_id, direction, type, body)
      select 1, uuid_v7(now(), n), n, n, 1, 'outbound', 'text', '' from ${numbers}`.execute(trx);
    await sql`
      insert into otps (tenant_id, id, contact_id, message_id, phone, phone_key, purpose, template_name, language, mac, state, expiry_minutes, expires_at, created_at, hour)
      select 1, gen_random_uuid(), m.contact_id, m.id, '+49' || m.contact_id, '49' || m.contact_id, 'login', 'code', 'en', '', 'live', 10,
        now() + interval '10 minutes', now(), date_trunc('hour', now())
      from messages m`.execute(trx);
  });
  const rows = await database.query<{ code: string; id: string; contactId: number }>(
    'select id as code, message_id as id, contact_id::int as "contactId" from otps where contact_id = any($1)',
    [contactIds],
  );
  codes = rows.map(({ code }) => code).sort();
  messages = rows;
});
afterAll(() => opened.close());

/** Sorted as the codes. */
const idsOf = (rows: readonly { readonly id: string }[]): string[] => rows.map(({ id }) => id).sort();

test.each<[string, (trx: Db) => Promise<readonly string[]>]>([
  ['codes by their ids', async trx => idsOf(await getOtps(trx, 1, codes))],
  ['codes that were sent', async trx => idsOf(await getSentOtps(trx, 1, codes))],
  ['codes of messages', async trx => idsOf(await lockCodes(trx, 1, messages))],
  [
    'codes that end',
    async trx => {
      await sql`set local session_replication_role = replica`.execute(trx);
      const ended = await endCodes(trx, 1, codes);
      // For the other plan.
      await sql`update otps set state = 'live' where tenant_id = 1 and id = any(array(select unnest(${ended}::uuid[])))`.execute(
        trx,
      );
      return ended.sort();
    },
  ],
  [
    'codes of contacts that were merged',
    async trx => {
      await writeContacts(trx, 1, contactIds);
      return codes;
    },
  ],
])('without statistics, %s are found by key', async (_what, work) => {
  const count = await mostRowsRead(opened.db, ['otps', 'messages'], async trx =>
    expect(await work(trx)).toEqual(codes),
  );
  // A code is looked up, locked, and looked up by its number; one that changed has more versions.
  expect(count).toBeLessThan(8 * codes.length);
});
