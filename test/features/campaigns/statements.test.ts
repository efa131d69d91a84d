import { afterAll, beforeAll, expect, test } from 'vitest';
import { membersOf, planMembers } from '../../../src/features/campaigns/audience/members.sql.ts';
import { findUnusedLists, isListUsed, type UnusedList } from '../../../src/features/campaigns/lists/list-usage.sql.ts';
import {
  contactsOfKeys,
  firstValues,
  insertListErrors,
  insertListRows,
} from '../../../src/features/campaigns/lists/rows.sql.ts';
import {
  type CountedPeople,
  countDuplicates,
  countPeople,
  planLeft,
  valuesOf,
} from '../../../src/features/campaigns/preview/preview.sql.ts';
import { type BillableCount, countBillable } from '../../../src/features/campaigns/recipients/billable-messages.sql.ts';
import {
  type ExportedRecipient,
  examineRecipients,
} from '../../../src/features/campaigns/recipients/export-page.sql.ts';
import { type RecipientRow, recipientPage } from '../../../src/features/campaigns/recipients/list.ts';
import {
  type CountedCampaign,
  countDeleted,
  countOptOuts,
  countReplies,
  countStatuses,
  hasRecentCampaigns,
} from '../../../src/features/campaigns/recipients/progress.sql.ts';
import {
  confirmRecipients,
  findCandidates,
  findUnconfirmed,
  lockChoice,
  nextDueAt,
  requeueWithdrawn,
  useIndexOrder,
  writeByMessage,
  writeRecipients,
} from '../../../src/features/campaigns/run/claim.sql.ts';
import {
  countBacklog,
  findMergedMessages,
  findWaitingMessages,
  findWaitingPeople,
} from '../../../src/features/campaigns/run/outbox.sql.ts';
import { insertRecipients, type PreparedRange } from '../../../src/features/campaigns/run/prepare.sql.ts';
import {
  countReached,
  readSendingConditions,
  type SendingConditions,
} from '../../../src/features/campaigns/run/sending-conditions.sql.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { type ColumnsOf, describeColumns } from '../../support/describe-statement.ts';

const AUDIENCES = [{ filter: {} }, { groupIds: [1] }, { contactIds: [1] }, { listId: 1 }].map(audience =>
  membersOf(1, audience, () => ({ text: 'c.tenant_id = $1', values: [1] })),
);

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

const columnsOf = (work: Parameters<typeof describeColumns>[1]) => describeColumns(database.url, work);

test('the statements on lists describe as their row types', async () => {
  const keys = { texts: ['+491'], keys: ['491'] };
  expect(await columnsOf(db => contactsOfKeys(db, 1, ['491'], keys))).toEqual({ key: 'text', contact_id: 'bigint' });
  const row = { contactId: 1, rowNumber: 1, values: { code: 'A' } };
  expect(await columnsOf(db => insertListRows(db, 1, 1, [row]))).toEqual({ count: 'integer' });
  expect(await columnsOf(db => insertListErrors(db, 1, 1, [{ row_number: 1, message: 'a' }]))).toBeUndefined();
  expect(await columnsOf(db => firstValues(db, 1, 1))).toEqual({ values: 'jsonb' });
  expect(await columnsOf(db => isListUsed(db, 1, 1))).toEqual({ is_used: 'boolean' });
  expect(await columnsOf(db => findUnusedLists(db, '2026-01-01T00:00:00Z', 1))).toEqual({
    tenant_id: 'bigint',
    id: 'bigint',
  } satisfies ColumnsOf<UnusedList>);
});

const ID = '01890000-0000-7000-8000-000000000000';

