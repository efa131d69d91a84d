import { afterAll, beforeAll, expect, test } from 'vitest';
import { legacyOf, type Rest, restOf } from '../../../rest/client.ts';
import { codeOf, dataOf, payloadOf } from '../../../support/answers.ts';
import { eventually, startGateway, type TestGateway } from '../../../support/gateway.ts';
import { postWebhook } from '../../../support/network-webhook.ts';
import { newPhone } from '../../../support/seed.ts';

/** Opt-outs of erased people, where the next thing is a send. */

let gateway: TestGateway;
let rest: Rest;
let v1: Rest;
const body = { type: 'BODY', text: 'Hi' };
beforeAll(async () => {
  gateway = await startGateway({
    emulator: { faults: { window: 'open', userIds: false } },
    templates: [
      { name: 'sale', language: 'en', category: 'MARKETING', components: [body] },
      { name: 'order', language: 'en', category: 'UTILITY', components: [body] },
    ],
  });
  dataOf(await gateway.mutate('syncTemplates', {}));
  rest = restOf(gateway, gateway.tenant);
  v1 = legacyOf(gateway, gateway.tenant);
});
afterAll(() => gateway.stop());

const read = async (): Promise<void> => {
  await gateway.emulator.settled();
  await eventually(async () => expect(await gateway.database.query('select 1 from waiting_webhooks')).toEqual([]));
};
const contactOf = async (phone: string) => (await rest('GET', `/contacts?search=${phone}`)).body.data[0];
const sendTemplate = (phone: string, name: string) =>
  rest('POST', '/messages/template', { phone, template_name: name, language: 'en' });

/** The person sends a message, opts out of marketing in the app, and is erased. */
async function eraseAfterStop(phone: string): Promise<void> {
  gateway.emulator.inbound({ from: phone, text: 'Hello', phoneNumberId: gateway.tenant.phoneNumberId });
  await read();
  const preference = { wa_id: phone.slice(1), category: 'marketing_messages', detail: 'User asked', value: 'stop' };
  const timestamp = Math.floor(Date.now() / 1_000);
  await postWebhook(gateway, gateway.tenant, { user_preferences: [{ ...preference, timestamp }] }, 'user_preferences');
  await read();
  const refused = await sendTemplate(phone, 'sale');
  expect([refused.status, refused.body.error?.code]).toEqual([403, 'CONTACT_OPTED_OUT']);
  const { id } = await contactOf(phone);
  expect((await rest('DELETE', `/contacts/${id}`)).status).toBe(200);
  expect(await contactOf(phone)).toBeUndefined();
}

test('after an erasure, an opt-out from marketing rejects marketing templates on every API', async () => {
  const phone = '+4915155700001';
  await eraseAfterStop(phone);
  const refused = await sendTemplate(phone, 'sale');
  expect([refused.status, refused.body.error?.code, refused.body.error?.details]).toEqual([
    403,
    'CONTACT_OPTED_OUT',
    { opted_out_at: expect.any(String), category: 'marketing' },
  ]);
  const legacy = await v1('POST', '/messages/template', { phone, template_name: 'sale', language: 'en' });
  expect([legacy.status, legacy.body.message]).toEqual([403, 'Contact opted out']);
  const direct = await gateway.graphql(
    'mutation ($to: String!) { sendMessage(input: { to: { phone: $to }, content: { template: { name: "sale", language: "en" } } }) { message { databaseId } userErrors { code message path } } }',
    { to: phone },
  );
  expect(codeOf(direct)).toBe('CONTACT_OPTED_OUT');
  expect(direct.data.sendMessage.message).toBeNull();
  expect(await contactOf(phone)).toBeUndefined();
  expect(gateway.emulator.sent({ to: phone }).matched).toBe(0);
});

test('messages that the opt-out does not cover are sent, and the contact created by the send has the opt-out', async () => {
  const phone = '+4915155700002';
  await eraseAfterStop(phone);
  expect((await sendTemplate(phone, 'order')).status).toBe(200);
  const refused = await sendTemplate(phone, 'sale');
  expect([refused.status, refused.body.error?.code]).toEqual([403, 'CONTACT_OPTED_OUT']);
  expect((await contactOf(phone)).is_opted_out).toBe(false);
});

test('a contact that is given the number of an erased person gets their opt-outs', async () => {
  const phone = '+4915155700003';
  await eraseAfterStop(phone);
  const { id } = (await rest('POST', '/contacts', { firstname: 'Ada', phone: '+4915155700004' })).body.data;
  expect((await rest('PATCH', `/contacts/${id}`, { phone })).status).toBe(200);
  const refused = await sendTemplate(phone, 'sale');
  expect([refused.status, refused.body.error?.code]).toEqual([403, 'CONTACT_OPTED_OUT']);
});

const ERASED = ['together', 'the earlier one first', 'the later one first'] as const;
const WHO: readonly (readonly [who: string, ofEarlier: readonly string[], ofLater: readonly string[]])[] = [
  ['the earlier one', ['marketing'], []],
  ['the later one', [], ['marketing']],
  ['both, from different categories,', ['marketing'], ['utility']],
];

test.each(WHO.flatMap(who => ERASED.map(erased => [...who, erased] as const)))(
  'of two people who had one number in turn, the opt-out of %s stays with the number (%s, %s) if they are erased %s',
  async (_who, ofEarlier, ofLater, erased) => {
    const phone = newPhone();
    const create = async (): Promise<string> =>
      payloadOf(await gateway.mutate('createContact', { phone }, 'contact { databaseId }')).contact.databaseId;
    /** Somebody who opted out, and then got another number. */
    const formerHolder = async (categories: readonly string[]): Promise<string> => {
      const id = await create();
      for (const category of categories)
        dataOf(
          await gateway.mutate('recordConsent', {
            contactId: id,
            category: category.toUpperCase(),
            state: 'OPTED_OUT',
          }),
        );
      dataOf(await gateway.mutate('updateContact', { id, phone: newPhone() }));
      return id;
    };
    const ids = [await formerHolder(ofEarlier), await formerHolder(ofLater)];
    const groups = erased === 'together' ? [ids] : ids.map(id => [id]);
    if (erased === 'the later one first') groups.reverse();
    for (const group of groups)
      expect(
        payloadOf(await gateway.mutate('deleteContacts', { ids: group }, 'summary { succeeded failed }')),
      ).toMatchObject({
        summary: { succeeded: group.length, failed: 0 },
      });
    await create();
    const statusOf = async (template: string) => (await sendTemplate(phone, template)).status;
    const optedOut = [...ofEarlier, ...ofLater];
    expect(await statusOf('sale')).toBe(403);
    expect(await statusOf('order')).toBe(optedOut.includes('utility') ? 403 : 200);
  },
);
