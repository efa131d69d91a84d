import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { costOfPeople, durationOf } from '../../../../src/features/campaigns/preview/estimate.ts';
import { storePrices } from '../../../../src/features/messages/pricing/store-prices.ts';
import { applyStatuses } from '../../../../src/features/messages/statuses/apply-statuses.ts';
import { dataOf, payloadOf } from '../../../support/answers.ts';
import { eventually } from '../../../support/gateway.ts';
import { newPhone } from '../../../support/seed.ts';
import { type CampaignFixture, type Sender, startCampaignFixture } from '../fixture.ts';

const prices = join(mkdtempSync(join(tmpdir(), 'parley-prices-')), 'prices.csv');
writeFileSync(
  prices,
  'country,category,price,currency\nDE,marketing,0.1131,EUR\nUS,marketing,0.025,USD\nGB,marketing,0.04,GBP\nJE,marketing,0.02,GBP\nCA,marketing,0.01,CAD\nRE,marketing,0.10,EUR\nYT,marketing,0.03,EUR\nJP,marketing,0.07,EUR\n',
);

let fixture: CampaignFixture;
beforeAll(async () => {
  fixture = await startCampaignFixture({ env: { PARLEY_PRICES: prices } });
});
afterAll(() => fixture.gateway.stop());

const PREVIEW = `audienceCount recipientCount skips { reason count } waitingCount overPlanCount durationSeconds dailyLimit reachedCount
  cost { amount currency } samples { contact { phone } rendered { body } fault }`;
const preview = async (of: Sender, id: string) =>
  dataOf(await of.ask(`query ($id: ID!) { previewCampaign(id: $id) { ${PREVIEW} } }`, { id })).previewCampaign;
const idOf = async (of: Sender, phone: string): Promise<string> =>
  dataOf(
    await of.ask('query ($phone: String!) { contactByIdentifier(identifier: { phone: $phone }) { databaseId } }', {
      phone,
    }),
  ).contactByIdentifier.databaseId;

test('a price that the network names after the delivery is part of the costs', async () => {
  const of = await fixture.sender();
  const { groupId } = await of.people(1);
  // Its webhooks overtake each other: those of this test are applied by the test.
  fixture.gateway.emulator.setWebhookUrl(undefined);
  try {
    const id = await of.campaign({ audience: { groupIds: [groupId] } });
    dataOf(await of.mutate('startCampaign', { id }));
    const read = async () =>
      dataOf(
        await of.ask(
          `query ($id: ID!) { campaign(id: $id) { progress { sent delivered cost { amount currency } }
            recipients { nodes { message { databaseId wamid channel { databaseId } } } } } }`,
          { id },
        ),
      ).campaign;
    await eventually(async () => expect((await read()).progress).toMatchObject({ sent: 1 }));
    const { databaseId: messageId, wamid, channel } = (await read()).recipients.nodes[0].message;
    const { db } = fixture.gateway.gateway.resources;
    const update = { messageId, wamid, channelId: Number(channel.databaseId), at: new Date().toISOString() };
    await db.transaction(trx => applyStatuses(trx, of.id, [{ ...update, status: 'delivered' }], Date.now()));
    await eventually(async () => expect((await read()).progress).toEqual({ sent: 1, delivered: 1, cost: [] }));
    const pricing = { model: 'PMP', type: 'regular', category: 'marketing', isBillable: true };
    await db.transaction(trx => storePrices(trx, of.id, [{ ...update, status: 'sent', pricing }], Date.now()));
    await eventually(async () => expect((await read()).progress.cost).toEqual([{ amount: '0.1131', currency: 'EUR' }]));
  } finally {
    fixture.gateway.emulator.setWebhookUrl(`${fixture.gateway.url}/network/cloud-api/webhook`);
  }
});

