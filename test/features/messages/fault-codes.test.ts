import { afterAll, beforeAll, expect, test } from 'vitest';
import { userErrorsOf } from '../../support/answers.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';

/** Each fault of a content has the code that says what is wrong, so that a form can react without reading the message. */

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway({
    templates: [
      {
        name: 'shipped',
        language: 'en',
        category: 'UTILITY',
        components: [
          { type: 'HEADER', format: 'IMAGE' },
          { type: 'BODY', text: 'Hello {{1}}, {{2}} is on its way.' },
          { type: 'BUTTONS', buttons: [{ type: 'URL', text: 'Track', url: 'https://shop.example/{{1}}' }] },
        ],
      },
      {
        name: 'paused',
        language: 'en',
        category: 'UTILITY',
        status: 'PAUSED',
        components: [{ type: 'BODY', text: 'x' }],
      },
    ],
  });
  expect((await gateway.rest('POST', '/templates/sync')).status).toBe(200);
});
afterAll(() => gateway.stop());

const long = (length: number): string => 'x'.repeat(length);
const buttons = (...titles: string[]) => ({
  interactive: { body: 'Shall we?', buttons: titles.map(title => ({ replyId: 'same', title })) },
});

test.each<[string, object, Record<string, string>]>([
  [
    'a template without its values',
    { template: { name: 'shipped', language: 'en' } },
    {
      'template.header.image': 'REQUIRED',
      'template.body.0': 'REQUIRED',
      'template.body.1': 'REQUIRED',
      'template.buttons.0': 'REQUIRED',
    },
  ],
  [
    'a template with more than it has',
    {
      template: {
        name: 'shipped',
        language: 'en',
        header: { image: { link: 'https://x.example/y.jpg' }, text: 'x' },
        body: ['Ana', ' ', 'more'],
        buttons: [
          { index: 0, value: '1' },
          { index: 3, value: 'x' },
        ],
      },
    },
    {
      'template.header.text': 'SURPLUS',
      'template.body.1': 'REQUIRED',
      'template.body.2': 'SURPLUS',
      'template.buttons.3': 'SURPLUS',
    },
  ],
  [
    'a template that does not exist',
    { template: { name: 'none', language: 'en' } },
    { 'template.name': 'REFERENCE_NOT_FOUND' },
  ],
  [
    'a template in another language',
    { template: { name: 'shipped', language: 'de' } },
    { 'template.language': 'REFERENCE_NOT_FOUND' },
  ],
  [
    'a template that is not approved',
    { template: { name: 'paused', language: 'en' } },
    { 'template.name': 'NOT_APPROVED' },
  ],
  ['a text that is empty', { text: { body: ' ' } }, { 'text.body': 'REQUIRED' }],
  ['a text that is too long', { text: { body: long(4_097) } }, { 'text.body': 'TOO_LONG' }],
  ['an unknown merge field', { text: { body: '@{nope}' } }, { 'text.body': 'UNKNOWN_MERGE_FIELD' }],
  ['an empty merge field', { text: { body: '@{contact_company}' } }, { 'text.body': 'UNKNOWN_MERGE_FIELD' }],
  [
    'a caption and a name that audio cannot have',
    { media: { kind: 'AUDIO', file: { link: 'https://x.example/y.mp3' }, caption: 'x', filename: 'y' } },
    { 'media.caption': 'SURPLUS', 'media.filename': 'SURPLUS' },
  ],
  [
    'a file that does not exist',
    { media: { kind: 'IMAGE', file: { mediaId: '01940000-0000-7000-8000-000000000000' } } },
    { 'media.file.mediaId': 'REFERENCE_NOT_FOUND' },
  ],
  [
    'a link that is too long',
    { media: { kind: 'IMAGE', file: { link: `https://x.example/${long(5_000)}` } } },
    { 'media.file.link': 'TOO_LONG' },
  ],
  [
    'buttons that are too many, too long and equal',
    buttons('One', 'Two', long(21), 'Four'),
    {
      'interactive.buttons': 'TOO_MANY',
      'interactive.buttons.1.replyId': 'TAKEN',
      'interactive.buttons.2.replyId': 'TAKEN',
      'interactive.buttons.2.title': 'TOO_LONG',
      'interactive.buttons.3.replyId': 'TAKEN',
    },
  ],
  ['a message without a choice', { interactive: { body: 'x' } }, { 'interactive.buttons': 'REQUIRED' }],
])('%s', async (_name, content, expected) => {
  const answer = await gateway.mutate('sendMessage', { to: { phone: '+4915112340090' }, content }, 'message { id }');
  expect(Object.fromEntries(userErrorsOf(answer).map(({ path, code }) => [path.slice(1).join('.'), code]))).toEqual(
    expected,
  );
});
