import { afterAll, beforeAll, expect, test } from 'vitest';
import { encodeGlobalId } from '../../../../src/core/global-ids.ts';
import { codeOf, dataOf, payloadOf } from '../../../support/answers.ts';
import { startGateway, type TestGateway } from '../../../support/gateway.ts';
import { mediaOf } from '../content/media/client.ts';
import { JPEG } from '../content/media/files.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.stop());

const CONTENT = `content { __typename ... on TextContent { body previewUrl } ... on InteractiveContent { text: body buttons { replyId title } }
  ... on MediaContent { caption media { kind link mediaId filename isAvailable } } ... on LocationContent { latitude longitude name }
  ... on ContactsContent { cards { name phones emails company } } ... on TemplateContent { templateName language values { body } rendered { body } } }`;
const REPLY = `cannedReply { id databaseId shortcut title ${CONTENT} }`;
const create = async (input: object) => payloadOf(await gateway.mutate('createCannedReply', input, REPLY)).cannedReply;
const TEXT = { text: { body: 'Hello @{contact_first_name|there}' } };
const errorsOf = async (name: string, input: object) => {
  const { data, errors } = await gateway.mutate(name, input);
  expect(errors).toBeUndefined();
  return data[name].userErrors;
};

test('canned replies are created, listed by shortcut, found, changed and deleted', async () => {
  const { id, databaseId } = await create({ shortcut: ' hi ', title: 'Greeting', content: TEXT });
  await create({ shortcut: 'bye', title: 'Farewell', content: { text: { body: 'Bye', previewUrl: true } } });
  const list = dataOf(
    await gateway.graphql(
      '{ cannedReplies { totalCount nodes { shortcut title content { ... on TextContent { body previewUrl } } } } }',
    ),
  );
  expect(list.cannedReplies).toEqual({
    totalCount: 2,
    nodes: [
      { shortcut: 'bye', title: 'Farewell', content: { body: 'Bye', previewUrl: true } },
      { shortcut: 'hi', title: 'Greeting', content: { body: TEXT.text.body, previewUrl: false } },
    ],
  });
  const found = dataOf(await gateway.graphql('{ cannedReplies(search: "greet") { nodes { shortcut } } }'));
  expect(found.cannedReplies.nodes).toEqual([{ shortcut: 'hi' }]);
  const node = 'query ($id: ID!) { node(id: $id) { ... on CannedReply { title } } }';
  expect(dataOf(await gateway.graphql(node, { id })).node).toEqual({ title: 'Greeting' });
  const buttons = { interactive: { body: 'Well?', buttons: [{ replyId: 'y', title: 'Yes' }] } };
  const changed = payloadOf(await gateway.mutate('updateCannedReply', { id, content: buttons }, REPLY)).cannedReply;
  expect(changed).toMatchObject({ databaseId, shortcut: 'hi', title: 'Greeting' });
  expect(changed.content).toEqual({
    __typename: 'InteractiveContent',
    text: 'Well?',
    buttons: [{ replyId: 'y', title: 'Yes' }],
  });
  expect(payloadOf(await gateway.mutate('deleteCannedReply', { id }, 'deletedId')).deletedId).toBe(id);
  const one = 'query ($id: ID!) { cannedReply(id: $id) { title } }';
  expect(dataOf(await gateway.graphql(one, { id: databaseId }))).toEqual({ cannedReply: null });
  expect(codeOf(await gateway.mutate('deleteCannedReply', { id }, 'deletedId'))).toBe('NOT_FOUND');
});

test.each<[string, object, object]>([
  [
    'a link',
    { media: { kind: 'DOCUMENT', file: { link: 'https://example.com/a.pdf' }, filename: 'a.pdf' } },
    {
      __typename: 'MediaContent',
      caption: null,
      media: {
        kind: 'DOCUMENT',
        link: 'https://example.com/a.pdf',
        mediaId: null,
        filename: 'a.pdf',
        isAvailable: true,
      },
    },
  ],
  [
    'a location',
    { location: { latitude: 1, longitude: 2 } },
    { __typename: 'LocationContent', latitude: 1, longitude: 2, name: null },
  ],
  [
    'a contact card',
    { contacts: [{ name: 'Bo', phones: ['+14155550199'] }] },
    { __typename: 'ContactsContent', cards: [{ name: 'Bo', phones: ['+14155550199'], emails: [], company: null }] },
  ],
])('%s is shown as messages show it', async (_what, content, expected) => {
  const reply = await create({ shortcut: `shown-${Object.keys(content)[0]}`, title: 'Shown', content });
  expect(reply.content).toEqual(expected);
});

test('an upload is shown with what is known of it', async () => {
  const media = mediaOf(gateway);
  const mediaId = await media.uploaded(JPEG, { filename: 'a.jpg' });
  const content = { media: { kind: 'IMAGE', file: { mediaId }, caption: 'Look' } };
  const reply = await create({ shortcut: 'upload', title: 'Upload', content });
  expect(reply.content).toEqual({
    __typename: 'MediaContent',
    caption: 'Look',
    media: {
      kind: 'IMAGE',
      link: null,
      mediaId: encodeGlobalId('Media', gateway.tenant.id, mediaId),
      filename: 'a.jpg',
      isAvailable: true,
    },
  });
  const url = 'query ($id: ID!) { cannedReply(id: $id) { content { ... on MediaContent { media { path url } } } } }';
  const { path, url: signed } = dataOf(await gateway.graphql(url, { id: reply.id })).cannedReply.content.media;
  expect(path).toBe(`/media/${mediaId}`);
  expect((await fetch(`${gateway.url}${signed}`)).status).toBe(200);
});

