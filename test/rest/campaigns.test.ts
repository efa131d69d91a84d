import { afterAll, beforeAll, expect, test } from 'vitest';
import { type CampaignFixture, type Sender, startCampaignFixture } from '../features/campaigns/fixture.ts';
import { eventually } from '../support/gateway.ts';
import { newPhone } from '../support/seed.ts';

let fixture: CampaignFixture;
let sender: Sender;
beforeAll(async () => {
  fixture = await startCampaignFixture();
  sender = await fixture.sender();
});
afterAll(() => fixture.gateway.stop());

async function ask(method: string, path: string, body?: unknown, headers = {}) {
  const authorization = `Bearer ${sender.token}`;
  const response = await fixture.gateway.rest(method, path, body, { authorization, ...headers });
  return {
    status: response.status,
    ...((await response.json()) as { data: never; error?: { code: string; details: object } }),
  } as {
    status: number;
    // biome-ignore lint/suspicious/noExplicitAny: what a test expects of an answer it says by assertions
    data: any;
    error?: { code: string; details: object };
    meta?: object;
  };
}

test('a campaign is created, changed, previewed, tested, started, listed and deleted over REST', async () => {
  const { groupId, phones } = await sender.people(3);
  const created = await ask('POST', '/campaigns', {
    name: 'Summer sale',
    template: { name: 'sale', language: 'en', body: ['@{contact_first_name|you}', 'SUN'] },
    audience: { group_ids: [Number(groupId)] },
    sending_hours: { start: '00:00', end: '23:59' },
  });
  expect(created).toMatchObject({ status: 201, data: { name: 'Summer sale', status: 'draft' } });
  const { id } = created.data;
  expect(await ask('PATCH', `/campaigns/${id}`, { messages_per_second: 50, sending_hours: null })).toMatchObject({
    status: 200,
    data: { messages_per_second: 50, sending_hours: null },
  });
  expect((await ask('GET', `/campaigns/${id}/preview`)).data).toMatchObject({
    audience_count: 3,
    recipient_count: 3,
    skips: [],
    samples: Array(3).fill({ rendered: { body: 'Hello you, your code is SUN.' }, fault: null }),
  });
  expect(await ask('POST', `/campaigns/${id}/test`, { phone: newPhone() })).toMatchObject({ status: 200 });
  const key = { 'idempotency-key': 'start once' };
  expect(await ask('POST', `/campaigns/${id}/start`, {}, key)).toMatchObject({ data: { status: 'running' } });
  expect(await ask('POST', `/campaigns/${id}/start`, {}, key)).toMatchObject({ data: { status: 'running' } });
  expect(await ask('POST', `/campaigns/${id}/start`, {})).toMatchObject({ status: 409, error: { code: 'CONFLICT' } });
  await eventually(async () =>
    expect((await ask('GET', `/campaigns/${id}`)).data).toMatchObject({
      status: 'completed',
      progress: { total: 3, read: 3, failed: 0 },
    }),
  );
  const recipients = await ask('GET', `/campaigns/${id}/recipients?filter[state][eq]=read&per_page=2`);
  expect(recipients.data).toHaveLength(2);
  expect(recipients.data[0]).toMatchObject({
    state: 'read',
    skip_reason: null,
    consent_entry: null,
    has_opted_out: false,
  });
  const queued = await ask('POST', `/campaigns/${id}/export`, { file_type: 'json', recipient_state: 'read' });
  expect(queued).toMatchObject({ status: 201, data: { file_type: 'json', error: null } });
  await eventually(async () =>
    expect((await ask('GET', `/exports/${queued.data.id}`)).data).toMatchObject({ state: 'completed', row_count: 3 }),
  );
  const file = await fetch((await ask('GET', `/exports/${queued.data.id}`)).data.url);
  expect(await file.json()).toEqual(
    phones.map(phone => expect.objectContaining({ phone, state: 'read', skip_reason: null, opted_out: false })),
  );
  expect((await ask('POST', '/campaigns/999999/export', {})).status).toBe(404);
  expect(await ask('POST', `/campaigns/${id}/export`, { recipient_state: 'odd' })).toMatchObject({
    status: 422,
    error: { details: { recipient_state: expect.anything() } },
  });
  expect((await ask('GET', '/campaigns?filter[status][eq]=completed')).data).toMatchObject([{ id }]);
  expect(await ask('DELETE', `/campaigns/${id}`)).toMatchObject({ status: 200, data: { id } });
  expect((await ask('GET', `/campaigns/${id}`)).status).toBe(404);
  expect(phones).toHaveLength(3);
});