test('a preview counts who gets it and who does not, with reasons, samples, time and cost, and the run does the same', async () => {
  const of = await fixture.sender();
  const [german, american, out, noMarketing, often, blocked] = [
    newPhone(),
    '+14155550123',
    newPhone(),
    newPhone(),
    newPhone(),
    newPhone(),
  ];
  const listed = [german, american, out, noMarketing, often, blocked, german];
  const csv = `phone,code\n${listed.map((phone, index) => `${phone},C${index}`).join('\n')}`;
  const { recipientList: list } = payloadOf(
    await of.mutate('createRecipientList', { name: 'L', csv }, 'recipientList { databaseId }'),
  );
  for (const [phone, category] of [
    [out, 'ALL'],
    [noMarketing, 'MARKETING'],
  ] as const)
    dataOf(await of.mutate('recordConsent', { contactId: await idOf(of, phone), category, state: 'OPTED_OUT' }));
  const template = { name: 'sale', language: 'en', body: ['@{contact_first_name|you}', '@{column.code}'] };
  const sale = { template: { name: 'sale', language: 'en', body: ['a', 'b'] } };
  dataOf(await of.mutate('sendMessage', { to: { phone: often }, content: sale }));
  fixture.gateway.emulator.setFaults({ next: [{ to: blocked, errorCode: 130_403 }] });
  dataOf(await of.mutate('sendMessage', { to: { phone: blocked }, content: { text: { body: 'Hi' } } }));
  await eventually(async () =>
    expect(
      await fixture.gateway.database.query('select code from message_failures where tenant_id = $1', [of.id]),
    ).toEqual([{ code: 130_403 }]),
  );
  const id = await of.campaign({
    template,
    audience: { listId: list.databaseId },
    frequencyCap: { messages: 1, days: 7 },
    messagesPerSecond: 1,
  });
  const shown = await preview(of, id);
  const byReason = (a: { reason: string }, b: { reason: string }) => (a.reason < b.reason ? -1 : 1);
  expect({ ...shown, skips: shown.skips.toSorted(byReason), samples: undefined }).toEqual({
    audienceCount: 7,
    recipientCount: 2,
    skips: [
      { reason: 'BLOCKED', count: 1 },
      { reason: 'DUPLICATE', count: 1 },
      { reason: 'FREQUENCY_CAP', count: 1 },
      { reason: 'OPTED_OUT', count: 2 },
    ],
    waitingCount: 0,
    overPlanCount: 0,
    durationSeconds: 2,
    dailyLimit: null,
    reachedCount: null,
    cost: [
      { amount: '0.1131', currency: 'EUR' },
      { amount: '0.025', currency: 'USD' },
    ],
    samples: undefined,
  });
  const samples = shown.samples.map((one: { contact: { phone: string }; rendered: { body: string } }) => [
    one.contact.phone,
    one.rendered.body,
  ]);
  expect(samples.sort()).toEqual(
    [
      [german, 'Hello you, your code is C0.'],
      [american, 'Hello you, your code is C1.'],
    ].sort(),
  );
  // The rules of the run are another statement: both must agree.
  dataOf(await of.mutate('startCampaign', { id }));
  await eventually(async () => {
    const { campaign } = dataOf(
      await of.ask(
        'query ($id: ID!) { campaign(id: $id) { status progress { total skipped delivered cost { amount currency } } } }',
        { id },
      ),
    );
    expect(campaign).toMatchObject({ status: 'COMPLETED', progress: { total: 6, skipped: 4, delivered: 2 } });
    // What the network's statuses say was charged, by the table: as the preview estimated.
    expect(campaign.progress.cost).toEqual(shown.cost);
  });
});

test('recipients outside the sending hours and beyond the plan are counted', async () => {
  const of = await fixture.sender();
  const { groupId } = await of.people(3);
  const hour = (new Date().getUTCHours() + 6) % 24;
  const time = (at: number): string => `${String(at % 24).padStart(2, '0')}:00`;
  const sendingHours = { start: time(hour), end: time(hour + 1) };
  const id = await of.campaign({ audience: { groupIds: [groupId] }, sendingHours });
  await fixture.gateway.database.query(
    `with p as (insert into plans (name, max_contacts, max_messages, calls_per_minute, features) values ('two', null, 2, 6000, '{templates}') returning id)
     update tenants set plan_id = (select id from p) where tenant_id = $1`,
    [of.id],
  );
  expect(await preview(of, id)).toMatchObject({ recipientCount: 3, waitingCount: 3, overPlanCount: 1, cost: null });
  expect(dataOf(await of.ask('{ previewCampaign(id: "999999") { audienceCount } }')).previewCampaign).toBeNull();
});

