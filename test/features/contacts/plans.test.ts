import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Db } from '../../../src/database/database.ts';
import { presentIdentity } from '../../../src/features/contacts/columns.ts';
import { getIdentified } from '../../../src/features/contacts/erasure/erasure.sql.ts';
import { addMembers, lockExistingContacts, removeMembers } from '../../../src/features/contacts/labels/store.ts';
import { countMoved, getFormerIds } from '../../../src/features/contacts/merging/store.ts';
import { findContacts, getContacts, getIdentitiesOf } from '../../../src/features/contacts/store.ts';
import { channelUserId } from '../../../src/features/messages/send/recipient.sql.ts';
import { openTestDatabase } from '../../support/database.ts';
import { mostRowsRead, stopAutovacuum } from '../../support/rows-read.ts';

/** Tables without statistics, as after a restore. */

/** Of fewer, PostgreSQL 15 reads all for a short list. */
const CONTACTS = 20_000;
/** Ids of contacts that were merged into the contacts 1 to 20,000, in this order. */
const FORMER = 100_000;
const TABLES = ['contacts', 'contact_merges', 'contact_merge_rows', 'contact_identities', 'contact_groups'];

let opened: Awaited<ReturnType<typeof openTestDatabase>>;
beforeAll(async () => {
  opened = await openTestDatabase();
  await stopAutovacuum(opened.database, TABLES);
  await opened.db.transaction(async trx => {
    // The tenant is not needed.
    await sql`set local session_replication_role = replica`.execute(trx);
    const numbers = sql`generate_series(1, ${sql.lit(CONTACTS)}) n`;
    await sql`insert into contacts (tenant_id, id, email) overriding system value select 1, n, n || '@example.com' from ${numbers}`.execute(
      trx,
    );
    await sql`
      insert into contact_merges (tenant_id, id, contact_id, former_id, reason, author, snapshot, merged_at) overriding system value
      select 1, n, n, ${sql.lit(FORMER)} + n, 'network', '{}', '{}', now() from ${numbers}`.execute(trx);
    await sql`insert into contact_merge_rows (tenant_id, merge_id, relation, keys) select 1, n, 'notes', '{1}' from ${numbers}`.execute(
      trx,
    );
    await sql`
      insert into contact_identities (tenant_id, contact_id, kind, portfolio, value, started_at)
      select 1, n, kind, case kind when 'user_id' then 'waba:1' else '' end, kind || n, now()
      from ${numbers}, unnest('{wa_id,user_id}'::text[]) kind`.execute(trx);
    await sql`insert into groups (tenant_id, id, name) overriding system value values (1, 1, 'Group')`.execute(trx);
    await sql`insert into contact_groups (tenant_id, contact_id, group_id) select 1, n, 1 from ${numbers}`.execute(trx);
  });
});
afterAll(() => opened.close());

/** As many as a list reads at once. */
const MANY = Array.from({ length: 200 }, (_, n) => 50 * n + 1);

test.each<[string, (trx: Db) => Promise<unknown>]>([
  [
    'the contacts of former ids',
    async trx =>
      expect([...(await findContacts(trx, 1, [FORMER + 7, 8])).values()].map(({ id }) => id)).toEqual([7, 8]),
  ],
  [
    'contacts that are locked by former ids',
    async trx =>
      expect(await lockExistingContacts(trx, 1, [FORMER + 7, 8, 99_000])).toEqual(
        new Map([
          [FORMER + 7, 7],
          [8, 8],
        ]),
      ),
  ],
  [
    'contacts that are added to a group',
    // They are members already: it can be repeated.
    async trx => expect(await addMembers(trx, 1, 1, [7, 8, 99_000])).toBe(0),
  ],
  [
    'former ids of contacts',
    async trx => expect(await getFormerIds(trx, 1, [7])).toEqual(new Map([[7, [FORMER + 7]]])),
  ],
  [
    'rows that merges moved',
    async trx =>
      expect(
        await countMoved(
          trx,
          1,
          Array.from({ length: 100 }, (_, n) => FORMER + 1 + n),
        ),
      ).toEqual([{ kind: 'note', count: 100 }]),
  ],
  [
    'the identifiers of a person',
    async trx =>
      expect(await getIdentified(trx, 1, [7])).toEqual([
        expect.objectContaining({ id: 7, former_ids: [FORMER + 7], numbers: ['wa_id7'], user_ids: ['user_id7'] }),
      ]),
  ],
  ['many contacts', async trx => expect((await getContacts(trx, 1, MANY)).length).toBe(MANY.length)],
  ['identifiers of many contacts', async trx => expect((await getIdentitiesOf(trx, 1, MANY)).size).toBe(MANY.length)],
  [
    'members that are removed from a group',
    // The group has no members: it can be repeated.
    async trx => expect(await removeMembers(trx, 1, 2, MANY)).toBe(0),
  ],
  [
    'members that are removed from a large group',
    // They are added again for the other plan.
    async trx => {
      expect(await removeMembers(trx, 1, 1, [7, 8])).toBe(2);
      expect(await addMembers(trx, 1, 1, [7, 8])).toBe(2);
    },
  ],
  [
    'user ids of contacts',
    async trx => {
      const { rows } = await sql`
        select ${presentIdentity(1, 'user_id')} as present, ${channelUserId(1, sql`c.id`, sql`c.phone`)} as "ofChannel"
        from contacts c cross join (select null as portfolio_id, '1' as waba_id) ch where c.tenant_id = 1 and c.id = 7`.execute(
        trx,
      );
      expect(rows).toEqual([{ present: 'user_id7', ofChannel: 'user_id7' }]);
    },
  ],
])('without statistics, %s are found by key', async (_what, work) => {
  expect(await mostRowsRead(opened.db, TABLES, work)).toBeLessThan(500);
});
