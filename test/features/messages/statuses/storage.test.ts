import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Claimed } from '../../../../src/features/messages/dispatch/outbox.sql.ts';
import { MESSAGE_COLUMNS } from '../../../../src/features/messages/message.ts';
import { dataOf } from '../../../support/answers.ts';
import { eventually, startGateway, type TestGateway } from '../../../support/gateway.ts';
import { newPhone } from '../../../support/seed.ts';

/** The contents of the narrow tables that extend messages. */

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway({ emulator: { faults: { window: 'open', pairLimit: false } } });
});
afterAll(() => gateway.stop());

const SEND =
  'mutation ($to: String!) { sendMessage(input: { to: { phone: $to }, content: { text: { body: "Hi" } } }) { message { databaseId } userErrors { code message path } } }';
const query = <Row extends object>(text: string, values: unknown[] = []) =>
  gateway.database.query<Row & Record<string, unknown>>(text, values);

async function send(to = newPhone()): Promise<string> {
  return dataOf(await gateway.graphql(SEND, { to })).sendMessage.message.databaseId;
}

/** Ids of messages once all of them have a status. */
const become = (ids: readonly string[], status: string): Promise<void> =>
  eventually(async () => {
    const rows = await query<{ status: string }>(
      'select distinct status from message_states where message_id = any($1)',
      [ids],
    );
    expect(rows).toEqual([{ status }]);
  });

describe('a status changes no index of the state: its updates are HOT', () => {
  test('every one, where a page has room', async () => {
    gateway.emulator.setFaults({ next: [] });
    // So few that all their versions fit on the first page, whatever vacuum has done until then.
    const ids = await Promise.all(Array.from({ length: 4 }, () => send()));
    await become(ids, 'read');
    await eventually(async () => {
      const [row] = await query<{ updated: number; hot: number }>(
        `select sum(n_tup_upd)::int as updated, sum(n_tup_hot_upd)::int as hot from pg_stat_user_tables where relname like 'message_states%'`,
      );
      expect(row?.updated).toBeGreaterThanOrEqual(4);
      expect(row?.hot).toBe(row?.updated);
    });
  });

  test('every table of states leaves room on its pages', async () => {
    const tables = await query<{ options: string[] | null }>(
      `select reloptions as options from pg_class where relkind = 'r' and relname like 'message_states%'`,
    );
    expect(tables).not.toEqual([]);
    for (const { options } of tables) expect(options).toContain('fillfactor=25');
  });
});

test('hourly statistics count every message once, under its current status', async () => {
  const to = newPhone();
  gateway.emulator.setFaults({ next: [{ errorCode: 131_026, to }] });
  const failed = await send(to);
  await become([failed], 'failed');
  gateway.emulator.inbound({ from: '+14155550000', text: 'Hi', phoneNumberId: gateway.tenant.phoneNumberId });
  await eventually(async () => {
    const counted = await query(
      `select case when status = 'received' then 'inbound' else 'outbound' end as direction, status, sum(messages)::int as messages from (
         select tenant_id, status, messages from message_statistics union all select tenant_id, status, messages from message_statistics_pending
       ) t where tenant_id = $1 group by status having sum(messages) <> 0 order by direction, status`,
      [gateway.tenant.id],
    );
    const present = await query(
      `select m.direction, s.status, count(*)::int as messages from messages m
       join message_states s on s.tenant_id = m.tenant_id and s.message_id = m.id where m.tenant_id = $1
       group by m.direction, s.status order by m.direction, s.status`,
      [gateway.tenant.id],
    );
    expect(counted).toEqual(present);
    expect(counted.map(row => row['status'])).toEqual(['received', 'failed', 'read']);
  });
  expect(await query('select message_id, code from message_failures')).toEqual([{ message_id: failed, code: 131_026 }]);
});

test('message_updates has the last change of each message', async () => {
  const differing = () =>
    query(
      `select s.message_id from message_states s left join message_updates u
         on u.tenant_id = s.tenant_id and u.message_id = s.message_id and u.updated_at = s.updated_at and u.status = s.status
       where u.message_id is null`,
    );
  expect(await differing()).toEqual([]);
  const list = `query ($direction: OrderDirection!) {
    messages(first: 100, filter: { status: { in: [READ, FAILED] } }, orderBy: [{ field: UPDATED_AT, direction: $direction }]) { totalCount nodes { databaseId updatedAt status } } }`;
  const [up, down] = await Promise.all(
    ['ASC', 'DESC'].map(async direction => dataOf(await gateway.graphql(list, { direction })).messages),
  );
  expect(up.nodes).toHaveLength(up.totalCount);
  expect(up.nodes).toEqual([...down.nodes].reverse());
  const times = up.nodes.map((node: { updatedAt: string }) => Date.parse(node.updatedAt));
  expect(times).toEqual([...times].sort((a, b) => a - b));
});

test('deleting a contact deletes its messages from all tables', async () => {
  const id = await send();
  await become([id], 'read');
  const [row] = await query<{ contact_id: string }>('select contact_id from messages where id = $1', [id]);
  await gateway.graphql('mutation ($id: ID!) { deleteContact(input: { id: $id }) { deletedId } }', {
    id: String(row?.contact_id),
  });
  for (const table of ['message_states', 'message_updates', 'message_wamids', 'message_failures', 'outbox'])
    expect(await query(`select from ${table} where message_id = $1`, [id]), table).toEqual([]);
});

test('functions of the database return the columns of the row types', async () => {
  const columnsOf = async (call: string): Promise<string[]> => {
    const rows = await query<{ name: string }>(
      `select unnest(proargnames) as name, unnest(proargmodes) as mode from pg_proc where proname = $1`,
      [call],
    );
    return rows.filter(row => row['mode'] === 't').map(row => row.name);
  };
  const claimed = [
    'message_id',
    'contact_id',
    'priority',
    'attempts',
    'sealed',
    'type',
    'body',
    'content',
    'reply_to_wamid',
    'age_ms',
    'phone',
    'user_id',
    'opted_out_at',
  ] as const satisfies readonly (keyof Claimed)[];
  expect(
    (await columnsOf('claim_outbox')).filter(name => name !== 'lane' && name !== 'next_attempt_at').sort(),
  ).toEqual([...claimed].sort());
  expect((await columnsOf('lock_outbound')).sort()).toEqual(['tenant_id', 'contact', ...MESSAGE_COLUMNS].sort());
});