test('the statements of a run describe as their row types', async () => {
  for (const members of AUDIENCES)
    expect(await columnsOf(db => insertRecipients(db, 1, members, 0, 10))).toEqual({
      added: 'integer',
      last_id: 'bigint',
    } satisfies ColumnsOf<PreparedRange>);
  const query = {
    campaignId: 1,
    position: 0,
    limit: 10,
    listId: null,
    category: 'marketing',
    channelId: 1,
    cap: { messages: 1, days: 1 },
  };
  expect(Object.values((await columnsOf(db => useIndexOrder(db))) ?? {})).toEqual(['text']);
  expect(Object.values((await columnsOf(db => lockChoice(db, 1, true))) ?? {})).toEqual(['void']);
  expect(await columnsOf(db => findCandidates(db, 1, query))).toEqual({
    contact_id: 'bigint',
    current_id: 'bigint',
    phone: 'text',
    time_zone: 'text',
    user_id: 'text',
    is_waiting: 'boolean',
    is_claimed: 'boolean',
    values: 'jsonb',
    reason: 'smallint',
  });
  expect(await columnsOf(db => writeRecipients(db, 1, 1, [{ contactId: 1, state: 2 }]))).toBeUndefined();
  expect(await columnsOf(db => writeByMessage(db, 1, 1, [{ messageId: ID, reason: 8 }]))).toEqual({
    skipped: 'integer',
    pending: 'integer',
  });
  expect(await columnsOf(db => confirmRecipients(db, 1, [ID]))).toBeUndefined();
  expect(await columnsOf(db => findUnconfirmed(db, 1, 1, 10))).toEqual({ message_id: 'uuid', is_accepted: 'boolean' });
  expect(await columnsOf(db => nextDueAt(db, 1, 1))).toEqual({ due_at: 'timestamp with time zone' });
  expect(await columnsOf(db => countBacklog(db, 1, 1, 3, 10))).toEqual({ count: 'integer' });
  expect(await columnsOf(db => findWaitingMessages(db, 1, 1, 1, 3))).toEqual({
    message_id: 'uuid',
    contact_id: 'bigint',
  });
  expect(await columnsOf(db => findWaitingPeople(db, 1, 1, 1, 3))).toEqual({
    message_id: 'uuid',
    timeZone: 'text',
    phone: 'text',
    userId: 'text',
  });
  expect(await columnsOf(db => findMergedMessages(db, 1, [{ message_id: ID, contact_id: 1 }]))).toEqual({
    message_id: 'uuid',
  });
  expect(await columnsOf(db => requeueWithdrawn(db, 1, 1, [ID]))).toEqual({ count: 'integer' });
  expect(await columnsOf(db => countReached(db, 1, 1, null))).toEqual({ count: 'integer' });
  expect(await columnsOf(db => readSendingConditions(db, 1, 1, null))).toEqual({
    channel_id: 'bigint',
    channel_status: 'text',
    channel_reason: 'text',
    messages_per_second: 'integer',
    portfolio_id: 'text',
    quality: 'text',
    messaging_limit: 'integer',
    account_status: 'text',
    restrictions: 'jsonb',
    sent: 'integer',
    delivered: 'integer',
    failed: 'integer',
    cancelled: 'integer',
    stop_code: 'integer',
  } satisfies ColumnsOf<SendingConditions>);
});

test('the statements of the reader describe as their row types', async () => {
  const range = { after: { xid: 1n, seq: 1 }, until: { xid: 2n, seq: 1 } };
  expect(await columnsOf(db => countBillable(db, 1, [1], [0]))).toEqual({
    campaign_id: 'bigint',
    country: 'text',
    category: 'text',
    place: 'integer',
    messages: 'bigint',
  } satisfies ColumnsOf<BillableCount>);
  const counted = { tenant_id: 'bigint', campaign_id: 'bigint' } satisfies ColumnsOf<CountedCampaign>;
  expect(await columnsOf(db => countStatuses(db, range, [368]))).toEqual(counted);
  expect(await columnsOf(db => countDeleted(db, range))).toEqual(counted);
  expect(await columnsOf(db => countReplies(db, range))).toEqual(counted);
  expect(await columnsOf(db => countOptOuts(db, range))).toEqual(counted);
  expect(await columnsOf(db => hasRecentCampaigns(db))).toEqual({ id: 'bigint' });
});

test('the plan setting of an audience describes as its row type', async () => {
  for (const members of AUDIENCES.filter(({ isPlannedForAll }) => isPlannedForAll))
    expect(await columnsOf(db => planMembers(db, members))).toEqual({ set_config: 'text' });
});

test('the statements of a preview describe as their row types', async () => {
  const query = { category: 'marketing', channelId: null, cap: { messages: 1, days: 1 } };
  for (const members of AUDIENCES)
    expect(await columnsOf(db => countPeople(db, members, query))).toEqual({
      reason: 'smallint',
      count: 'integer',
      phone: 'text',
      time_zone: 'text',
      user_id: 'text',
      contact_ids: 'jsonb',
    } satisfies ColumnsOf<CountedPeople>);
  expect(await columnsOf(db => countDuplicates(db, 1, 1))).toEqual({ count: 'integer' });
  expect(await columnsOf(db => planLeft(db, 1, '2026-01-01'))).toEqual({ left: 'bigint' });
  expect(await columnsOf(db => valuesOf(db, 1, 1, [1]))).toEqual({ contact_id: 'bigint', values: 'jsonb' });
});

const RECIPIENT = {
  contact_id: 'bigint',
  message_id: 'uuid',
  state: 'smallint',
  reason: 'smallint',
  error_code: 'integer',
  due_at: 'timestamp with time zone',
  replied_at: 'timestamp with time zone',
  opted_out: 'boolean',
} as const satisfies ColumnsOf<RecipientRow>;

test('a page of recipients is described as its row type', async () => {
  expect(await columnsOf(db => recipientPage(db, 1, { id: 1, total: 0 }, { first: 1 }))).toMatchObject(RECIPIENT);
  expect(await columnsOf(db => examineRecipients(db, 1, 1, { state: { eq: 'failed' } }, null, 1))).toEqual({
    ...RECIPIENT,
    ...{ firstname: 'text', lastname: 'text', phone: 'text', meets: 'boolean' },
  } satisfies ColumnsOf<ExportedRecipient & { meets: boolean }>);
});
