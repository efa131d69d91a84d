import { afterAll, beforeAll, expect, test } from 'vitest';
import { encodeGlobalId } from '../../../../src/core/global-ids.ts';
import { eraseContacts } from '../../../../src/features/contacts/erasure/erase.ts';
import { resumeErasures } from '../../../../src/features/contacts/erasure/finish.ts';
import { setRead } from '../../../../src/features/messages/inbound/inbound.sql.ts';
import { COMMAND_LINE } from '../../../../src/features/tenancy/audit/author.ts';
import type { Resources } from '../../../../src/schema/context.ts';
import { codeOf, dataOf } from '../../../support/answers.ts';
import { eventually } from '../../../support/gateway.ts';
import { holdLock } from '../../../support/lock.ts';
import { findPersonalData } from '../../../support/personal-data.ts';
import { type Person, type PrivacyFixture, startPrivacyFixture, WILHELMINE } from './person.ts';

let fixture: PrivacyFixture;
beforeAll(async () => {
  fixture = await startPrivacyFixture();
});
afterAll(() => fixture.stop());

let last = 80_000;
function somebody(): Person {
  last += 1;
  const digits = `49151880${last}`;
  return { ...WILHELMINE, phone: `+${digits}`, digits, word: `Wettlauf${last}x`, firstName: `Race${last}x` };
}
const markers = ({ digits, word, firstName }: Person) => ({ digits, word, firstName });
const create = async ({ phone, firstName }: Person): Promise<number> => {
  const {
    createContact: { contact: createContact },
  } = await fixture.ask(
    'mutation ($input: CreateContactInput!) { createContact(input: $input) { contact { databaseId } } }',
    { input: { phone, firstName } },
  );
  return Number(createContact.databaseId);
};
const request = (contactIds: readonly number[]) => ({
  contactIds,
  reason: 'subject_request' as const,
  author: COMMAND_LINE,
});
const query = (text: string) =>
  fixture.gateway.database.query<Record<string, string>>(text, [fixture.gateway.tenant.id]);
/** With the id of the contact: a send by number after the erasure would be a new contact's. */
const send = (id: number, text: string) =>
  fixture.gateway.graphql(
    'mutation ($to: ID!, $text: String!) { sendMessage(input: { to: { contactId: $to }, content: { text: { body: $text } } }) { message { databaseId } userErrors { code message path } } }',
    { to: encodeGlobalId('Contact', fixture.gateway.tenant.id, id), text },
  );

test('people erased while their messages are sent, delivered and answered are erased completely, with nothing left in a queue', async () => {
  const people = Array.from({ length: 6 }, somebody);
  const ids = await Promise.all(people.map(create));
  const { resources } = fixture.gateway.gateway;
  const { emulator, tenant } = fixture.gateway;
  let accepted = 0;
  await Promise.all(
    people.map(async ({ phone, word }, index) => {
      const id = ids[index] ?? 0;
      const sends = Array.from({ length: 12 }, (_, nth) => send(id, `${word} ${nth}`));
      emulator.inbound({ from: phone, text: `price ${word}`, phoneNumberId: tenant.phoneNumberId });
      await sends[index];
      const erased = eraseContacts(resources, tenant.id, request([id]));
      const answers = await Promise.all(sends);
      accepted += answers.filter(answer => codeOf(answer) === undefined).length;
      await erased;
    }),
  );
  expect(accepted).toBeGreaterThan(0);
  await fixture.settled();
  for (const person of people) {
    // Who wrote after the erasure is somebody new; a second erasure ends that too.
    const found = await query(`select id from contacts where tenant_id = $1 and phone = '${person.phone}'`);
    if (found[0]) await eraseContacts(resources, tenant.id, request([Number(found[0]['id'])]));
  }
  await fixture.settled();
  await eventually(async () => {
    for (const person of people) expect(await findPersonalData(fixture.gateway.database, markers(person))).toEqual([]);
  });
  expect(await query('select 1 from outbox where tenant_id = $1')).toEqual([]);
});

test('the response and statuses of a message in flight during an erasure restore nothing', async () => {
  const person = somebody();
  const id = await create(person);
  const { resources } = fixture.gateway.gateway;
  // Long enough for a busy machine to begin the erasure, below the timeout of a request.
  fixture.gateway.emulator.setFaults({ window: 'open', latencyMs: 12_000 });
  dataOf(await send(id, person.word));
  await eventually(async () => {
    const [row] = await query('select count(*) as n from outbox where tenant_id = $1 and dispatched_at is not null');
    expect(row?.['n']).toBe('1');
  });
  const { receipts } = await eraseContacts(resources, fixture.gateway.tenant.id, request([id]));
  expect(receipts[0]?.erased).toMatchObject({ message: 1, message_in_flight: 1, message_cancelled: 0 });
  await eventually(() => expect(fixture.gateway.emulator.sent({ to: person.phone }).messages).toHaveLength(1));
  fixture.gateway.emulator.setFaults({ window: 'open', latencyMs: 0 });
  await fixture.settled();
  await eventually(async () => expect(await findPersonalData(fixture.gateway.database, markers(person))).toEqual([]));
});

