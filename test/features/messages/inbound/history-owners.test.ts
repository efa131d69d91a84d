import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startGateway, type TestGateway } from '../../../support/gateway.ts';
import { type Harness, harnessFor } from './harness.ts';

/** Assignment of the history of a number that several people or tenants have had. */

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.stop());

const NUMBER = '14155550177';
const BUSINESS = '15550780000';
const now = Math.floor(Date.now() / 1_000);
const [EARLIER, PRESENT] = ['US.Earlier1', 'US.Present2'];

/** What a person writes, with the user id, so many seconds ago. */
const write = (harness: Harness, userId: string, ago: number) =>
  harness.tell('messages', {
    contacts: [{ profile: { name: userId }, wa_id: NUMBER, user_id: userId }],
    messages: [
      {
        from: NUMBER,
        from_user_id: userId,
        id: `wamid.${userId}.${ago}`,
        timestamp: String(now - ago),
        type: 'text',
        text: { body: `Own of ${userId}` },
      },
    ],
  });
/** Messages of a history, a thread's or without one. */
const inbound = (ago: number, more: object = {}) => ({
  from: NUMBER,
  id: `wamid.in.${ago}`,
  timestamp: String(now - ago),
  type: 'text',
  text: { body: `In ${ago}` },
  ...more,
});
const outbound = (ago: number, more: object = {}) => ({
  ...inbound(ago),
  from: BUSINESS,
  to: NUMBER,
  id: `wamid.out.${ago}`,
  text: { body: `Out ${ago}` },
  ...more,
});
const history = (harness: Harness, messages: readonly object[], context: object = { wa_id: NUMBER }) =>
  harness.tell('history', {
    history: [{ metadata: { phase: 0, chunk_order: 1, progress: 50 }, threads: [{ id: NUMBER, context, messages }] }],
  });

/** Texts of the past by the user id of the contact that they are stored under; the number for a contact without. */
async function owners(harness: Harness): Promise<Record<string, string[]>> {
  const rows = await harness.query<{ owner: string; body: string }>(
    `select coalesce((select i.value from contact_identities i
        where i.tenant_id = m.tenant_id and i.contact_id = m.contact_id and i.kind = 'user_id' order by i.id limit 1), c.phone) as owner, m.body
     from messages m join contacts c on c.tenant_id = m.tenant_id and c.id = m.contact_id
     join conversations v on v.tenant_id = m.tenant_id and v.id = m.conversation_id and v.contact_id = m.contact_id
     where m.tenant_id = $1 and m.body not like 'Own of %' order by m.body`,
  );
  const byOwner: Record<string, string[]> = {};
  for (const { owner, body } of rows) byOwner[owner] = [...(byOwner[owner] ?? []), body];
  return byOwner;
}

const PAST = [inbound(8_000), outbound(7_900), inbound(4_000), outbound(3_900)];
const DIVIDED = { [EARLIER]: ['In 8000', 'Out 7900'], [PRESENT]: ['In 4000', 'Out 3900'] };

describe('the history of a number that changed hands', () => {
  const changedHands = async (): Promise<Harness> => {
    const harness = await harnessFor(gateway);
    await write(harness, EARLIER, 9_000);
    await write(harness, PRESENT, 5_000);
    return harness;
  };

  test('is assigned per message to the person who had the number at the time, within one thread', async () => {
    const harness = await changedHands();
    await history(harness, PAST);
    expect(await owners(harness)).toEqual(DIVIDED);
  });

  test('is assigned regardless of the order of messages in a thread', async () => {
    const harness = await changedHands();
    await history(harness, PAST.toReversed());
    expect(await owners(harness)).toEqual(DIVIDED);
  });

  test('is assigned per message even if the thread names the current person', async () => {
    const harness = await changedHands();
    await history(harness, PAST, { wa_id: NUMBER, user_id: PRESENT });
    expect(await owners(harness)).toEqual(DIVIDED);
  });

  test('is assigned to the person named by the message, regardless of the thread', async () => {
    const harness = await changedHands();
    await history(
      harness,
      [
        inbound(8_000, { from_user_id: EARLIER }),
        outbound(7_900, { to_user_id: EARLIER }),
        inbound(4_000, { from_user_id: PRESENT }),
        outbound(3_900, { to_user_id: PRESENT }),
      ],
      { wa_id: NUMBER, user_id: PRESENT },
    );
    expect(await owners(harness)).toEqual(DIVIDED);
  });

  test('from before any known holder is assigned to the first holder', async () => {
    const harness = await changedHands();
    await history(harness, [inbound(20_000)]);
    expect(await owners(harness)).toEqual({ [EARLIER]: ['In 20000'] });
  });

  test('changes neither numbers nor identities of contacts', async () => {
    const harness = await changedHands();
    const people = () =>
      harness.query(
        `select c.phone, array(select kind || ' ' || value || ' ' || coalesce(ended_at::text, '') from contact_identities i
           where i.tenant_id = c.tenant_id and i.contact_id = c.id order by 1) as identities
         from contacts c where c.tenant_id = $1 order by c.id`,
      );
    const before = await people();
    await history(harness, PAST, { wa_id: NUMBER, user_id: PRESENT });
    expect(await people()).toEqual(before);
  });
});

test('a history is stored only for the tenant of its channel, although another tenant has the same contacts', async () => {
  const [one, other] = [await harnessFor(gateway), await harnessFor(gateway)];
  await write(one, EARLIER, 9_000);
  await write(other, PRESENT, 5_000);
  await history(one, PAST);
  expect(await owners(one)).toEqual({ [EARLIER]: ['In 4000', 'In 8000', 'Out 3900', 'Out 7900'] });
  expect(await owners(other)).toEqual({});
});
