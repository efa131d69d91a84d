import { afterAll, beforeAll, expect, test } from 'vitest';
import { contentOfMessage, previewOf } from '../../../../src/features/messages/content/message-content.ts';
import { messageTypeOf } from '../../../../src/features/messages/content/message-type.ts';
import type { MessageRow } from '../../../../src/features/messages/message.ts';
import { errorClassOf } from '../../../../src/features/messages/statuses/error-class.ts';
import { dataOf } from '../../../support/answers.ts';
import { eventually, startGateway, type TestGateway } from '../../../support/gateway.ts';
import { newPhone } from '../../../support/seed.ts';
import { sendAs } from '../../../support/sending.ts';

const row = (type: string, content: object = {}, more: Partial<MessageRow> = {}): MessageRow =>
  ({
    id: '01890000-0000-7000-8000-000000000000',
    direction: 'inbound',
    type,
    body: null,
    content,
    error: null,
    ...more,
  }) as MessageRow;

test.each<[string, MessageRow, object]>([
  ['TEXT', row('text', { preview_url: true }, { body: 'Hi' }), { kind: 'TextContent', body: 'Hi', previewUrl: true }],
  [
    'IMAGE',
    row('image', { link: 'https://example.com/a' }, { body: 'Look' }),
    { kind: 'MediaContent', caption: 'Look' },
  ],
  ['REPLY', row('button', { payload: 'yes', text: 'Yes' }), { kind: 'ReplyContent', replyId: 'yes', title: 'Yes' }],
  [
    'REPLY',
    row('interactive', { list_reply: { id: 'a', title: 'A', description: 'b' } }),
    { kind: 'ReplyContent', replyId: 'a', description: 'b' },
  ],
  [
    'FLOW_REPLY',
    row('interactive', { nfm_reply: { name: 'flow', answers: { size: 'L' } } }),
    { kind: 'FlowReplyContent', flowName: 'flow', answers: { size: 'L' } },
  ],
  [
    'CALL',
    row('interactive', { call_permission_reply: { response: 'accept', expiration_timestamp: '1790000000' } }),
    { kind: 'CallPermissionContent', isGranted: true, expiresAt: '2026-09-21T14:13:20.000Z' },
  ],
  [
    'CALL',
    row('interactive', { call_permission_reply: { response: 'accept', expiration_timestamp: 9e15 } }),
    { kind: 'CallPermissionContent', isGranted: true, expiresAt: null },
  ],
  [
    'INTERACTIVE',
    row(
      'interactive',
      {
        type: 'list',
        body: { text: 'What?' },
        action: { button: 'Menu', sections: [{ title: 'Cold', rows: [{ id: 'ice', title: 'Ice' }] }] },
      },
      { direction: 'outbound' },
    ),
    {
      kind: 'InteractiveContent',
      body: 'What?',
      list: {
        button: 'Menu',
        sections: [{ title: 'Cold', rows: [{ replyId: 'ice', title: 'Ice', description: null }] }],
      },
    },
  ],
  [
    'LOCATION',
    row('location', { latitude: '1.5', longitude: 2 }),
    { kind: 'LocationContent', latitude: 1.5, longitude: 2 },
  ],
  [
    'CONTACTS',
    row('contacts', {
      value: [{ name: { formatted_name: 'Ana' }, phones: [{ phone: '+1' }], emails: [{ email: 'a@b.c' }] }],
    }),
    { kind: 'ContactsContent', cards: [{ name: 'Ana', phones: ['+1'], emails: ['a@b.c'], company: null }] },
  ],
  ['REACTION', row('reaction', { emoji: '' }), { kind: 'ReactionContent', emoji: null }],
  [
    'ORDER',
    row('order', {
      catalog_id: 'c',
      product_items: [{ product_retailer_id: 'p', quantity: '2', item_price: 9.5, currency: 'EUR' }],
    }),
    { kind: 'OrderContent', catalogId: 'c', items: [{ productId: 'p', quantity: 2, price: '9.5', currency: 'EUR' }] },
  ],
  ['CALL', row('call', { outcome: 'completed', duration_seconds: 12 }), { kind: 'CallContent', durationSeconds: 12 }],
  [
    'SYSTEM',
    row('system', { type: 'user_changed_number' }, { body: 'Changed' }),
    { kind: 'SystemContent', body: 'Changed' },
  ],
  [
    'UNSUPPORTED',
    row('unsupported', {}, { error: { code: 131051, title: 'x', details: 'y' } }),
    { kind: 'UnsupportedContent', reason: { code: 131051 } },
  ],
  ['OTHER', row('hologram', { id: 7 }), { kind: 'UnsupportedContent', reason: null }],
  ['LOCATION', row('location', { latitude: 'north' }), { kind: 'UnsupportedContent' }],
])('a message of the type %s shows its content, and has a preview', (type, message, shown) => {
  expect(messageTypeOf(message)).toBe(type);
  expect(contentOfMessage(message)).toMatchObject(shown);
  expect(previewOf(message)).not.toBe('');
});

