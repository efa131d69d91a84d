import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Filter } from '../../../../src/core/list-args.ts';
import type { Db } from '../../../../src/database/database.ts';
import type { Audience } from '../../../../src/features/campaigns/audience/audience.ts';
import { membersOf, planMembers } from '../../../../src/features/campaigns/audience/members.sql.ts';
import { countPeople } from '../../../../src/features/campaigns/preview/preview.sql.ts';
import { insertRecipients } from '../../../../src/features/campaigns/run/prepare.sql.ts';
import { contactsWhere } from '../../../../src/features/contacts/list.ts';
import { openTestDatabase } from '../../../support/database.ts';
import { rowsReadBy, stopAutovacuum } from '../../../support/rows-read.ts';

/** Of a tenant, all in one group and one list. */
const PEOPLE = 2_000;
const TABLES = ['contacts', 'contact_groups', 'campaign_list_rows', 'contact_merges', 'campaign_recipients'];

let opened: Awaited<ReturnType<typeof openTestDatabase>>;
beforeAll(async () => {
  opened = await openTestDatabase();
  await stopAutovacuum(opened.database, TABLES);
});
afterAll(() => opened.close());

const inReplica = (run: (trx: Db) => Promise<unknown>) =>
  opened.db.transaction(async trx => {
    // Groups, lists and campaigns are not needed.
    await sql`set local session_replication_role = replica`.execute(trx);
    await run(trx);
  });

/** Adds the people of a tenant, whose group and list have its number. */
const fill = (tenantId: number) =>
  inReplica(async trx => {
    const of = sql.lit(tenantId);
    await sql`insert into contacts (tenant_id, phone, phone_key)
      select ${of}, '+1415' || (2000000 + n), '1415' || (2000000 + n) from generate_series(1, ${sql.lit(PEOPLE)}) n`.execute(
      trx,
    );
    await sql`insert into contact_groups (tenant_id, contact_id, group_id) select ${of}, id, ${of} from contacts where tenant_id = ${of}`.execute(
      trx,
    );
    await sql`insert into campaign_list_rows (tenant_id, list_id, row_number, contact_id)
      select ${of}, ${of}, row_number() over (), id from contacts where tenant_id = ${of}`.execute(trx);
  });

class Rollback extends Error {}

/** @returns how many rows a statement reads; it changes nothing */
async function readBy(run: (trx: Db) => Promise<unknown>): Promise<number> {
  let read = Number.NaN;
  await inReplica(async trx => {
    read = await rowsReadBy(trx, undefined, () => run(trx));
    throw new Rollback();
  }).catch((error: unknown) => {
    if (!(error instanceof Rollback)) throw error;
  });
  return read;
}

const QUERY = { category: 'marketing', channelId: null, cap: null };

async function expectFewRead(tenantId: number, ...filters: readonly Filter[]): Promise<void> {
  const [first] = await opened.database.query<{ ids: number[] }>(
    'select array_agg(id)::bigint[] as ids from (select id from contacts where tenant_id = $1 order by id limit 1000) c',
    [tenantId],
  );
  const audiences: readonly (readonly [Audience, number])[] = [
    [{ groupIds: [tenantId] }, PEOPLE],
    [{ listId: tenantId }, PEOPLE],
    [{ contactIds: (first?.ids ?? []).map(Number) }, 1_000],
    ...filters.map(filter => [{ filter }, PEOPLE] as const),
  ];
  for (const [audience, count] of audiences) {
    const members = membersOf(tenantId, audience, filter => contactsWhere(tenantId, filter));
    const written = await readBy(async trx => {
      await planMembers(trx, members);
      expect((await insertRecipients(trx, 1, members, 0, 20_000)).added).toBe(count);
    });
    const counted = await readBy(async trx => {
      await planMembers(trx, members);
      const people = await countPeople(trx, members, QUERY);
      expect(people.reduce((sum, one) => sum + one.count, 0)).toBe(count);
    });
    // A few of each person; each of all members would be a million.
    const bound = 10 * PEOPLE;
    expect({ audience, isWrittenByKey: written < bound, isCountedByKey: counted < bound }).toEqual({
      audience,
      isWrittenByKey: true,
      isCountedByKey: true,
    });
  }
}

describe('an audience is read once, for the recipients and for the preview', () => {
  test('with tables that were never analyzed', async () => {
    await fill(1);
    await expectFewRead(1);
  });

  test('by a tenant that the statistics of the tables do not know yet', async () => {
    await opened.database.query(`analyze ${TABLES.join(', ')}`);
    await fill(2);
    await expectFewRead(2, { groupId: { eq: '2' } }, { groupId: { in: ['2', '99'] } });
  });

  test('with statistics of empty tables', async () => {
    await opened.database.query(`truncate ${TABLES.join(', ')} cascade`);
    await opened.database.query(`analyze ${TABLES.join(', ')}`);
    await fill(3);
    await expectFewRead(3, { groupId: { eq: '3' } }, { groupId: { in: ['3', '99'] } });
  });

  test('with statistics of these rows', async () => {
    await opened.database.query(`analyze ${TABLES.join(', ')}`);
    await expectFewRead(3);
  });
});

test('people of several groups and those named twice become one recipient each, in chunks', async () => {
  await fill(4);
  await inReplica(trx =>
    sql`insert into contact_groups (tenant_id, contact_id, group_id) select tenant_id, contact_id, 5 from contact_groups where tenant_id = 4 and contact_id % 2 = 0`.execute(
      trx,
    ),
  );
  await inReplica(async trx => {
    const members = membersOf(4, { groupIds: [4, 5] }, () => ({ text: 'false', values: [] }));
    let [after, total]: [number | null, number] = [0, 0];
    while (after !== null) {
      const { added, last_id: lastId } = await insertRecipients(trx, 1, members, after, 300);
      total += added;
      after = lastId;
    }
    expect(total).toBe(PEOPLE);
    const people = await countPeople(trx, members, QUERY);
    expect(people.reduce((sum, one) => sum + one.count, 0)).toBe(PEOPLE);
  });
});
