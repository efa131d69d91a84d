import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { dataOf, faultsOf, userErrorsOf } from '../../../support/answers.ts';
import { startGateway, type TestGateway } from '../../../support/gateway.ts';
import { seedOf } from '../../../support/seed.ts';

let gateway: TestGateway;
let known: { readonly id: number; readonly phone: string };
beforeAll(async () => {
  gateway = await startGateway();
  known = await seedOf(gateway).contact({ firstName: '' });
});
afterAll(() => gateway.stop());

const send = (input: object) => gateway.mutate('sendMessage', input, 'message { id }');
const NEW = '+4915733330001';
const LONG = 'x'.repeat(300);
const PAST = { instant: '2020-01-01T00:00:00Z' };
const text = (body: string) => ({ text: { body } });

/** Inputs with several faults, and the fields in which they are. */
const FAULTY: readonly [string, object, readonly string[]][] = [
  ['number and text', { to: { phone: 'x' }, content: text('') }, ['content.text.body', 'to.phone']],
  [
    'number, key, contact, time and text',
    {
      to: { phone: 'x' },
      echoId: LONG,
      contact: { email: 'x', zip: LONG },
      scheduledAt: PAST,
      content: text('@{nobody}'),
    },
    ['contact.email', 'contact.zip', 'content.text.body', 'echoId', 'scheduledAt.instant', 'to.phone'],
  ],
  [
    'a new contact, its references and the time, with good text',
    { to: { phone: NEW }, contact: { email: 'x', statusId: '999999' }, scheduledAt: PAST, content: text('Hi') },
    ['contact.email', 'contact.statusId', 'scheduledAt.instant'],
  ],
  [
    'an empty merge field and a time, of a known contact whose given details are not looked at',
    { to: { phone: 'known' }, contact: { email: 'x' }, scheduledAt: PAST, content: text('Hi @{contact_first_name}') },
    ['content.text.body', 'scheduledAt.instant'],
  ],
  [
    'number and file',
    { to: { phone: 'x' }, content: { media: { kind: 'AUDIO', file: { link: 'x' }, caption: 'x' } } },
    ['content.media.caption', 'content.media.file.link', 'to.phone'],
  ],
  [
    'number and upload',
    {
      to: { phone: 'x' },
      content: { media: { kind: 'IMAGE', file: { mediaId: '01a206fb-8882-71e2-81d5-bab610e116d6' } } },
    },
    ['content.media.file.mediaId', 'to.phone'],
  ],
  [
    'conversation and template',
    { to: { conversationId: '999999' }, content: { template: { name: 'none', language: 'en' } } },
    ['content.template.name', 'to.conversationId'],
  ],
  [
    'user id, quoted message, expected message and buttons',
    {
      to: { phone: NEW },
      replyToId: '1',
      expectedLastMessageId: '1',
      content: { interactive: { body: '', buttons: [] } },
    },
    ['content.interactive.body', 'content.interactive.buttons', 'expectedLastMessageId', 'replyToId'],
  ],
  [
    'ids of contact and channel, and the text',
    { to: { phone: NEW }, expectedContactId: 'x', channelId: 'y', content: text('') },
    ['channelId', 'content.text.body', 'expectedContactId'],
  ],
];

const named = (input: object) => JSON.parse(JSON.stringify(input).replaceAll('"known"', JSON.stringify(known.phone)));

describe('all faults of a message are reported at once', () => {
  test.each(FAULTY)('%s', async (_name, input, fields) => {
    const before = dataOf(await gateway.graphql('{ messages { totalCount } contacts { totalCount } }'));
    expect(Object.keys(faultsOf(await send(named(input)))).sort()).toEqual([...fields].sort());
    const again = await send({ ...named(input), idempotencyKey: 'all-faults' });
    expect(Object.keys(faultsOf(again)).sort()).toEqual([...fields].sort());
    expect(dataOf(await gateway.graphql('{ messages { totalCount } contacts { totalCount } }'))).toEqual(before);
  });

  test.each(['CONTINUE', 'ROLL_BACK'])('of each message of a batch, with %s', async onError => {
    const messages = FAULTY.map(([, input]) => named(input));
    const answer = await gateway.mutate(
      'sendMessages',
      { messages, onError },
      'results { outcome userErrors { path } }',
    );
    const { results } = answer.data.sendMessages;
    expect(
      results.map(({ userErrors }: { userErrors: { path: string[] }[] }) =>
        [...new Set(userErrors.map(({ path }) => path.slice(2).join('.')))].sort(),
      ),
    ).toEqual(FAULTY.map(([, , fields]) => [...fields].sort()));
  });

  test('no fault is reported twice', async () => {
    const errors = userErrorsOf(await send({ to: { phone: 'x' }, content: text('') }));
    expect(errors.map(({ path }) => path.join('.')).sort()).toEqual(['content.text.body', 'to.phone']);
  });
});