test('a creation repeated with its key makes one canned reply', async () => {
  const input = { shortcut: 'once', title: 'Once', content: TEXT, idempotencyKey: 'canned-once' };
  expect(await create(input)).toEqual(await create(input));
});

test('a shortcut is unique ignoring case, and content is checked where it is written', async () => {
  await create({ shortcut: 'Taken', title: 'First', content: TEXT });
  const { id } = await create({ shortcut: 'other', title: 'Other', content: TEXT });
  const refused = (code: string, path: string[]) => [expect.objectContaining({ code, path })];
  const base = { shortcut: 'fresh', title: 'Fresh' };
  expect(await errorsOf('createCannedReply', { ...base, shortcut: 'taken', content: TEXT })).toEqual(
    refused('TAKEN', ['shortcut']),
  );
  expect(await errorsOf('updateCannedReply', { id, shortcut: 'TAKEN' })).toEqual(refused('TAKEN', ['shortcut']));
  for (const [content, code, path] of [
    [{ text: { body: ' ' } }, 'REQUIRED', 'content.text.body'],
    [{ text: { body: '@{nobody}' } }, 'UNKNOWN_MERGE_FIELD', 'content.text.body'],
    [{ media: { kind: 'IMAGE', file: { link: 'ftp://x' } } }, 'INVALID', 'content.media.file.link'],
    [{ interactive: { body: 'Well?' } }, 'REQUIRED', 'content.interactive.buttons'],
    [{ location: { latitude: 91, longitude: 0 } }, 'OUT_OF_RANGE', 'content.location.latitude'],
    [{ cannedReplyId: id }, 'SURPLUS', 'content.cannedReplyId'],
    [{ template: { name: 'unknown', language: 'en' } }, 'REFERENCE_NOT_FOUND', 'content.template.name'],
    [{ template: { name: 'x'.repeat(50_000), language: 'en' } }, 'TOO_LONG', 'content'],
  ] as const)
    expect(await errorsOf('createCannedReply', { ...base, content })).toEqual([
      expect.objectContaining({ code, path: path.split('.') }),
    ]);
  expect(await errorsOf('createCannedReply', { shortcut: 'a b', title: ' ', content: TEXT })).toEqual([
    expect.objectContaining({ path: ['shortcut'] }),
    expect.objectContaining({ code: 'REQUIRED', path: ['title'] }),
  ]);
});

test('a message is sent with the content of a canned reply, filled for its contact', async () => {
  const { id } = await create({ shortcut: 'send', title: 'Send', content: TEXT });
  const to = { phone: '+14155550177' };
  const input = { to, contact: { firstName: 'Ana' }, content: { cannedReplyId: id }, idempotencyKey: 'canned-send' };
  const { message } = payloadOf(await gateway.mutate('sendMessage', input, 'message { id text type }'));
  expect(message).toMatchObject({ text: 'Hello Ana', type: 'TEXT' });
  expect(payloadOf(await gateway.mutate('sendMessage', input, 'message { id }')).message.id).toBe(message.id);
  const image = { media: { kind: 'IMAGE', file: { link: 'https://example.com/a.png' }, caption: 'A' } };
  const media = await create({ shortcut: 'image', title: 'Image', content: image });
  const sent = await gateway.mutate(
    'sendMessage',
    { to, content: { cannedReplyId: media.databaseId } },
    'message { type text }',
  );
  expect(payloadOf(sent).message).toEqual({ type: 'IMAGE', text: 'A' });
});

test('a repetition gets the message that was sent, although the canned reply was changed or deleted since', async () => {
  const { id } = await create({ shortcut: 'gone', title: 'Gone', content: TEXT });
  const input = { to: { phone: '+14155550177' }, content: { cannedReplyId: id }, idempotencyKey: 'canned-gone' };
  const sent = async () =>
    payloadOf(
      await gateway.mutate('sendMessage', input, 'message { databaseId content { ... on TextContent { body } } }'),
    ).message;
  const first = await sent();
  await gateway.mutate('updateCannedReply', { id, content: { text: { body: 'Changed' } } });
  expect(await sent()).toEqual(first);
  await gateway.mutate('deleteCannedReply', { id });
  expect(await sent()).toEqual(first);
});

test('a canned reply that is unknown, of another account, or faulty for the contact is a fault of its id', async () => {
  const other = await gateway.addTenant();
  const input = { shortcut: 'theirs', title: 'Theirs', content: TEXT };
  const theirs = payloadOf(await gateway.mutate('createCannedReply', input, REPLY, other.token)).cannedReply;
  const empty = await create({ shortcut: 'empty', title: 'Empty', content: { text: { body: '@{contact_city}' } } });
  for (const [cannedReplyId, code] of [
    [theirs.id, 'REFERENCE_NOT_FOUND'],
    [theirs.databaseId, 'REFERENCE_NOT_FOUND'],
    ['nonsense', 'REFERENCE_NOT_FOUND'],
    [empty.id, 'UNKNOWN_MERGE_FIELD'],
  ])
    expect(await errorsOf('sendMessage', { to: { phone: '+14155550178' }, content: { cannedReplyId } })).toEqual([
      expect.objectContaining({ code, path: ['content', 'cannedReplyId'] }),
    ]);
});

test('to send a canned reply, a token needs the scope to read it', async () => {
  const { id } = await create({ shortcut: 'scope', title: 'Scope', content: TEXT });
  const token = await gateway.addToken(gateway.tenant, { scopes: ['messages:send', 'messages:read'] });
  const input = { to: { phone: '+14155550179' }, content: { cannedReplyId: id } };
  expect(codeOf(await gateway.mutate('sendMessage', input, 'message { id }', token))).toBe('INSUFFICIENT_SCOPE');
});
