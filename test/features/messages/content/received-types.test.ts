import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { InboundInput } from '../../../../src/emulator/inbound-input.ts';
import { contentOfMessage } from '../../../../src/features/messages/content/message-content.ts';
import type { MessageRow } from '../../../../src/features/messages/message.ts';
import { sign } from '../../../../src/network/cloud-api/signature.ts';
import { dataOf } from '../../../support/answers.ts';
import { eventually, startGateway, type TestGateway } from '../../../support/gateway.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.stop());

const FIELDS = `type: networkType text status content: raw shown: content {
    __typename ... on LocationContent { latitude longitude name address } ... on ContactsContent { cards { name phones } } ... on ReplyContent { replyId }
  } kind: type previewText wamid replyToWamid isRead error { code title }
  contact { phone }`;

const shown = async (wamid: string) => {
  let found: Record<string, unknown> | undefined;
  await eventually(async () => {
    const { messages } = dataOf(
      await gateway.graphql(`{ messages(filter: { direction: { eq: INBOUND } }, first: 100) { nodes { ${FIELDS} } } }`),
    );
    found = messages.nodes.find((node: { wamid: string }) => node.wamid === wamid);
    expect(found).toBeDefined();
  });
  return found;
};

const FROM = '+14155550301';
const kinds: [string, InboundInput, object][] = [
  [
    'an image',
    { type: 'image', caption: 'Look' },
    { type: 'image', text: 'Look', content: { mime_type: 'image/png', caption: 'Look' } },
  ],
  ['a video', { type: 'video' }, { type: 'video', text: null }],
  ['a voice message', { type: 'audio', voice: true }, { type: 'audio', text: null, content: { voice: true } }],
  [
    'a document',
    { type: 'document', filename: 'a.pdf', caption: 'The offer' },
    { type: 'document', text: 'The offer', content: { filename: 'a.pdf' } },
  ],
  ['a sticker', { type: 'sticker' }, { type: 'sticker', text: null, content: { mime_type: 'image/webp' } }],
  [
    'a location',
    { type: 'location', latitude: 38.7, longitude: -9.1, name: 'Lisbon', address: 'Rua Augusta' },
    {
      type: 'location',
      text: 'Lisbon',
      shown: { latitude: 38.7, longitude: -9.1, name: 'Lisbon', address: 'Rua Augusta' },
    },
  ],
  [
    'cards of an address book',
    { type: 'contacts', contacts: [{ name: 'Ana Silva', phone: '+14155550302' }, { name: 'Bo' }] },
    {
      type: 'contacts',
      text: 'Ana Silva, Bo',
      shown: {
        cards: [
          { name: 'Ana Silva', phones: ['+14155550302'] },
          { name: 'Bo', phones: [] },
        ],
      },
    },
  ],
  [
    'a reaction',
    { type: 'reaction', messageId: 'wamid.abc', emoji: '👍' },
    { type: 'reaction', text: '👍', replyToWamid: 'wamid.abc' },
  ],
  [
    'a reaction taken back',
    { type: 'reaction', messageId: 'wamid.abc', emoji: '' },
    { type: 'reaction', replyToWamid: 'wamid.abc' },
  ],
  [
    'a quick reply',
    { type: 'button', text: 'Stop promos', payload: 'STOP_PROMOS' },
    { type: 'button', text: 'Stop promos', shown: { replyId: 'STOP_PROMOS' } },
  ],
  [
    'what the network does not support',
    { type: 'unsupported' },
    { type: 'unsupported', text: null, error: { code: 131051, title: 'Message type unknown' } },
  ],
];

test.each(kinds)('%s is stored and shown as what it is', async (_what, input, expected) => {
  const { phoneNumberId } = gateway.tenant;
  const wamid = gateway.emulator.inbound({ ...input, from: FROM, phoneNumberId });
  expect(await shown(wamid)).toMatchObject({
    status: 'RECEIVED',
    isRead: false,
    contact: { phone: FROM },
    ...expected,
  });
});

test('an unknown type is stored with all of its content', async () => {
  const id = `wamid.${randomBytes(9).toString('base64url')}`;
  const message = {
    from: FROM.slice(1),
    id,
    timestamp: String(Math.floor(Date.now() / 1_000)),
    type: 'hologram',
    hologram: { frames: [1, 2], label: 'Hi' },
  };
  const value = {
    messaging_product: 'whatsapp',
    metadata: { phone_number_id: gateway.tenant.phoneNumberId },
    messages: [message],
  };
  const body = JSON.stringify({
    object: 'whatsapp_business_account',
    entry: [{ id: gateway.tenant.wabaId, changes: [{ field: 'messages', value }] }],
  });
  const answer = await fetch(`${gateway.url}/network/cloud-api/webhook`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-hub-signature-256': sign(Buffer.from(body), 'test-app-secret') },
    body,
  });
  expect(answer.status).toBe(200);
  expect(await shown(id)).toMatchObject({ type: 'hologram', content: { frames: [1, 2], label: 'Hi' }, text: null });
});

test('a message can be marked as read, also on the network', async () => {
  const wamid = gateway.emulator.inbound({
    type: 'text',
    text: 'Hello?',
    from: FROM,
    phoneNumberId: gateway.tenant.phoneNumberId,
  });
  await shown(wamid);
  const { messages } = dataOf(
    await gateway.graphql('{ messages(first: 1, search: "Hello?") { nodes { id conversation { id } } } }'),
  );
  const { id, conversation } = messages.nodes[0];
  dataOf(await gateway.mutate('markConversationRead', { id: conversation.id, upToMessageId: id }));
  expect(await shown(wamid)).toMatchObject({ isRead: true });
});

test('reading the parts of a message with arbitrary content never fails', () => {
  fc.assert(
    fc.property(
      fc.constantFrom('location', 'contacts', 'text'),
      fc.dictionary(fc.constantFrom('latitude', 'longitude', 'name', 'value'), fc.jsonValue()),
      (type, content) => {
        const message = { id: 'a', direction: 'inbound', type, body: null, content, error: null } as MessageRow;
        const parts = contentOfMessage(message);
        if (parts.kind === 'LocationContent')
          expect([typeof parts.latitude, typeof parts.longitude]).toEqual(['number', 'number']);
        for (const { name, phones } of parts.kind === 'ContactsContent' ? parts.cards : [])
          expect([name, ...phones].every(text => typeof text === 'string')).toBe(true);
      },
    ),
  );
});
