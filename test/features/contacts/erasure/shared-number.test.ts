import { afterAll, beforeAll, expect, test } from 'vitest';
import { exportContact } from '../../../../src/features/contacts/erasure/export.ts';
import { COMMAND_LINE } from '../../../../src/features/tenancy/audit/author.ts';
import { postRaw } from '../../../support/network-webhook.ts';
import { findPersonalData } from '../../../support/personal-data.ts';
import { CREATE as CREATE_INTEGRATION, postWoo } from '../../integrations/fixture.ts';
import { wooOrder } from '../../integrations/fixtures.ts';
import { type PrivacyFixture, startPrivacyFixture } from './person.ts';

let fixture: PrivacyFixture;
beforeAll(async () => {
  fixture = await startPrivacyFixture();
});
afterAll(() => fixture.stop());

const NOW = Math.floor(Date.now() / 1_000);
const wamid = (digits: string, salt: string): string =>
  `wamid.${Buffer.from(`\x1c\x18\x0d${digits}\x15\x02\x00${salt}`).toString('base64')}`;

interface Writer {
  readonly digits: string;
  readonly userId: string;
  readonly name: string;
  readonly word: string;
}
const person = (digits: string, salt: string): Writer => ({
  digits,
  userId: `DE.Shared${salt}`,
  name: `Vorname${salt}x`,
  word: `Geheimnis${salt}x`,
});
const markers = ({ userId, name, word }: Writer) => ({ userId, name, word });
const tables = async (writer: Writer) => [
  ...new Set((await findPersonalData(fixture.gateway.database, markers(writer))).map(({ table }) => table)),
];

/** What a person writes, with the user id or, as older webhooks do, by number alone. */
const message = ({ digits, word }: Writer, ago: number, salt: string, more: object = {}) => ({
  from: digits,
  id: wamid(digits, `${word} ${salt}`),
  timestamp: String(NOW - ago),
  type: 'text',
  text: { body: `${word} ${salt}` },
  ...more,
});
const profile = ({ digits, name }: Writer, more: object = {}) => ({ profile: { name }, wa_id: digits, ...more });

async function write(writer: Writer, ago: number, salt: string): Promise<void> {
  const { userId: user_id } = writer;
  await fixture.webhook({
    contacts: [profile(writer, { user_id })],
    messages: [message(writer, ago, salt, { from_user_id: user_id })],
  });
  await fixture.settled();
}

/** By number alone: applied, of a kind that is not known, and to a number that nobody has connected. */
async function writeByNumber(writer: Writer, ago: number): Promise<void> {
  const contacts = [profile(writer)];
  await fixture.webhook({ contacts, messages: [message(writer, ago, 'bare')] });
  await fixture.webhook({ strange: [message(writer, ago, 'strange')] }, 'something_new');
  await stray({ contacts, messages: [message(writer, ago, 'strayed')] });
  await fixture.settled();
}

/** A webhook of a number that nobody has connected. */
function stray(value: object, field = 'messages'): Promise<void> {
  const metadata = { display_phone_number: '15550780000', phone_number_id: '999000111' };
  const change = { field, value: { messaging_product: 'whatsapp', metadata, ...value } };
  return postRaw(fixture.gateway, {
    object: 'whatsapp_business_account',
    entry: [{ id: '888000111', changes: [change] }],
  });
}

const erase = async (writer: Writer): Promise<number> => {
  const [row] = await fixture.gateway.database.query<{ contact_id: string }>(
    `select contact_id from contact_identities where tenant_id = $1 and value = $2 and kind = 'user_id'`,
    [fixture.gateway.tenant.id, writer.userId],
  );
  const id = Number(row?.contact_id);
  await fixture.ask('mutation ($id: ID!) { deleteContact(input: { id: $id }) { deletedId } }', { id: String(id) });
  await fixture.settled();
  return id;
};
const bodies = async (): Promise<string> => {
  const rows = await fixture.gateway.database.query<{ body: string }>(
    `select convert_from(body, 'UTF8') as body from inbound_webhooks where tenant_id = $1
     union all select raw::text from network_changes where tenant_id = $1
     union all select convert_from(raw, 'UTF8') from unrouted_changes where $1::bigint is not null`,
    [fixture.gateway.tenant.id],
  );
  return rows.map(({ body }) => body).join('\n');
};

