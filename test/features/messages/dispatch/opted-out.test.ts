import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Gateway } from '../../../../src/app/serve.ts';
import { recordConsent } from '../../../../src/features/contacts/consent/record.ts';
import { codeOf, dataOf, payloadOf } from '../../../support/answers.ts';
import { eventually, startGateway, type TestGateway } from '../../../support/gateway.ts';
import { startWorker } from '../../../support/second-gateway.ts';

/** Queued messages are not sent after an opt-out from their category. */

let gateway: TestGateway;
let worker: Gateway | undefined;
const body = { type: 'BODY', text: 'Hi' };
beforeAll(async () => {
  gateway = await startGateway({
    role: 'gateway',
    emulator: { faults: { window: 'open', pairLimit: false } },
    templates: [
      { name: 'sale', language: 'en', category: 'MARKETING', components: [body] },
      { name: 'offer', language: 'en', category: 'MARKETING', components: [body] },
      { name: 'order', language: 'en', category: 'UTILITY', components: [body] },
    ],
  });
  dataOf(await gateway.mutate('syncTemplates', {}));
});
afterAll(async () => {
  await worker?.stop();
  await gateway.stop();
});

const TEMPLATE = `mutation ($to: String!, $name: String!) {
  sent: sendMessage(input: { to: { phone: $to }, content: { template: { name: $name, language: "en" } } }) { message { databaseId contact { databaseId } } userErrors { code message path } } }`;
const TEXT =
  'mutation ($to: String!) { sent: sendMessage(input: { to: { phone: $to }, content: { text: { body: "Hi" } } }) { message { databaseId contact { databaseId } } userErrors { code message path } } }';

interface Accepted {
  readonly id: string;
  readonly contactId: number;
}

async function accept(to: string, name?: string): Promise<Accepted> {
  const { sent } = dataOf(await gateway.graphql(name === undefined ? TEXT : TEMPLATE, { to, name }));
  return { id: sent.message.databaseId, contactId: Number(sent.message.contact.databaseId) };
}

const optOut = (contactId: number, category: 'all' | 'marketing') =>
  gateway.gateway.resources.db.transaction(trx =>
    recordConsent(trx, gateway.tenant.id, [
      { contactId, category, state: 'opted_out', source: 'network', occurredAt: new Date().toISOString() },
    ]),
  );

test('queued messages fail when the contact opts out of their category or of all; others are sent', async () => {
  const [some, all, none] = ['+4915155610001', '+4915155610002', '+4915155610003'];
  const unwanted = [await accept(some ?? '', 'sale'), await accept(all ?? '', 'order'), await accept(all ?? '')];
  const wanted = [await accept(some ?? '', 'order'), await accept(some ?? ''), await accept(none ?? '', 'sale')];
  await optOut(unwanted[0]?.contactId ?? 0, 'marketing');
  await optOut(unwanted[1]?.contactId ?? 0, 'all');
  worker = await startWorker(gateway);
  const statusOf = async ({ id }: Accepted) => {
    const [row] = await gateway.database.query<{ status: string; error: { title: string; details: string } | null }>(
      'select status, error from message_states where message_id = $1',
      [id],
    );
    return row;
  };
  await eventually(async () => expect(await gateway.database.query('select from outbox')).toEqual([]));
  for (const message of wanted) expect((await statusOf(message))?.error).toBeNull();
  expect(await Promise.all(unwanted.map(statusOf))).toMatchObject([
    { status: 'failed', error: { title: 'Contact opted out', details: expect.stringContaining('marketing') } },
    { status: 'failed', error: { title: 'Contact opted out' } },
    { status: 'failed', error: { title: 'Contact opted out' } },
  ]);
  const { byCallbackData } = gateway.emulator.sent({ limit: 0 });
  expect(unwanted.map(({ id }) => byCallbackData[id] ?? 0)).toEqual([0, 0, 0]);
  expect(wanted.map(({ id }) => byCallbackData[id] ?? 0)).toEqual([1, 1, 1]);
  const failed = await gateway.database.query<{ id: string }>(
    "select payload->'message'->>'id' as id from events where type = 'message.failed'",
  );
  expect(failed.map(({ id }) => id).sort()).toEqual(unwanted.map(({ id }) => id).sort());
});

