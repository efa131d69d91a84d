import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Db } from '../../../../src/database/database.ts';
import {
  type CountedCampaign,
  countDeleted,
  countOptOuts,
  countReplies,
} from '../../../../src/features/campaigns/recipients/progress.sql.ts';
import { openTestDatabase } from '../../../support/database.ts';
import { rowsReadBy, stopAutovacuum } from '../../../support/rows-read.ts';

const CAMPAIGNS = 4;
/** Of each campaign; every person is a recipient of each. */
const PEOPLE = 5_000;
const MERGES = 5_000;
/** Of each kind. */
const EVENTS = 50;
const TABLES = ['campaigns', 'campaign_recipients', 'contact_merges', 'events', 'messages'];

let opened: Awaited<ReturnType<typeof openTestDatabase>>;
beforeAll(async () => {
  opened = await openTestDatabase();
  const { database } = opened;
  await stopAutovacuum(database, TABLES);
  await database.query(`analyze ${TABLES.join(', ')}`);
  const add = (text: string, values: readonly unknown[]) =>
    opened.db.transaction(async trx => {
      // The contacts are not needed.
      await sql`set local session_replication_role = replica`.execute(trx);
      const statement = values.reduce<string>(
        (filled, value, index) => filled.replaceAll(`$${index + 1}`, String(value)),
        text,
      );
      await sql.raw(statement).execute(trx);
    });
  await add(
    `insert into campaigns (tenant_id, id, name, status, channel_id, template, audience, author, last_message_at, started_at)
     select 1, k, 'News', 'running', 1, '{}', '{}', '{}', now(), now() from generate_series(1, $1) k`,
    [CAMPAIGNS],
  );
  await add(
    `insert into campaign_recipients (tenant_id, campaign_id, contact_id, message_id, state)
     select 1, k, c, uuid_v7(now(), k * 100000 + c), case when c > $2 / 2 then 3 else 5 end
     from generate_series(1, $1) k, generate_series(1, $2) c`,
    [CAMPAIGNS, PEOPLE],
  );
  await add(
    `insert into contact_merges (tenant_id, contact_id, former_id, reason, author, merged_at)
     select 1, 2 * $1 + n, 4 * $1 + n, 'network', '{}', now() from generate_series(1, $1) n`,
    [MERGES],
  );
  await add(
    `insert into events (tenant_id, id, type, payload, xid, contact_id)
     select 1, uuid_v7(now(), n), 'contact.merged', jsonb_build_object('former_id', 4 * $1 + n), '9'::xid8, 2 * $1 + n from generate_series(1, $1) n`,
    [MERGES],
  );
  const events: readonly (readonly [type: string, xid: number, payload: string])[] = [
    ['contact.deleted', 10, `jsonb_build_object('contact', jsonb_build_object('id', c))`],
    ['message.received', 11, `jsonb_build_object('message', jsonb_build_object('channel_id', 1))`],
    ['contact.opted_out', 12, `jsonb_build_object('contact', jsonb_build_object('opted_out_at', now()))`],
  ];
  for (const [type, xid, payload] of events)
    await add(
      `insert into events (tenant_id, id, type, payload, xid, contact_id)
       select 1, uuid_v7(now(), $1 * 1000 + c), '${type}', ${payload}, '$1'::xid8, c from generate_series(1, $2) n
       cross join lateral (select case when '${type}' = 'contact.deleted' then $3 - n else n end as c) p`,
      [xid, EVENTS, PEOPLE],
    );
});
afterAll(() => opened.close());

class Rollback extends Error {}

/** @returns how many rows a statement reads for the events of one transaction; it changes nothing */
async function readBy(
  count: (trx: Db, range: Parameters<typeof countDeleted>[1]) => Promise<CountedCampaign[]>,
  xid: bigint,
): Promise<number> {
  let read = Number.NaN;
  const range = { after: { xid, seq: 0 }, until: { xid, seq: Number.MAX_SAFE_INTEGER } };
  await opened.db
    .transaction(async trx => {
      read = await rowsReadBy(trx, undefined, async () => expect(await count(trx, range)).not.toEqual([]));
      throw new Rollback();
    })
    .catch((error: unknown) => {
      if (!(error instanceof Rollback)) throw error;
    });
  return read;
}

describe.each(['of empty tables', 'of these rows'])('with statistics %s', which => {
  beforeAll(async () => {
    if (which === 'of these rows') await opened.database.query(`analyze ${TABLES.join(', ')}`);
  });

  // A few rows an event and campaign. All merges, or all recipients, are thousands for each event.
  test.each([
    ['deletions', countDeleted, 10n],
    ['answers', countReplies, 11n],
    ['opt-outs', countOptOuts, 12n],
  ] as const)('the recipients of %s are read by key', async (_what, count, xid) => {
    expect(await readBy(count, xid)).toBeLessThan(EVENTS * CAMPAIGNS * 10);
  });
});