test('concurrent erasures of overlapping contacts write one receipt per contact and do not deadlock', async () => {
  const people = [somebody(), somebody()];
  const ids = await Promise.all(people.map(create));
  const { resources } = fixture.gateway.gateway;
  const erasures = await Promise.all([
    eraseContacts(resources, fixture.gateway.tenant.id, request(ids)),
    eraseContacts(resources, fixture.gateway.tenant.id, request([...ids].reverse())),
    eraseContacts(resources, fixture.gateway.tenant.id, request(ids.slice(0, 1))),
  ]);
  expect(erasures.flatMap(({ receipts }) => receipts.map(({ contact_id }) => contact_id)).sort()).toEqual(
    [...ids].sort(),
  );
});

/** Waits until as many transactions as told, or more, wait for locks. */
const untilWaiting = (count: number) =>
  eventually(async () => {
    const waiting = await fixture.gateway.database.query(
      "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
    );
    expect(waiting.length).toBeGreaterThanOrEqual(count);
  });

/** A person with a message that was read. */
async function messaged(): Promise<{ readonly id: number; readonly messageId: string }> {
  const person = somebody();
  const id = await create(person);
  const messageId: string = dataOf(await send(id, person.word)).sendMessage.message.databaseId;
  await fixture.settled();
  return { id, messageId };
}

test('a message that changes while it is deleted leaves nothing', async () => {
  const { id, messageId } = await messaged();
  const { resources } = fixture.gateway.gateway;
  const { tenant } = fixture.gateway;
  let erasing: ReturnType<typeof eraseContacts> | undefined;
  await resources.db.transaction(async trx => {
    await setRead(trx, tenant.id, messageId, new Date(Date.now() + 1_000).toISOString());
    erasing = eraseContacts(resources, tenant.id, request([id]));
    await Promise.race([erasing, untilWaiting(1)]);
  });
  await erasing;
  expect(
    await query(`select status from message_updates where tenant_id = $1 and message_id = '${messageId}'`),
  ).toEqual([]);
});

test('the deletion of a message and its mark as read cause no deadlock', async () => {
  const { id, messageId } = await messaged();
  const { database, tenant } = fixture.gateway;
  const { resources } = fixture.gateway.gateway;
  const lock = await holdLock(
    database,
    'select from message_updates where tenant_id = $1 and message_id = $2 for update',
    [tenant.id, messageId],
  );
  const erasing = eraseContacts(resources, tenant.id, request([id]));
  await untilWaiting(1);
  const reading = setRead(resources.db.write, tenant.id, messageId, new Date().toISOString());
  await untilWaiting(2);
  await lock.release();
  await Promise.all([erasing, reading]);
  expect(
    await database.query('select deadlocks::int as deadlocks from pg_stat_database where datname = current_database()'),
  ).toEqual([{ deadlocks: 0 }]);
});

/** Resources of a process that is killed after its first transaction. */
function dyingAfterTheFirst(resources: Resources): Resources {
  let transactions = 0;
  const transaction = (work: Parameters<Resources['db']['transaction']>[0]) => {
    transactions += 1;
    return transactions === 1 ? resources.db.transaction(work) : Promise.reject(new Error('killed'));
  };
  return { ...resources, db: { ...resources.db, transaction } } as Resources;
}

test('an erasure interrupted after the first step is completed by another process', async () => {
  const person = somebody();
  const id = await create(person);
  dataOf(await send(id, person.word));
  await fixture.settled();
  const { resources } = fixture.gateway.gateway;
  const dying = dyingAfterTheFirst(resources);
  await expect(eraseContacts(dying, fixture.gateway.tenant.id, request([id]))).rejects.toThrow('killed');
  expect(await findPersonalData(fixture.gateway.database, markers(person))).not.toEqual([]);
  await resumeErasures({ ...resources, clock: { now: () => Date.now() + 10 * 60_000 } });
  await fixture.settled();
  // A status that arrives late is removed when it is processed.
  await eventually(async () => expect(await findPersonalData(fixture.gateway.database, markers(person))).toEqual([]));
  const [receipt] = await query(
    `select completed_at, pending from erasure_receipts where tenant_id = $1 and contact_id = ${id}`,
  );
  expect(receipt).toEqual({ completed_at: expect.any(Date), pending: null });
});

test('an interrupted erasure that cannot be finished holds up no other', async () => {
  const id = await create(somebody());
  const { resources } = fixture.gateway.gateway;
  // The oldest one, of a subject that cannot be decrypted.
  await query(
    `insert into erasure_receipts (tenant_id, id, contact_id, subject_digest, reason, author, requested_at, erased, retained, pending)
     values ($1, gen_random_uuid(), 0, '', 'other', '{}', now() - interval '1 day', '{}', '{}', '\\x00')`,
  );
  const erased = eraseContacts(dyingAfterTheFirst(resources), fixture.gateway.tenant.id, request([id]));
  await expect(erased).rejects.toThrow('killed');
  await resumeErasures({ ...resources, clock: { now: () => Date.now() + 10 * 60_000 } });
  expect(
    await query(
      'select contact_id, completed_at from erasure_receipts where tenant_id = $1 order by requested_at limit 1',
    ),
  ).toEqual([{ contact_id: '0', completed_at: null }]);
  expect(await query(`select completed_at from erasure_receipts where tenant_id = $1 and contact_id = ${id}`)).toEqual([
    { completed_at: expect.any(Date) },
  ]);
  await query('delete from erasure_receipts where tenant_id = $1 and contact_id = 0');
});