test('a campaign is scheduled and cancelled, and an impossible transition is a conflict', async () => {
  const created = await ask('POST', '/campaigns', {
    name: 'Later',
    template: { name: 'notice', language: 'en' },
    audience: { phones: [newPhone()] },
  });
  const { id } = created.data;
  expect((await ask('POST', `/campaigns/${id}/pause`)).status).toBe(409);
  for (const scheduled_at of ['2030-13-01T00:00:00Z', '2099-01-01', 'soon'])
    expect((await ask('POST', `/campaigns/${id}/start`, { scheduled_at })).error?.details).toEqual({
      scheduled_at: ['Must be a time such as 2026-12-24T09:00:00+01:00.'],
    });
  const scheduled = await ask('POST', `/campaigns/${id}/start`, { scheduled_at: '2099-01-01T00:00:00Z' });
  expect(scheduled.data).toMatchObject({ status: 'scheduled', scheduled_at: '2099-01-01T00:00:00+00:00' });
  expect((await ask('POST', `/campaigns/${id}/cancel`)).data.status).toBe('cancelled');
  for (const action of ['pause', 'resume', 'cancel'])
    expect((await ask('POST', `/campaigns/${id}/${action}`)).status).toBe(409);
  expect((await ask('POST', '/campaigns/999999/resume')).status).toBe(404);
});

test('faults of a campaign are named by field', async () => {
  const faulty = await ask('POST', '/campaigns', {
    name: 'A',
    template: { name: 'sale', language: 'en', body: ['a'] },
    audience: { group_ids: [999_999] },
    messages_per_second: 5_000,
  });
  expect(faulty.status).toBe(422);
  expect(Object.keys(faulty.error?.details ?? {}).sort()).toEqual([
    'audience.group_ids',
    'messages_per_second',
    'template.body.1',
  ]);
});

test.each([
  ['of no kind', {}, ['audience']],
  ['of two kinds', { group_ids: [1], phones: ['+4915112345678'] }, ['audience']],
  ['that is no object', 'all', ['audience']],
  ['that is missing', undefined, ['audience']],
  ['with an unreadable field', { group_ids: 'all' }, ['audience.group_ids']],
  [
    'of two unreadable kinds',
    { list_id: {}, group_ids: 'all' },
    ['audience', 'audience.group_ids', 'audience.list_id'],
  ],
])('an audience %s is named with the other faults of a campaign', async (_which, audience, named) => {
  const campaign = { name: 'A', template: { name: 'sale', language: 'en', body: ['@{column.code}'] }, audience };
  const faulty = await ask('POST', '/campaigns', campaign);
  expect([faulty.status, Object.keys(faulty.error?.details ?? {}).sort()]).toEqual([
    422,
    [...named, 'template.body.1'],
  ]);
  const elsewhere = await ask('POST', '/campaigns', { ...campaign, channel_id: 999_999 });
  expect(Object.keys(elsewhere.error?.details ?? {}).sort()).toEqual([...named, 'channel_id']);
});

test('PATCH of a campaign without a change keeps updated_at', async () => {
  const { groupId } = await sender.people(1);
  const campaign = {
    name: 'Same',
    template: { name: 'sale', language: 'en', body: ['a', 'b'] },
    audience: { group_ids: [Number(groupId)] },
    sending_hours: { start: '08:00', end: '20:00' },
    frequency_cap: { messages: 2, days: 7 },
  };
  const { data } = await ask('POST', '/campaigns', campaign);
  const stand = () =>
    fixture.gateway.database.query('select updated_at::text from campaigns where name = $1', ['Same']);
  const before = await stand();
  for (const nothing of [{}, campaign, data])
    expect((await ask('PATCH', `/campaigns/${data.id}`, nothing)).data).toEqual(data);
  expect(await stand()).toEqual(before);
  expect((await ask('PATCH', `/campaigns/${data.id}`, { first_wave: 5 })).data.first_wave).toBe(5);
  expect(await stand()).not.toEqual(before);
});