test('a person who is known by a user id only is in the country that it names: sending hours and cost', async () => {
  const of = await fixture.sender();
  const userId = `JP.${newPhone().slice(1)}`;
  fixture.gateway.emulator.inbound({ userId, text: 'Hi', phoneNumberId: of.phoneNumberId });
  const find = 'query ($userId: String!) { contactByIdentifier(identifier: { userId: $userId }) { databaseId } }';
  const contactId = await eventually(async () => {
    const { contactByIdentifier: found } = dataOf(await of.ask(find, { userId }));
    expect(found).not.toBeNull();
    return found.databaseId;
  });
  // It is within these hours in UTC, and not in Japan.
  const hour = new Date().getUTCHours();
  const time = (at: number): string => `${String((at + 24) % 24).padStart(2, '0')}:00`;
  const id = await of.campaign({
    template: { name: 'sale', language: 'en', body: ['you', 'SUN'] },
    audience: { contactIds: [contactId] },
    sendingHours: { start: time(hour - 1), end: time(hour + 3) },
  });
  expect(await preview(of, id)).toMatchObject({
    recipientCount: 1,
    waitingCount: 1,
    cost: [{ amount: '0.07', currency: 'EUR' }],
  });
  dataOf(await of.mutate('startCampaign', { id }));
  const recipients = 'query ($id: ID!) { campaign(id: $id) { recipients { nodes { state dueAt } } } }';
  await eventually(async () =>
    expect(dataOf(await of.ask(recipients, { id })).campaign.recipients.nodes).toEqual([
      { state: 'WAITING', dueAt: expect.any(String) },
    ]),
  );
  const [{ dueAt }] = dataOf(await of.ask(recipients, { id })).campaign.recipients.nodes;
  expect(new Date(Date.parse(dueAt) + 9 * 3_600_000).getUTCHours()).toBe((hour + 23) % 24);
});

test('the time is that of the rate, or of the days that the daily limit takes', () => {
  expect(durationOf(1_000, { rate: 80, dailyLimit: null, reached: 0 })).toBe(13);
  expect(durationOf(900, { rate: 80, dailyLimit: 1_000, reached: 0 })).toBe(12);
  expect(durationOf(1_000, { rate: 80, dailyLimit: 1_000, reached: 0 })).toBe(86_400);
  expect(durationOf(2_850, { rate: 80, dailyLimit: 1_000, reached: 950 })).toBe(3 * 86_400);
});

test('a cost of which a part is not known is not shown', () => {
  const table = {
    boundaries: [],
    priceOf: (country: string | null) => (country === 'DE' ? { amount: 10n ** 9n, currency: 'EUR' } : undefined),
  };
  expect(costOfPeople(table, 'marketing', [{ country: 'DE', count: 3 }], 0)).toEqual([
    { amount: '0.30', currency: 'EUR' },
  ]);
  expect(
    costOfPeople(
      table,
      'marketing',
      [
        { country: 'DE', count: 3 },
        { country: 'US', count: 1 },
      ],
      0,
    ),
  ).toBeUndefined();
  expect(costOfPeople(undefined, 'marketing', [], 0)).toBeUndefined();
});

test('shows three samples also where all people have numbers of one kind', async () => {
  const of = await fixture.sender();
  const group = payloadOf(await of.mutate('createContactGroup', { name: 'Neighbours' }, 'contactGroup { databaseId }'));
  const groupIds = [group.contactGroup.databaseId];
  const contacts = [1, 2, 3, 4].map(last => ({ phone: `+4915123456${last}0`, groupIds }));
  payloadOf(await of.mutate('createContacts', { contacts }, 'summary { succeeded }'));
  const id = await of.campaign({ audience: { groupIds } });
  const query = 'query ($id: ID!) { previewCampaign(id: $id) { recipientCount samples { contact { phone } } } }';
  const { recipientCount, samples } = dataOf(await of.ask(query, { id })).previewCampaign;
  expect(recipientCount).toBe(4);
  expect(new Set(samples.map((sample: { contact: { phone: string } }) => sample.contact.phone)).size).toBe(3);
});

test('the cost is that of each country, also of those that share the first digits of their numbers', async () => {
  const of = await fixture.sender();
  const group = payloadOf(await of.mutate('createContactGroup', { name: 'Islands' }, 'contactGroup { databaseId }'));
  const groupIds = [group.contactGroup.databaseId];
  const phones = ['+447797712345', '+447798712345', '+447799712345', '+14155550199', '+14165550199'];
  // One of Mayotte and two of Réunion: the eighth digit tells.
  phones.push('+262639401234', '+262639411234', '+262639421234');
  payloadOf(
    await of.mutate(
      'createContacts',
      { contacts: phones.map(phone => ({ phone, groupIds })) },
      'summary { succeeded }',
    ),
  );
  const template = { name: 'sale', language: 'en', body: ['you', 'SUN'] };
  const id = await of.campaign({ template, audience: { groupIds } });
  const { cost } = await preview(of, id);
  expect(
    cost.toSorted((a: { currency: string }, b: { currency: string }) => (a.currency < b.currency ? -1 : 1)),
  ).toEqual([
    { amount: '0.01', currency: 'CAD' },
    { amount: '0.23', currency: 'EUR' },
    { amount: '0.10', currency: 'GBP' },
    { amount: '0.025', currency: 'USD' },
  ]);
});
