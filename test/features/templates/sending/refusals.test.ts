import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { codeOf, dataOf } from '../../../support/answers.ts';
import type { TestGateway } from '../../../support/gateway.ts';
import { newPhone } from '../../../support/seed.ts';
import { contentFaultsOf } from '../../../support/sending.ts';
import { mediaOf } from '../../messages/content/media/client.ts';
import { JPEG } from '../../messages/content/media/files.ts';
import { ORDER, type Sending, startSending } from '../sending.ts';

let gateway: TestGateway;
let send: Sending['send'];
beforeAll(async () => {
  ({ gateway, send } = await startSending());
});
beforeEach(() => gateway.emulator.resetFaults());
afterAll(() => gateway.stop());

const sent = async (input: object) => dataOf(await send(input)).sendMessage.message;

describe('is rejected before anything is sent, with an error of the field:', () => {
  test.each<[string, object, Record<string, string>]>([
    ['an unknown name', { name: 'nobody' }, { name: 'no template with this name' }],
    [
      'a language that it does not have, with those that it has',
      { ...ORDER, language: 'fr' },
      { language: 'de, en_US' },
    ],
    ['one that is not approved, with its status', { name: 'paused' }, { name: 'PAUSED' }],
    ['a missing value', { ...ORDER, body: ['Ana'] }, { 'body.1': 'Is required' }],
    [
      'all missing values',
      { name: 'order' },
      { 'body.0': 'Is required', 'body.1': 'Is required', 'header.text': 'Is required', 'buttons.1': 'Is required' },
    ],
    [
      'a surplus value',
      { ...ORDER, body: ['a', 'b', 'c', 'd'] },
      { 'body.2': 'one too many', 'body.3': 'one too many' },
    ],
    ['values for a text without variables', { name: 'plain', body: ['a'] }, { 'body.0': 'no variables' }],
    ['an empty value', { ...ORDER, body: ['Ana', ' '] }, { 'body.1': 'Is required' }],
    ['a line break', { ...ORDER, body: ['Ana', 'a\nb'] }, { 'body.1': 'line breaks' }],
    ['a tab', { ...ORDER, header: { text: 'a\tb' } }, { 'header.text': 'tabs' }],
    ['five spaces in a row', { ...ORDER, body: ['Ana', 'a     b'] }, { 'body.1': 'four spaces' }],
    ['a value that is too long', { ...ORDER, body: ['Ana', 'x'.repeat(1_025)] }, { 'body.1': '1024' }],
    ['a header text that is too long', { ...ORDER, header: { text: 'x'.repeat(61) } }, { 'header.text': '60' }],
    ['a header for one without', { name: 'plain', header: { text: 'x' } }, { 'header.text': 'no header' }],
    [
      'a picture for a text header',
      { ...ORDER, header: { image: { link: 'https://x.example/a' } } },
      { 'header.text': 'Is required', 'header.image': 'takes: text' },
    ],
    ['no picture', { name: 'picture' }, { 'header.image': 'Is required' }],
    [
      'a video for a picture',
      { name: 'picture', header: { video: { link: 'https://x.example/a' } } },
      { 'header.image': 'Is required', 'header.video': 'takes: image' },
    ],
    [
      'a picture without link and id',
      { name: 'picture', header: { image: {} } },
      { 'header.image': 'either a link or a mediaId' },
    ],
    [
      'a malformed address',
      { name: 'picture', header: { image: { link: 'ftp://x' } } },
      { 'header.image.link': 'https://' },
    ],
    [
      'a malformed address beside faulty values',
      {
        name: 'picture',
        header: { image: { link: 'ftp://x' } },
        body: ['a'],
        buttons: [{ index: 7, value: 'x' }],
      },
      { 'header.image.link': 'https://', 'body.0': 'no variables', 'buttons.7': 'no such button' },
    ],
    [
      'an upload that does not exist',
      { name: 'picture', header: { image: { mediaId: 'x' } } },
      { 'header.image.mediaId': 'no media' },
    ],
    ['a link without its variable', { ...ORDER, buttons: [] }, { 'buttons.1': 'Is required' }],
    [
      'a value for a phone button',
      { ...ORDER, buttons: [...ORDER.buttons, { index: 2, value: 'x' }] },
      { 'buttons.2': 'takes no value' },
    ],
    [
      'a button that is not there',
      { ...ORDER, buttons: [...ORDER.buttons, { index: 7, value: 'x' }] },
      { 'buttons.7': 'no such button' },
    ],
    ['a button twice', { ...ORDER, buttons: [...ORDER.buttons, ...ORDER.buttons] }, { buttons: 'twice' }],
    [
      'a coupon that is too long',
      { name: 'coupon', buttons: [{ index: 0, value: 'x'.repeat(16) }] },
      { 'buttons.0': '15' },
    ],
    [
      'names for numbers',
      { ...ORDER, body: undefined, bodyByName: [{ name: '1', value: 'x' }] },
      { bodyByName: 'numbered' },
    ],
    [
      'an unknown name of a variable',
      {
        name: 'named',
        header: { text: 'x' },
        bodyByName: [
          { name: 'first_name', value: 'x' },
          { name: 'last', value: 'x' },
        ],
      },
      { 'bodyByName.last': 'no such variable', 'bodyByName.thing': 'Is required' },
    ],
    [
      'a name twice',
      {
        name: 'named',
        header: { text: 'x' },
        bodyByName: ['first_name', 'thing', 'thing'].map(name => ({ name, value: 'x' })),
      },
      { 'bodyByName.thing': 'twice' },
    ],
    [
      'names and order together',
      {
        name: 'named',
        header: { text: 'x' },
        body: ['a'],
        bodyByName: ['first_name', 'thing'].map(name => ({ name, value: 'x' })),
      },
      { bodyByName: 'not both' },
    ],
    ['a code that is too long', { name: 'code', body: ['1'.repeat(16)] }, { 'body.0': '15' }],
    [
      'a button with another code',
      { name: 'code', body: ['123456'], buttons: [{ index: 0, value: '654321' }] },
      { 'buttons.0': 'the code itself' },
    ],
  ])('%s', async (_what, input, expected) => {
    const before = await gateway.database.query('select count(*)::int as n from messages');
    const faults = contentFaultsOf(await send(input));
    expect(Object.keys(faults).sort()).toEqual(Object.keys(expected).sort());
    for (const [field, words] of Object.entries(expected)) expect(faults[field]?.join()).toContain(words);
    expect(await gateway.database.query('select count(*)::int as n from messages')).toEqual(before);
  });

  test('no channel, or an unknown channel', async () => {
    const { token } = await gateway.addTenant({ channel: false });
    expect(codeOf(await send({ name: 'plain' }, token))).toBe('MESSAGING_NOT_CONFIGURED');
    expect(codeOf(await send({ name: 'plain', channelId: '999999' }))).toBe('NOT_FOUND');
  });

  test('a contact who opted out', async () => {
    const to = newPhone();
    await sent({ name: 'plain', to });
    await gateway.database.query('update contacts set opted_out_at = now() where phone = $1', [to]);
    expect(codeOf(await send({ name: 'plain', to }))).toBe('CONTACT_OPTED_OUT');
  });

  test('a plan without templates', async () => {
    const tenant = await gateway.addTenant({ plan: 'starter' });
    await gateway.database.query(
      "update plans set features = array_remove(features, 'templates') where name = 'starter'",
    );
    const answer = await send({ name: 'plain' }, tenant.token);
    expect(codeOf(answer)).toBe('FEATURE_NOT_AVAILABLE');
  });
});

test('a header is not scheduled for a time at which the network has deleted its upload', async () => {
  const header = { image: { mediaId: await mediaOf(gateway).uploaded(JPEG) } };
  const schedule = (days: number) =>
    gateway.mutate(
      'sendMessage',
      {
        to: { phone: newPhone() },
        content: { template: { name: 'picture', language: 'en_US', header } },
        scheduledAt: { instant: new Date(Date.now() + days * 86_400_000).toISOString() },
      },
      'message { status }',
    );
  expect(contentFaultsOf(await schedule(60))).toEqual({
    'header.image.mediaId': [expect.stringContaining('The network deletes the upload at ')],
  });
  expect(dataOf(await schedule(20)).sendMessage.message).toEqual({ status: 'SCHEDULED' });
});
