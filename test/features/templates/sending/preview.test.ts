import { afterAll, beforeAll, expect, test } from 'vitest';
import { codeOf, dataOf, userErrorsOf } from '../../../support/answers.ts';
import { newPhone } from '../../../support/seed.ts';
import { ORDER, type Sending, startSending } from '../sending.ts';

let sending: Sending;
beforeAll(async () => {
  sending = await startSending();
});
afterAll(() => sending.gateway.stop());

const PREVIEW = `query ($template: TemplateInput!, $contactId: ID) { previewTemplate(template: $template, contactId: $contactId) {
  rendered { header { format text link filename } body footer buttons { type text url phoneNumber } }
  userErrors { code message path }
} }`;
const preview = (template: object, contactId?: string, token?: string) =>
  sending.gateway.graphql(PREVIEW, { template: { language: 'en_US', ...template }, contactId }, token);
const contact = async (fields: object = {}): Promise<string> => {
  const answer = await sending.gateway.mutate(
    'createContact',
    { phone: newPhone(), firstName: 'Ana', ...fields },
    'contact { id }',
  );
  return dataOf(answer).createContact.contact.id;
};
const faults = async (template: object, contactId?: string) => {
  const answer = await preview(template, contactId);
  expect(answer.data.previewTemplate.rendered).toBeNull();
  return userErrorsOf(answer).map(({ path, code }) => [path.join('.'), code]);
};

test('a preview is what a send shows, and nothing is sent', async () => {
  const { rendered } = dataOf(await preview(ORDER)).previewTemplate;
  expect(rendered).toEqual({
    header: { format: 'TEXT', text: 'Order 77', link: null, filename: null },
    body: 'Hello Ana, order 1042 is on its way, Ana.',
    footer: 'Reply STOP to end',
    buttons: [
      { type: 'QUICK_REPLY', text: 'Thanks', url: null, phoneNumber: null },
      { type: 'URL', text: 'Track', url: 'https://shop.example/track/a%20b', phoneNumber: null },
      { type: 'PHONE_NUMBER', text: 'Call', url: null, phoneNumber: '+15550783881' },
    ],
  });
  expect(await sending.gateway.database.query('select id from messages')).toEqual([]);
  expect(sending.gateway.emulator.sent().matched).toBe(0);
});

test('merge fields have the values of the contact; without one they need a fallback', async () => {
  const greeting = { ...ORDER, body: ['@{contact_first_name|friend}', '1042'] };
  const bodyOf = async (contactId?: string) => dataOf(await preview(greeting, contactId)).previewTemplate.rendered.body;
  expect(await bodyOf(await contact())).toBe('Hello Ana, order 1042 is on its way, Ana.');
  expect(await bodyOf()).toBe('Hello friend, order 1042 is on its way, friend.');
  const bare = { ...ORDER, body: ['@{contact_first_name}', '1042'] };
  expect((await faults(bare)).map(([path]) => path)).toEqual(['template.body.0']);
});

test('what a send would refuse is refused, with all faults by field', async () => {
  expect((await faults({ ...ORDER, body: ['Ana'], buttons: [] })).map(([path]) => path)).toEqual([
    'template.body.1',
    'template.buttons.1',
  ]);
  expect((await faults({ name: 'paused' })).map(([path]) => path)).toEqual(['template.name']);
  expect((await faults({ name: 'nobody' })).map(([path]) => path)).toEqual(['template.name']);
  for (const id of ['987654321', 'x']) expect(await faults(ORDER, id)).toEqual([['contactId', 'REFERENCE_NOT_FOUND']]);
  const optedOut = await contact();
  await sending.gateway.database.query(
    'update contacts set opted_out_at = now() where id = (select max(id) from contacts)',
  );
  expect(codeOf(await preview(ORDER, optedOut))).toBe('CONTACT_OPTED_OUT');
});

test('a preview needs the scope of sends, and shows no one-time code', async () => {
  const { gateway } = sending;
  const token = await gateway.addToken(gateway.tenant, { scopes: ['templates:read'] });
  expect(codeOf(await preview(ORDER, undefined, token))).toBe('INSUFFICIENT_SCOPE');
  const { rendered } = dataOf(await preview({ name: 'code', body: ['424242'] })).previewTemplate;
  expect(rendered.body).toBe('*••••••* is your verification code.');
});