test('a number that now belongs to another person: messages of the erased former owner are removed, those of the current owner stay', async () => {
  const digits = '4915188800001';
  const [earlier, present] = [person(digits, 'one'), person(digits, 'two')];
  await write(earlier, 9_000, 'first');
  await writeByNumber(earlier, 8_000);
  await write(present, 5_000, 'first');
  await writeByNumber(present, 4_000);
  // Both in one thread of a history.
  const thread = { id: digits, messages: [message(earlier, 8_500, 'past'), message(present, 4_500, 'past')] };
  const metadata = { phase: 0, chunk_order: 1, progress: 50 };
  await stray({ history: [{ metadata, threads: [thread] }] }, 'history');
  await fixture.settled();
  expect(await tables(earlier)).toEqual(
    expect.arrayContaining(['inbound_webhooks', 'network_changes', 'unrouted_changes']),
  );

  await erase(earlier);

  expect(await findPersonalData(fixture.gateway.database, markers(earlier))).toEqual([]);
  const kept = await bodies();
  for (const salt of ['first', 'bare', 'strange', 'strayed', 'past'])
    expect(kept, salt).toContain(`${present.word} ${salt}`);
  expect(await tables(present)).toEqual(expect.arrayContaining(['contacts', 'message_wamids', 'inbound_webhooks']));
});

test('a late webhook from before the number changed hands is applied to neither owner', async () => {
  const digits = '4915188800002';
  const [earlier, present] = [person(digits, 'three'), person(digits, 'four')];
  await write(earlier, 9_000, 'first');
  await write(present, 5_000, 'first');
  await erase(earlier);
  await fixture.webhook({ contacts: [profile(earlier)], messages: [message(earlier, 8_000, 'late')] });
  await fixture.webhook({ contacts: [profile(present)], messages: [message(present, 4_000, 'new')] });
  await fixture.settled();
  expect(await findPersonalData(fixture.gateway.database, markers(earlier))).toEqual([]);
  const messages = await fixture.gateway.database.query<{ body: string }>(
    `select m.body from messages m join contact_identities i on i.tenant_id = m.tenant_id and i.contact_id = m.contact_id
     where m.tenant_id = $1 and i.kind = 'user_id' and i.value = $2 order by m.id`,
    [fixture.gateway.tenant.id, present.userId],
  );
  expect(messages.map(({ body }) => body).sort()).toEqual([`${present.word} first`, `${present.word} new`]);
});

test('a number that formerly belonged to another person: that person’s messages stay', async () => {
  const digits = '4915188800003';
  const [earlier, present] = [person(digits, 'five'), person(digits, 'six')];
  await write(earlier, 9_000, 'first');
  await writeByNumber(earlier, 8_000);
  await write(present, 5_000, 'first');
  await writeByNumber(present, 4_000);

  await erase(present);

  expect(await findPersonalData(fixture.gateway.database, markers(present))).toEqual([]);
  const kept = await bodies();
  for (const salt of ['first', 'bare', 'strange', 'strayed']) expect(kept, salt).toContain(`${earlier.word} ${salt}`);
});

