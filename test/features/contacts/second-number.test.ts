import { afterAll, beforeAll, expect, test } from 'vitest';
import { mergeContacts } from '../../../src/features/contacts/merging/merge.ts';
import { COMMAND_LINE } from '../../../src/features/tenancy/audit/author.ts';
import { type Rest, restOf } from '../../rest/client.ts';
import { eventually, startGateway, type TestGateway } from '../../support/gateway.ts';
import { newPhone } from '../../support/seed.ts';

/** Numbers that are current identities of a contact but not its phone. */

let gateway: TestGateway;
let rest: Rest;
beforeAll(async () => {
  gateway = await startGateway({ emulator: { faults: { window: 'open', userIds: false } } });
  rest = restOf(gateway, gateway.tenant);
});
afterAll(() => gateway.stop());

const write = async (from: string, text: string): Promise<void> => {
  gateway.emulator.inbound({ from, text, phoneNumberId: gateway.tenant.phoneNumberId });
  await gateway.emulator.settled();
  await eventually(async () => expect(await gateway.database.query('select 1 from waiting_webhooks')).toEqual([]));
};
const create = async (phone: string): Promise<number> => {
  const { status, body } = await rest('POST', '/contacts', { firstname: 'Ada', phone });
  expect(status).toBe(201);
  return body.data.id;
};
const merge = (survivorId: number, formerId: number) =>
  gateway.gateway.resources.db.transaction(trx =>
    mergeContacts(trx, gateway.tenant.id, {
      survivorId,
      ids: [survivorId, formerId],
      reason: 'manual',
      author: COMMAND_LINE,
      nowMs: Date.now(),
    }),
  );
const count = async () => (await gateway.database.query('select 1 from contacts')).length;
const send = (phone: string) => rest('POST', '/messages/text', { phone, message: 'Hi' });

/** No API makes a contact of the number, and nothing is sent to it. */
async function expectTaken(number: string): Promise<void> {
  const bystander = await create(newPhone());
  const before = await count();
  const taken = { phone: ['Another contact has this phone number.'] };
  const created = await rest('POST', '/contacts', { firstname: 'Eve', phone: number });
  expect([created.status, created.body.error?.details]).toEqual([422, taken]);
  const changed = await rest('PATCH', `/contacts/${bystander}`, { phone: number });
  expect([changed.status, changed.body.error?.details]).toEqual([422, taken]);
  const { data } = await gateway.graphql(
    'mutation ($phone: String!) { createContacts(input: { contacts: [{ phone: $phone }] }) { results { outcome } } }',
    { phone: number },
  );
  expect(data.createContacts).toEqual({ results: [{ outcome: 'FAILED' }] });
  const sent = await send(number);
  expect([sent.status, sent.body.error?.code]).toEqual([403, 'CONTACT_OPTED_OUT']);
  expect(await count()).toBe(before);
  expect(gateway.emulator.sent({ to: number }).matched).toBe(0);
}

test('the second number of a contact counts as in use, and its opt-out applies to it', async () => {
  const [first, second] = [newPhone(), newPhone()];
  const [survivor, former] = [await create(first), await create(second)];
  await merge(survivor, former);
  await write(first, 'STOP');
  await expectTaken(second);
  // Another phone of the survivor does not set the second number free.
  expect((await rest('PATCH', `/contacts/${survivor}`, { phone: newPhone() })).status).toBe(200);
  await expectTaken(second);
  // The person's own second number may become the phone.
  expect((await rest('PATCH', `/contacts/${survivor}`, { phone: second })).status).toBe(200);
});

test('a number reported by the network stays with the contact when its phone is changed', async () => {
  const [shown, changed] = [newPhone(), newPhone()];
  await write(shown, 'STOP');
  const id = (await rest('GET', `/contacts?search=${shown}`)).body.data[0].id;
  expect((await rest('PATCH', `/contacts/${id}`, { phone: changed })).status).toBe(200);
  await expectTaken(shown);
  const before = await count();
  await write(shown, 'Hello');
  expect(await count()).toBe(before);
});

test('a number that concurrently becomes an identity of another contact creates no contact: sends find the other contact', async () => {
  const number = newPhone();
  const opted = (await rest('POST', '/contacts', { firstname: 'Ada', phone: newPhone(), is_opted_out: true })).body.data
    .id;
  const before = await count();
  const sent = await gateway.gateway.resources.db.transaction(async trx => {
    await trx.selectFrom('tenant_usage').selectAll().where('tenant_id', '=', gateway.tenant.id).forUpdate().execute();
    const answer = send(number);
    await eventually(async () =>
      expect(
        await gateway.database.query(
          "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
        ),
      ).not.toEqual([]),
    );
    await trx
      .insertInto('contact_identities')
      .values({
        tenant_id: gateway.tenant.id,
        contact_id: opted,
        kind: 'wa_id',
        value: number.slice(1),
        started_at: new Date().toISOString(),
      })
      .execute();
    return { answer };
  });
  const answer = await sent.answer;
  expect([answer.status, answer.body.error?.code]).toEqual([403, 'CONTACT_OPTED_OUT']);
  expect(await count()).toBe(before);
});
