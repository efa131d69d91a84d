import { expect } from 'vitest';
import type { InboundInput } from '../../../../src/emulator/inbound-input.ts';
import { messageInput } from '../../../support/sending.ts';
import { CONFIRM, CREATE as CREATE_INTEGRATION, postWoo } from '../../integrations/fixture.ts';
import { wooOrder } from '../../integrations/fixtures.ts';
import { mediaOf } from '../../messages/content/media/client.ts';
import { PDF } from '../../messages/content/media/files.ts';
import type { Person, PrivacyFixture } from './person.ts';
import { plantMerge, plantThreads } from './plant-threads.ts';

const SEND = `mutation ($text: SendMessageInput!, $template: SendMessageInput!, $interactive: SendMessageInput!, $media: SendMessageInput!) {
  text: sendMessage(input: $text) { userErrors { code message path } } template: sendMessage(input: $template) { userErrors { code message path } }
  interactive: sendMessage(input: $interactive) { userErrors { code message path } } media: sendMessage(input: $media) { userErrors { code message path } } }`;

const stamp = (secondsAgo = 0): string => String(Math.floor(Date.now() / 1_000) - secondsAgo);

/** Creates data about a person through every feature. @returns the contact's id */
export async function plant(fixture: PrivacyFixture, person: Person): Promise<number> {
  const { gateway, ask } = fixture;
  const { emulator, tenant } = gateway;
  const { phone, firstName, lastName, email, word, digits, userId } = person;
  const { createContactGroup } = await ask(
    'mutation ($n: String!) { createContactGroup(input: { name: $n }) { contactGroup { databaseId } } }',
    {
      n: `Group of ${digits.slice(-3)}`,
    },
  );
  const input = {
    phone,
    firstName,
    lastName,
    email,
    company: `${word} GmbH`,
    description: `Likes ${word}`,
    address: `${word} 5`,
    groupIds: [String(createContactGroup.contactGroup.databaseId)],
    idempotencyKey: `create ${phone} ${lastName}`,
  };
  const {
    createContact: { contact: createContact },
  } = await ask('mutation ($input: CreateContactInput!) { createContact(input: $input) { contact { databaseId } } }', {
    input,
  });
  const id = Number(createContact.databaseId);
  const change = 'mutation ($input: UpdateContactInput!) { updateContact(input: $input) { contact { databaseId } } }';
  await ask(change, { input: { id: String(id), city: word } });
  // REST answers are kept for their keys.
  const rest = async (method: string, path: string, body: object, key: string) => {
    const answer = await gateway.rest(method, path, body, { 'idempotency-key': `${key} ${phone}` });
    expect([path, answer.status < 300, answer.ok ? '' : await answer.text()]).toEqual([path, true, '']);
  };
  await rest('POST', '/messages/text', { phone, message: `Hello ${word}` }, 'rest');
  await rest('PATCH', `/contacts/${id}`, { state: word }, 'patch');
  const [one, two] = [
    { phone: `+49151000${digits.slice(-5)}`, firstname: 'Unrelated' },
    { phone: `+49152000${digits.slice(-5)}`, email: `x${digits.slice(-3)}@other.example` },
  ];
  await rest('POST', '/contacts/batch', { contacts: [one, two] }, 'batch');
  const at = { to: phone };
  await ask(SEND, {
    text: messageInput('text', {
      ...at,
      text: `Text ${word} for @{contact_first_name}`,
      idempotencyKey: `text ${email}`,
    }),
    template: messageInput('template', {
      ...at,
      name: 'order_confirmed',
      language: 'en',
      header: { text: word },
      body: [firstName, word, lastName],
      buttons: [{ index: 0, value: word }],
    }),
    interactive: messageInput('interactive', {
      ...at,
      body: word,
      header: firstName,
      buttons: [{ replyId: 'yes', title: `Y ${word}`.slice(0, 20) }],
    }),
    media: messageInput('media', { ...at, kind: 'IMAGE', link: `https://example.com/${word}.jpg`, caption: word }),
  });
  await plantFiles(fixture, person);
  await plantInbound(fixture, person);
  const otp = { phone, templateName: 'login_code', language: 'en', code: '271828', idempotencyKey: `otp ${phone}` };
  await ask(
    'mutation ($input: SendOtpInput!) { sendOtp(input: $input) { otp { id } userErrors { code message path } } }',
    { input: otp },
  );
  for (const code of ['111111', '271828'])
    await ask(
      'mutation ($input: VerifyOtpInput!) { verifyOtp(input: $input) { verified userErrors { code message path } } }',
      {
        input: { phone, code, idempotencyKey: `verify ${code} ${phone}` },
      },
    );
  await rest('POST', '/auth/send-otp', { phone, template_name: 'login_code', language: 'en' }, 'rest otp');
  await plantOrder(fixture, person);
  // The network tells something that nobody knows, and something that cannot be applied.
  await fixture.webhook({ strange: [{ from: digits, name: firstName, note: word }] }, 'something_new');
  await fixture.webhook({
    statuses: [{ id: emulator.sent().messages[0]?.wamid, status: 'odd', recipient_id: digits }],
  });
  await fixture.webhook(
    {
      user_preferences: [
        { wa_id: digits, detail: word, category: 'marketing_messages', value: 'stop', timestamp: stamp() },
      ],
    },
    'user_preferences',
  );
  await plantMerge(fixture, person, id);
  await plantThreads(fixture, person);
  emulator.inbound({ from: phone, userId, text: `STOP`, phoneNumberId: tenant.phoneNumberId });
  await fixture.settled();
  return id;
}