test('an audience has exactly one field, and null is none', async () => {
  const campaign = { name: 'A', template: { name: 'notice', language: 'en' } };
  const phones = [newPhone()];
  for (const audience of [{}, { group_ids: null }, { group_ids: [1], phones }]) {
    const { status, error } = await ask('POST', '/campaigns', { ...campaign, audience });
    expect([status, error?.details]).toEqual([
      422,
      { audience: ['Give exactly one of group_ids, saved_filter_id, contact_ids, phones, list_id.'] },
    ]);
  }
  const audience = { group_ids: null, saved_filter_id: '', contact_ids: null, list_id: null, phones };
  const created = await ask('POST', '/campaigns', { ...campaign, audience });
  expect(created.status).toBe(201);
  const path = `/campaigns/${created.data.id}`;
  expect((await ask('PATCH', path, { audience })).status).toBe(200);
  expect((await ask('PATCH', path, { audience: {} })).error?.details).toHaveProperty('audience');
});

test('a list is previewed without being uploaded, with faults under the names of the body', async () => {
  const phone = newPhone();
  const csv = `Number,Name,Zone\n${phone},Ana,Asia/Tokyo\nnone,Bo,`;
  const mapping = { phone: 'Number', first_name: 'Name', time_zone: 'Zone' };
  const { status, data } = await ask('POST', '/campaigns/lists/preview', { csv, mapping });
  expect([status, data]).toEqual([
    200,
    {
      columns: ['Number', 'Name', 'Zone'],
      row_count: 1,
      new_contact_count: 1,
      duplicate_count: 0,
      error_count: 1,
      errors: [{ row: 2, message: 'Has no valid phone number.' }],
      samples: [
        {
          row: 1,
          phone,
          contact: null,
          fields: [
            { name: 'first_name', value: 'Ana' },
            { name: 'time_zone', value: 'Asia/Tokyo' },
          ],
          values: [phone, 'Ana', 'Asia/Tokyo'],
        },
      ],
    },
  ]);
  expect((await ask('GET', `/contacts?search=${encodeURIComponent(phone)}`)).data).toEqual([]);
  for (const path of ['/campaigns/lists/preview', '/campaigns/lists']) {
    const faulty = await ask('POST', path, { name: 'F', csv, mapping: { phone: 'Number', first_name: 'none' } });
    expect([faulty.status, Object.keys(faulty.error?.details ?? {})]).toEqual([422, ['mapping.first_name']]);
  }
});

test('a list is uploaded, extended and deleted', async () => {
  const csv = `phone,code\n${newPhone()},A\nnone,B`;
  const created = await ask('POST', '/campaigns/lists', { name: 'Fair', csv, is_complete: false });
  expect(created.data.is_complete).toBe(false);
  expect(created).toMatchObject({ status: 201, data: { name: 'Fair', row_count: 1, error_count: 1 } });
  const { id } = created.data;
  const more = await ask('POST', `/campaigns/lists/${id}/rows`, { csv: `phone,code\n${newPhone()},C` });
  expect(more.data.is_complete).toBe(true);
  expect(more.data).toMatchObject({ row_count: 2, error_count: 1, errors: [{ row: 2 }] });
  expect((await ask('GET', '/campaigns/lists')).data).toMatchObject([{ id }]);
  expect((await ask('GET', `/campaigns/lists/${id}`)).data.columns).toEqual(['phone', 'code']);
  expect((await ask('DELETE', `/campaigns/lists/${id}`)).status).toBe(200);
  expect((await ask('GET', `/campaigns/lists/${id}`)).status).toBe(404);
});