test('waitForAcceptance returns CONTACT_OPTED_OUT for a message stopped by an opt-out', async () => {
  if (!worker) worker = await startWorker(gateway);
  const to = '+4915155610005';
  // The network asks to wait, each time, so that the message is still there when its contact opts out.
  gateway.emulator.setFaults({ next: [{ errorCode: 131_056, to, count: 1_000 }] });
  const document = `mutation ($to: String!, $wait: Boolean) {
    sent: sendMessage(input: { to: { phone: $to }, content: { text: { body: "Hi" } }, idempotencyKey: "stopped", waitForAcceptance: $wait }) {
      message { id databaseId contact { databaseId } } userErrors { code message path ... on ConsentError { messageId entry { category state } } } } }`;
  const { message: sent } = payloadOf(await gateway.graphql(document, { to, wait: false }));
  await optOut(Number(sent.contact.databaseId), 'all');
  await eventually(async () =>
    expect(
      await gateway.database.query('select status from message_states where message_id = $1', [sent.databaseId]),
    ).toEqual([{ status: 'failed' }]),
  );
  const { data } = await gateway.graphql(document, { to, wait: true });
  expect(data.sent).toMatchObject({
    message: { databaseId: sent.databaseId },
    userErrors: [
      {
        message: 'The contact asked not to be messaged after this message was accepted.',
        code: 'CONTACT_OPTED_OUT',
        messageId: sent.id,
        entry: { category: 'ALL', state: 'OPTED_OUT' },
      },
    ],
  });
});

test('error 131050 opts out of marketing, in the response to a send and in a status', async () => {
  if (!worker) worker = await startWorker(gateway);
  const phone = '+4915155610004';
  gateway.emulator.setFaults({ next: [{ errorCode: 131_050, to: phone }] });
  const { id, contactId } = await accept(phone, 'sale');
  await eventually(async () => {
    const entries = await gateway.database.query(
      'select category, state, source, evidence from consent_entries where contact_id = $1',
      [contactId],
    );
    expect(entries).toEqual([
      {
        category: 'marketing',
        state: 'opted_out',
        source: 'network',
        evidence: `message ${id}: refused with 131050`,
      },
    ]);
  });
  const told = await gateway.database.query<{ type: string }>(
    "select type from events where contact_id = $1 and type = any('{consent.changed,message.failed}') order by xid, seq",
    [contactId],
  );
  expect(told.map(({ type }) => type)).toEqual(['consent.changed', 'message.failed']);
  expect(codeOf(await gateway.graphql(TEMPLATE, { to: phone, name: 'sale' }))).toBe('CONTACT_OPTED_OUT');
  dataOf(await gateway.graphql(TEMPLATE, { to: phone, name: 'order' }));
});

test('a scheduled template that is deleted, and perhaps created again, is not sent to a contact who opted out of its category', async () => {
  if (!worker) worker = await startWorker(gateway);
  const schedule = async (phone: string, name: string): Promise<Accepted> => {
    const input = {
      to: { phone },
      content: { template: { name, language: 'en' } },
      scheduledAt: { instant: new Date(Date.now() + 3_600_000).toISOString() },
    };
    const sent = await gateway.mutate('sendMessage', input, 'message { databaseId contact { databaseId } }');
    const { message } = payloadOf(sent);
    return { id: message.databaseId, contactId: Number(message.contact.databaseId) };
  };
  const unwanted = [await schedule('+4915155610006', 'sale'), await schedule('+4915155610007', 'offer')];
  const wanted = [await schedule('+4915155610008', 'sale'), await schedule('+4915155610009', 'offer')];
  for (const { contactId } of unwanted) await optOut(contactId, 'marketing');
  const known = () =>
    gateway.database.query("select name from templates where name = any('{sale,offer}') order by name");
  const deleted = async (name: string) => {
    await fetch(`${gateway.emulator.url}/_emulator/changes`, {
      method: 'POST',
      body: JSON.stringify({
        field: 'message_template_status_update',
        value: { event: 'DELETED', message_template_name: name, message_template_language: 'en', reason: 'NONE' },
      }),
    }).then(answer => answer.text());
  };
  await deleted('sale');
  await eventually(async () => expect(await known()).toEqual([{ name: 'offer' }]));
  dataOf(await gateway.mutate('syncTemplates', {}));
  await eventually(async () => expect(await known()).toEqual([{ name: 'offer' }, { name: 'sale' }]));
  await deleted('offer');
  await eventually(async () => expect(await known()).toEqual([{ name: 'sale' }]));
  await gateway.database.query("update outbox set due_at = now() - interval '1 second' where priority = 4");
  await eventually(async () => expect(await gateway.database.query('select from outbox')).toEqual([]));
  const { byCallbackData } = gateway.emulator.sent({ limit: 0 });
  expect(unwanted.map(({ id }) => byCallbackData[id] ?? 0)).toEqual([0, 0]);
  expect(wanted.map(({ id }) => byCallbackData[id] ?? 0)).toEqual([1, 1]);
  for (const { id } of unwanted)
    expect(
      await gateway.database.query('select status, error from message_states where message_id = $1', [id]),
    ).toEqual([{ status: 'failed', error: expect.objectContaining({ title: 'Contact opted out' }) }]);
});