test('the exported data of either owner of a number is their own', async () => {
  const digits = '4915188800006';
  const [earlier, present] = [person(digits, 'eleven'), person(digits, 'twelve')];
  const { database, tenant, url } = fixture.gateway;
  const { createIntegration } = await fixture.ask(CREATE_INTEGRATION, {
    input: { kind: 'WOOCOMMERCE', name: 'Shop' },
  });
  const { secret, integration } = createIntegration;
  /** An order by number alone, and a one-time password of the contact, so many seconds ago. */
  const buy = async ({ userId, word }: Writer, order: number, ago: number): Promise<void> => {
    const billing = { email: '', phone: `+${digits}`, address_1: word };
    await postWoo(`${url}${integration.path}`, secret, wooOrder({ id: order, billing }));
    await fixture.settled();
    await database.query(
      'update integration_deliveries set received_at = to_timestamp($3) where tenant_id = $1 and order_id = $2',
      [tenant.id, String(order), NOW - ago],
    );
    await database.query(
      `insert into otps (tenant_id, id, phone, phone_key, purpose, template_name, language, mac, state, expiry_minutes, expires_at, created_at, hour,
         contact_id, message_id)
       select $1, gen_random_uuid(), '+' || $2, $2, $3, 'code', 'en', '', 'expired', 5, t.at, t.at, t.at, i.contact_id, gen_random_uuid()
       from contact_identities i, (select to_timestamp($5) as at) t where i.tenant_id = $1 and i.kind = 'user_id' and i.value = $4`,
      [tenant.id, digits, word, userId, NOW - ago],
    );
  };
  await write(earlier, 9_000, 'first');
  await buy(earlier, 31, 8_000);
  await write(present, 5_000, 'first');
  await buy(present, 32, 4_000);

  for (const [owner, other] of [
    [earlier, present],
    [present, earlier],
  ] as const) {
    const [row] = await database.query<{ contact_id: string }>(
      "select contact_id from contact_identities where tenant_id = $1 and kind = 'user_id' and value = $2",
      [tenant.id, owner.userId],
    );
    let text = '';
    await exportContact(
      fixture.gateway.gateway.resources,
      tenant.id,
      Number(row?.contact_id),
      COMMAND_LINE,
      async piece => {
        text += piece;
      },
    );
    const file = JSON.parse(text) as Record<string, Record<string, unknown>[]>;
    expect(file['one_time_passwords']?.map(({ purpose }) => purpose)).toEqual([owner.word]);
    expect(file['orders']?.map(({ order_id: id }) => id)).toEqual([owner === earlier ? '31' : '32']);
    expect(text).not.toContain(other.word);
  }
});

test('an opt-out of the former owner does not pass to the new owner of the number', async () => {
  const digits = '4915188800004';
  const [earlier, present] = [person(digits, 'seven'), person(digits, 'eight')];
  await write(earlier, 9_000, 'first');
  await fixture.webhook({
    contacts: [profile(earlier, { user_id: earlier.userId })],
    messages: [message(earlier, 8_000, 'stop', { from_user_id: earlier.userId, text: { body: 'STOP' } })],
  });
  await fixture.settled();
  await write(present, 5_000, 'first');
  await erase(earlier);
  await write(present, 100, 'again');
  const { contacts } = await fixture.ask('query ($s: String) { contacts(search: $s) { nodes { isOptedOut } } }', {
    s: `+${digits}`,
  });
  expect(contacts.nodes).toEqual([{ isOptedOut: false }]);
});

test('idempotency keys that contain only the number are erased with the person who had it at that time', async () => {
  const digits = '4915188800005';
  const [earlier, present] = [person(digits, 'nine'), person(digits, 'ten')];
  await write(earlier, 9_000, 'first');
  await write(present, 5_000, 'first');
  const { database, tenant } = fixture.gateway;
  /** A verification so many seconds ago. @returns its key in the database */
  const verify = async (ago: number): Promise<string> => {
    const before = await keys();
    await fixture.ask(
      'mutation ($input: VerifyOtpInput!) { verifyOtp(input: $input) { verified userErrors { code message path } } }',
      {
        input: { phone: `+${digits}`, code: '314159', idempotencyKey: `verify ${ago}` },
      },
    );
    const [key = ''] = (await keys()).filter(one => !before.includes(one));
    await database.query(
      'update idempotency_keys set created_at = to_timestamp($3) where tenant_id = $1 and key = $2',
      [tenant.id, key, NOW - ago],
    );
    return key;
  };
  const keys = async (): Promise<string[]> =>
    (
      await database.query<{ key: string }>(
        `select key from idempotency_keys where tenant_id = $1 and result::text like '%' || $2 || '%'`,
        [tenant.id, digits],
      )
    ).map(({ key }) => key);
  const [ofEarlier, ofPresent] = [await verify(8_000), await verify(4_000)];
  expect((await keys()).sort()).toEqual([ofEarlier, ofPresent].sort());
  await erase(earlier);
  expect(await keys()).toEqual([ofPresent]);
  await erase(present);
  expect(await findPersonalData(database, { number: digits })).toEqual([]);
});
