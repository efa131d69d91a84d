import { afterAll, beforeAll, expect, test } from 'vitest';
import { codeOf, dataOf, payloadOf } from '../../../../support/answers.ts';
import { eventually, startGateway, type TestGateway } from '../../../../support/gateway.ts';
import { contentFaultsOf, sendAs } from '../../../../support/sending.ts';

let gateway: TestGateway;
beforeAll(async () => {
  // A 'delivered' that overtakes 'sent' could be the answer to a send that waits.
  gateway = await startGateway({ emulator: { faults: { window: 'open', webhookConnections: 1 } } });
});
afterAll(() => gateway.stop());

const BUTTONS = [
  { id: 'yes', title: 'Yes' },
  { id: 'no', title: 'No' },
];
const SECTIONS = [
  { title: 'Cold', rows: [{ id: 'ice', title: 'Ice cream', description: 'Vanilla' }] },
  { title: 'Warm', rows: [{ id: 'pie', title: 'Apple pie' }] },
];

interface Choice {
  readonly id: string;
  readonly title: string;
  readonly description?: string;
}
const choiceOf = ({ id, ...choice }: Choice) => ({ replyId: id, ...choice });
interface Choices {
  readonly buttons?: readonly Choice[];
  readonly list?: {
    readonly button: string;
    readonly sections: readonly { readonly title?: string; readonly rows: readonly Choice[] }[];
  };
}
/** REST names the identifier of a choice `id`, GraphQL `replyId`. */
const named = <Input extends Choices>({ buttons, list, ...input }: Input) => ({
  ...input,
  ...(buttons && { buttons: buttons.map(choiceOf) }),
  ...(list && { list: { ...list, sections: list.sections.map(one => ({ ...one, rows: one.rows.map(choiceOf) })) } }),
});
const graphql = (input: Choices & Record<string, unknown>, token?: string) =>
  sendAs(gateway, 'interactive', named(input), 'id databaseId type: networkType text content: raw wamid status', token);
const lastSent = () => gateway.emulator.sent({ limit: 1 }).messages.at(-1);

test('buttons are sent to the network as given, with merge fields filled', async () => {
  const { message } = payloadOf(
    await graphql({
      to: '+14155550201',
      contact: { firstName: 'Ana' },
      body: 'Shall we, @{contact_first_name}?',
      header: 'Tonight',
      footer: 'Your @{contact_first_name}',
      buttons: BUTTONS,
      waitForAcceptance: true,
    }),
  );
  const interactive = {
    type: 'button',
    header: { type: 'text', text: 'Tonight' },
    body: { text: 'Shall we, Ana?' },
    footer: { text: 'Your Ana' },
    action: { buttons: BUTTONS.map(reply => ({ type: 'reply', reply })) },
  };
  expect(message).toMatchObject({ type: 'interactive', text: 'Shall we, Ana?', content: interactive });
  expect(lastSent()).toMatchObject({ type: 'interactive', content: interactive });
});

test('a choice arrives as a reply to the message, with the chosen id', async () => {
  const { message: asked } = payloadOf(
    await graphql({
      to: '+14155550202',
      body: 'What will it be?',
      list: { button: 'Menu', sections: SECTIONS },
      waitForAcceptance: true,
    }),
  );
  const from = '+14155550202';
  const { phoneNumberId } = gateway.tenant;
  gateway.emulator.inbound({
    type: 'interactive',
    from,
    phoneNumberId,
    listReply: { id: 'ice', title: 'Ice cream', description: 'Vanilla' },
    replyTo: asked.wamid,
  });
  gateway.emulator.inbound({
    type: 'interactive',
    from,
    phoneNumberId,
    buttonReply: { id: 'yes', title: 'Yes' },
    replyTo: asked.wamid,
  });
  await eventually(async () => {
    const { messages } = dataOf(
      await gateway.graphql(
        `{ messages(filter: { direction: { eq: INBOUND } }, first: 2) { nodes { type: networkType text content { ... on ReplyContent { replyId title description } } replyTo { id } } } }`,
      ),
    );
    expect(messages.nodes).toEqual(
      expect.arrayContaining([
        {
          type: 'interactive',
          text: 'Ice cream',
          content: { replyId: 'ice', title: 'Ice cream', description: 'Vanilla' },
          replyTo: { id: asked.id },
        },
        {
          type: 'interactive',
          text: 'Yes',
          content: { replyId: 'yes', title: 'Yes', description: null },
          replyTo: { id: asked.id },
        },
      ]),
    );
  });
});

test('a header may have 60 characters of any encoded length', async () => {
  const input = { to: '+14155550207', body: 'Hi', buttons: BUTTONS };
  dataOf(await graphql({ ...input, header: '👍'.repeat(60), waitForAcceptance: true }));
  expect(codeOf(await graphql({ ...input, header: '👍'.repeat(61) }))).toBe('VALIDATION_ERROR');
});