test('an unknown error code concerns the recipient', () => {
  expect([131_056, 80_007, 190, 131_047, 132_000, 999_999, 0].map(errorClassOf)).toEqual([
    'TRANSIENT',
    'WAIT',
    'CREDENTIALS',
    'RECIPIENT',
    'REQUEST',
    'RECIPIENT',
    'RECIPIENT',
  ]);
});

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.stop());

test('failed messages are found by code, class and time, and ordered by the time of their failure', async () => {
  const fail = async (errorCode: number): Promise<string> => {
    const to = newPhone();
    gateway.emulator.setFaults({ next: [{ errorCode, to }] });
    const { message } = (await sendAs(gateway, 'text', { to, text: 'Hi', waitForAcceptance: true }, 'databaseId')).data
      .sendMessage;
    return message.databaseId;
  };
  const [refused, invalid] = [await fail(131_026), await fail(131_009)];
  await sendAs(gateway, 'text', { to: newPhone(), text: 'Hi', waitForAcceptance: true }, 'databaseId');
  const found = async (filter: object, orderBy?: object[]) => {
    const answer = await gateway.graphql(
      'query ($filter: MessageFilter, $orderBy: [MessageOrder!]) { messages(filter: $filter, orderBy: $orderBy) { totalCount nodes { databaseId type error { class } } } }',
      { filter, orderBy },
    );
    const { nodes, totalCount } = dataOf(answer).messages;
    expect(totalCount).toBe(nodes.length);
    return nodes.map((node: { databaseId: string }) => node.databaseId);
  };
  await eventually(async () => expect(await found({ status: { eq: 'FAILED' } })).toHaveLength(2));
  expect(await found({ errorCode: { eq: 131_026 } })).toEqual([refused]);
  expect(await found({ errorClass: { eq: 'REQUEST' } })).toEqual([invalid]);
  expect(await found({ status: { eq: 'FAILED' }, errorClass: { ne: 'RECIPIENT' } })).toEqual([invalid]);
  expect(await found({ failedAt: { gte: '2026-01-01' } })).toEqual([invalid, refused]);
  expect(await found({ failedAt: { lt: '2026-01-01' } })).toEqual([]);
  expect(await found({}, [{ field: 'FAILED_AT', direction: 'ASC' }])).toEqual([refused, invalid]);
  expect(await found({ failedAt: { gte: '2026-01-01' } }, [{ field: 'FAILED_AT', direction: 'DESC' }])).toEqual([
    invalid,
    refused,
  ]);
  expect(await found({ type: { eq: 'TEXT' } })).toHaveLength(3);
  expect(await found({ type: { ne: 'TEXT' } })).toEqual([]);
  expect(await found({ networkType: { eq: 'text' }, id: { in: [refused] } })).toEqual([refused]);
});