/** Files whose names tell of the person: one that was sent to them, and one that was never sent and names their number. */
async function plantFiles({ gateway, ask }: PrivacyFixture, { phone, digits, word }: Person): Promise<void> {
  const media = mediaOf(gateway);
  const mediaId = await media.uploaded(PDF, { filename: `Report ${word}.pdf` });
  await media.uploaded(PDF, { filename: `Draft ${digits}.pdf` });
  await ask(
    'mutation ($input: SendMessageInput!) { sendMessage(input: $input) { userErrors { code message path } } }',
    {
      input: messageInput('media', { to: phone, kind: 'DOCUMENT', mediaId }),
    },
  );
}

/** The person sends every type of message. */
async function plantInbound(fixture: PrivacyFixture, { phone, digits, userId, firstName, lastName, word }: Person) {
  const { emulator, tenant } = fixture.gateway;
  const from = {
    from: phone,
    userId,
    profileName: `${firstName} ${lastName}`,
    phoneNumberId: tenant.phoneNumberId,
  };
  const kinds: InboundInput[] = [
    { text: `What is the price of ${word}?` },
    { type: 'image', caption: word },
    { type: 'document', caption: word, filename: `${word}.pdf` },
    { type: 'location', latitude: 1, longitude: 2, name: word, address: word },
    { type: 'contacts', contacts: [{ name: word, phone }] },
    { type: 'button', text: word, payload: word },
    { type: 'interactive', buttonReply: { id: 'yes', title: word } },
    { type: 'unsupported', errorCode: 131051 },
    {
      type: 'order',
      text: word,
      catalogId: 'c1',
      items: [{ productRetailerId: word, quantity: 1, itemPrice: 2, currency: 'EUR' }],
    },
  ].map(kind => ({ ...from, ...kind }) as InboundInput);
  const wamids = kinds.map(kind => emulator.inbound(kind));
  emulator.inbound({ ...from, type: 'reaction', messageId: wamids[0] ?? '', emoji: '👍' });
  emulator.inbound({ ...from, text: `A reply about ${word}`, replyTo: wamids[0] ?? '' });
  const profile = { profile: { name: `${firstName} ${lastName}` }, wa_id: digits, user_id: userId };
  const other = { profile: { name: 'Bystander' }, wa_id: '4915100000001' };
  const text = (author: string, body: string) => ({
    from: author,
    id: `wamid.${Buffer.from(`\x1c\x18\x0d${author}\x15\x02\x00${body.slice(0, 6)}`).toString('base64')}`,
    timestamp: stamp(),
    type: 'text',
    text: { body },
  });
  // One webhook of two people, and a group chat.
  await fixture.webhook({
    contacts: [profile, other],
    messages: [text(digits, word), text('4915100000001', 'Bystander writes')],
  });
  await fixture.webhook({ contacts: [profile], messages: [{ ...text(digits, `group ${word}`), group_id: 'group-1' }] });
  await fixture.settled();
}

async function plantOrder({ gateway, ask }: PrivacyFixture, { digits, firstName, lastName, email, word }: Person) {
  const input = { kind: 'WOOCOMMERCE', name: `Shop ${digits.slice(-4)}`, mappings: [CONFIRM] };
  const { createIntegration } = await ask(CREATE_INTEGRATION, { input });
  const { secret, integration } = createIntegration;
  const billing = { first_name: firstName, last_name: lastName, email, phone: `0${digits.slice(2)}`, address_1: word };
  const post = (order: object) => postWoo(`${gateway.url}${integration.path}`, secret, order);
  await post(wooOrder({ id: 901, billing, customer_note: word }));
  await post(wooOrder({ id: 902, status: 'refunded', billing: { ...billing, phone: '' }, customer_note: word }));
}