test('errors are reported by field, and nothing is stored', async () => {
  const count = async () => dataOf(await gateway.graphql('{ messages { totalCount } contacts { totalCount } }'));
  const before = await count();
  const answer = await graphql({ to: '+14155550203', body: ' ', buttons: [{ id: 'a', title: 'x'.repeat(21) }] });
  expect(codeOf(answer)).toBe('VALIDATION_ERROR');
  expect(contentFaultsOf(answer)).toEqual({
    body: ['Is required.'],
    'buttons.0.title': ['May have at most 20 characters.'],
  });
  const unnamed = await graphql({ to: '+14155550203', body: 'Hi', buttons: [{ id: ' ', title: 'A' }] });
  expect(contentFaultsOf(unnamed)).toEqual({ 'buttons.0.replyId': ['Is required.'] });
  const rows = [{ id: 'x'.repeat(201), title: 'A' }];
  const long = await graphql({ to: '+14155550203', body: 'Hi', list: { button: 'Menu', sections: [{ rows }] } });
  expect(contentFaultsOf(long)).toEqual({ 'list.sections.0.rows.0.replyId': ['May have at most 200 characters.'] });
  const longer = { to: '+14155550203', body: 'x'.repeat(1_025) };
  expect(codeOf(await graphql({ ...longer, buttons: BUTTONS }))).toBe('VALIDATION_ERROR');
  expect(await count()).toEqual(before);
  dataOf(await graphql({ ...longer, list: { button: 'Menu', sections: SECTIONS } }));
});

test('REST sends the same, with the field names of its contract', async () => {
  const send = (body: object) => gateway.rest('POST', '/messages/interactive', { phone: '14155550204', ...body });
  const button = await send({ type: 'button', body_text: 'Shall we?', footer_text: 'Tonight', buttons: BUTTONS });
  expect(button.status).toBe(200);
  expect((await button.json()).data).toMatchObject({
    message_id: expect.stringMatching(/^wamid\./),
    phone: '14155550204',
    status: 'sent',
    type: 'button',
    body_text: 'Shall we?',
    footer_text: 'Tonight',
    buttons: BUTTONS,
  });
  const list = await send({ type: 'list', body_text: 'What?', list_button_text: 'Menu', sections: SECTIONS });
  expect((await list.json()).data).toMatchObject({ type: 'list', list_button_text: 'Menu', sections: SECTIONS });
  const link = await send({
    type: 'cta_url',
    body_text: 'Look',
    cta_url: { display_text: 'Open', url: 'https://example.com/a' },
  });
  expect((await link.json()).data).toMatchObject({ cta_url: { display_text: 'Open', url: 'https://example.com/a' } });
  expect(lastSent()).toMatchObject({
    content: { action: { name: 'cta_url', parameters: { display_text: 'Open', url: 'https://example.com/a' } } },
  });
});

test.each<[string, object, string[]]>([
  ['a missing type', { body_text: 'Hi' }, ['type']],
  ['an unknown type', { type: 'carousel', body_text: 'Hi' }, ['type']],
  ['missing buttons', { type: 'button', body_text: 'Hi' }, ['buttons']],
  ['a missing link', { type: 'cta_url', body_text: 'Hi' }, ['cta_url.display_text', 'cta_url.url']],
  ['a button without a title', { type: 'button', body_text: 'Hi', buttons: [{ id: 'a' }] }, ['buttons.0.title']],
  ['a button that is not an object', { type: 'button', body_text: 'Hi', buttons: ['yes'] }, ['buttons.0']],
  [
    'a long title',
    { type: 'button', body_text: 'Hi', buttons: [{ id: 'a', title: 'x'.repeat(21) }] },
    ['buttons.0.title'],
  ],
  ['a long id', { type: 'button', body_text: 'Hi', buttons: [{ id: 'x'.repeat(257), title: 'A' }] }, ['buttons.0.id']],
  [
    'the same id twice',
    { type: 'button', body_text: 'Hi', buttons: ['A', 'B'].map(title => ({ id: 'a', title })) },
    ['buttons.1.id'],
  ],
  ['a long body', { type: 'button', body_text: 'x'.repeat(1_025), buttons: BUTTONS }, ['body_text']],
  [
    'a long header',
    { type: 'button', body_text: 'Hi', header_text: 'x'.repeat(61), buttons: BUTTONS },
    ['header_text'],
  ],
  [
    'a long list button',
    { type: 'list', body_text: 'Hi', list_button_text: 'x'.repeat(21), sections: SECTIONS },
    ['list_button_text'],
  ],
  [
    'a long row title',
    {
      type: 'list',
      body_text: 'Hi',
      list_button_text: 'Menu',
      sections: [{ rows: [{ id: 'a', title: 'x'.repeat(25) }] }],
    },
    ['sections.0.rows.0.title'],
  ],
  ['a link without an address', { type: 'cta_url', body_text: 'Hi', cta_url: { display_text: 'Go' } }, ['cta_url.url']],
  [
    'a link that is no address',
    { type: 'cta_url', body_text: 'Hi', cta_url: { display_text: 'Go', url: 'x' } },
    ['cta_url.url'],
  ],
])('REST names %s', async (_what, body, fields) => {
  const answer = await gateway.rest('POST', '/messages/interactive', { phone: '14155550205', ...body });
  expect(answer.status).toBe(422);
  const { error } = await answer.json();
  expect(error.code).toBe('VALIDATION_ERROR');
  expect(Object.keys(error.details)).toEqual(fields);
});

test('a plan without interactive messages rejects them', async () => {
  await gateway.database.query(`insert into plans (name, calls_per_minute, features) values ('plain', 6000, '{}')`);
  const tenant = await gateway.addTenant({ plan: 'plain' });
  const answer = await graphql({ to: '+14155550206', body: 'Hi', buttons: BUTTONS }, tenant.token);
  expect(codeOf(answer)).toBe('FEATURE_NOT_AVAILABLE');
});
