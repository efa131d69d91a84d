import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { encodeGlobalId } from '../../../../../src/core/global-ids.ts';
import { MAX_LINK } from '../../../../../src/features/messages/content/media/send-media.ts';
import { DAY } from '../../../../../src/platform/clock.ts';
import { codeOf, dataOf, faultsOf } from '../../../../support/answers.ts';
import { eventually, startGateway, type TestGateway } from '../../../../support/gateway.ts';
import { contentFaultsOf, sendAs } from '../../../../support/sending.ts';
import { type MediaClient, mediaOf } from './client.ts';
import { ANIMATED_WEBP, JPEG, MP3, PDF, padded, WEBP } from './files.ts';

let gateway: TestGateway;
let media: MediaClient;
beforeAll(async () => {
  // A 'delivered' that overtakes 'sent' could be the answer to a send that waits.
  gateway = await startGateway({ emulator: { faults: { webhookConnections: 1 } } });
  media = mediaOf(gateway);
});
afterAll(() => gateway.stop());
afterEach(() => gateway.emulator.resetFaults());

const SHOWN =
  'databaseId type: networkType text status content: raw error { code details } media { mediaId path url link isAvailable mimeType filename size sha256 }';
const send = (input: object, token?: string) => sendAs(gateway, 'media', input, SHOWN, token);
const sent = async (input: object) => dataOf(await send(input)).sendMessage.message;
const shown = async (id: string) =>
  dataOf(await gateway.graphql(`query ($id: ID!) { message(id: $id) { ${SHOWN} } }`, { id })).message;

let last = 0;
/** A person who has just written, so that the window is open. */
async function person(): Promise<string> {
  last += 1;
  const phone = `+4915230${String(last).padStart(6, '0')}`;
  gateway.emulator.inbound({ from: phone, text: 'Hi', profileName: 'Ana Silva' });
  await eventually(async () => {
    const { contacts } = dataOf(
      await gateway.graphql('query ($s: String) { contacts(search: $s) { totalCount } }', { s: phone }),
    );
    expect(contacts.totalCount).toBe(1);
  });
  return phone;
}

const LINK = 'https://example.com/files/photo.jpg?size=large';

describe('a link', () => {
  test('is sent to the network unchanged, with its merged caption', async () => {
    const to = await person();
    const message = await sent({
      to,
      kind: 'IMAGE',
      link: LINK,
      caption: 'For @{contact_first_name}',
      waitForAcceptance: true,
    });
    expect(message).toMatchObject({
      type: 'image',
      text: 'For Ana',
      status: 'SENT',
      content: { link: LINK, caption: 'For Ana' },
      media: { path: LINK, url: LINK, link: LINK, isAvailable: true, mediaId: null, mimeType: null, size: null },
    });
    expect(gateway.emulator.sent().messages.at(-1)).toMatchObject({ type: 'image', body: 'For Ana' });
  });

  test('to another kind of content fails later, with the network’s error code', async () => {
    const message = await sent({ to: await person(), kind: 'VIDEO', link: 'https://example.com/page.html' });
    const failed = await eventually(async () => {
      const now = await shown(message.databaseId);
      expect(now.status).toBe('FAILED');
      return now;
    });
    expect(failed.error).toMatchObject({ code: 131053, details: expect.stringContaining('mime type') });
  });

  test('is not served by us', async () => {
    const message = await sent({ to: await person(), kind: 'IMAGE', link: LINK });
    expect((await media.get(message.databaseId)).status).toBe(404);
  });
});

describe('a sticker', () => {
  test('is uploaded, sent without a caption, and shown with its kind', async () => {
    const mediaId = await media.uploaded(WEBP, { kind: 'STICKER' });
    const sticker = { to: await person(), kind: 'STICKER', mediaId, waitForAcceptance: true };
    const answer = await sendAs(
      gateway,
      'media',
      sticker,
      'databaseId type text status content { ... on MediaContent { caption media { kind mimeType isAvailable } } }',
    );
    expect(dataOf(answer).sendMessage.message).toEqual({
      databaseId: expect.any(String),
      type: 'STICKER',
      text: null,
      status: 'SENT',
      content: { caption: null, media: { kind: 'STICKER', mimeType: 'image/webp', isAvailable: true } },
    });
    expect(gateway.emulator.sent().messages.at(-1)).toMatchObject({
      type: 'sticker',
      content: { id: expect.any(String) },
    });
    const shownFile = await media.get(dataOf(answer).sendMessage.message.databaseId);
    expect([shownFile.status, shownFile.headers.get('content-type')]).toEqual([200, 'image/webp']);
  });

  test('has at most 100 KB if it is still and 500 KB if it is animated, and must be WebP', async () => {
    const put = async (file: Buffer) => media.put(await media.place({ kind: 'STICKER' }), file);
    expect((await put(padded(WEBP, 101 * 1024))).body.error.details).toEqual({
      file: ['The file is a still WebP image and larger than 100 KB, the limit of its kind.'],
    });
    expect((await put(padded(ANIMATED_WEBP, 101 * 1024))).status).toBe(201);
    expect((await put(padded(ANIMATED_WEBP, 501 * 1024))).body.error.details).toEqual({
      file: ['The file is an animated WebP image and larger than 500 KB, the limit of its kind.'],
    });
    expect((await put(JPEG)).body.error.details).toEqual({
      file: ['The file is a JPEG image: a sticker must be WebP.'],
    });
  });
});

describe('an upload', () => {
  test('is sent by its id, global or bare, and served with its message', async () => {
    const to = await person();
    const id = await media.uploaded(PDF, { filename: 'invoice.pdf' });
    for (const mediaId of [id, id.toUpperCase(), encodeGlobalId('Media', gateway.tenant.id, id)]) {
      const message = await sent({ to, kind: 'DOCUMENT', mediaId, caption: 'Here', waitForAcceptance: true });
      expect(message).toMatchObject({
        type: 'document',
        text: 'Here',
        status: 'SENT',
        content: { id: expect.stringMatching(/^\d+$/), caption: 'Here', filename: 'invoice.pdf' },
        media: {
          mediaId: encodeGlobalId('Media', gateway.tenant.id, id),
          path: `/media/${message.databaseId}`,
          link: null,
          isAvailable: true,
          mimeType: 'application/pdf',
          filename: 'invoice.pdf',
          size: PDF.length,
        },
      });
      const fetched = await media.get(message.databaseId);
      expect(Buffer.from(await fetched.arrayBuffer()).equals(PDF)).toBe(true);
      expect(fetched.headers.get('content-type')).toBe('application/pdf');
    }
  });

  test('can be sent under another file name', async () => {
    const mediaId = await media.uploaded(PDF, { filename: 'x1.pdf' });
    const message = await sent({ to: await person(), kind: 'DOCUMENT', mediaId, filename: 'Invoice 4711.pdf' });
    expect(message.content).toMatchObject({ filename: 'Invoice 4711.pdf' });
    expect(message.media.filename).toBe('Invoice 4711.pdf');
  });

  test('without a caption, or with an empty merged caption, has no text', async () => {
    const mediaId = await media.uploaded(MP3);
    expect(await sent({ to: await person(), kind: 'AUDIO', mediaId })).toMatchObject({
      text: null,
      content: { id: expect.anything() },
    });
    const picture = await media.uploaded(JPEG);
    const message = await sent({ to: await person(), kind: 'IMAGE', mediaId: picture, caption: '@{contact_company|}' });
    expect(message).toMatchObject({ text: null });
    expect(message.content).not.toHaveProperty('caption');
  });

  test('is sent from the channel that it was uploaded for', async () => {
    const id = await media.uploaded(JPEG);
    const [row] = await gateway.database.query<{ channel_id: string }>('select channel_id from media where id = $1', [
      id,
    ]);
    const message = await sent({ to: await person(), kind: 'IMAGE', mediaId: id, channelId: row?.channel_id });
    expect(message.type).toBe('image');
    const [channel] = await gateway.database.query<{ id: string }>(
      `insert into channels (tenant_id, name, phone_number_id, waba_id, display_phone_number, access_token_sealed, app_secret_sealed, verify_token_hash)
       select tenant_id, 'second', 'second', waba_id, display_phone_number, access_token_sealed, app_secret_sealed, verify_token_hash
       from channels where tenant_id = $1 limit 1 returning id`,
      [gateway.tenant.id],
    );
    const refused = await send({ to: await person(), kind: 'IMAGE', mediaId: id, channelId: channel?.id });
    expect(contentFaultsOf(refused)).toEqual({ 'file.mediaId': ['It was uploaded for another channel.'] });
    await gateway.database.query('delete from channels where id = $1', [channel?.id]);
  });
});

describe('is rejected by field, and nothing is written', () => {
  const count = async () =>
    Number((await gateway.database.query<{ n: string }>('select count(*) as n from messages'))[0]?.n);
  const TO = '+4915239999999';
  test.each([
    ['a malformed link', { kind: 'IMAGE', link: 'photo.jpg' }, 'file.link'],
    ['a link to a file of the machine', { kind: 'IMAGE', link: 'file:///etc/passwd' }, 'file.link'],
    ['a link with a script', { kind: 'IMAGE', link: 'javascript:alert(1)' }, 'file.link'],
    ['a link with a password', { kind: 'IMAGE', link: 'https://a:b@example.com/x.jpg' }, 'file.link'],
    ['a link with a line break', { kind: 'IMAGE', link: 'https://example.com/\nx.jpg' }, 'file.link'],
    ['a link beyond all measure', { kind: 'IMAGE', link: `https://example.com/${'x'.repeat(MAX_LINK)}` }, 'file.link'],
    ['a caption on audio', { kind: 'AUDIO', link: LINK, caption: 'x' }, 'caption'],
    ['a caption too long', { kind: 'IMAGE', link: LINK, caption: 'x'.repeat(1_025) }, 'caption'],
    ['an unknown merge field', { kind: 'IMAGE', link: LINK, caption: '@{contact_shoe_size}' }, 'caption'],
    ['a file name on an image', { kind: 'IMAGE', link: LINK, filename: 'a.jpg' }, 'filename'],
    ['a file name too long', { kind: 'DOCUMENT', link: LINK, filename: 'x'.repeat(256) }, 'filename'],
    [
      'an upload that does not exist',
      { kind: 'IMAGE', mediaId: '01890000-0000-7000-8000-000000000000' },
      'file.mediaId',
    ],
    ['a caption on a sticker', { kind: 'STICKER', link: LINK, caption: 'x' }, 'caption'],
    ['a file name on a sticker', { kind: 'STICKER', link: LINK, filename: 'a.webp' }, 'filename'],
    ['an id of another form', { kind: 'IMAGE', mediaId: '42' }, 'file.mediaId'],
  ])('%s', async (_what, input, field) => {
    const before = await count();
    expect(Object.keys(contentFaultsOf(await send({ to: TO, ...input })))).toEqual([field]);
    expect(await count()).toBe(before);
  });

  test('an upload that is pending, of another kind, expired, or of another tenant', async () => {
    const other = mediaOf(gateway, (await gateway.addTenant()).token);
    const [place, picture, old, theirs] = [
      await media.place(),
      await media.uploaded(JPEG),
      await media.uploaded(JPEG),
      await other.uploaded(JPEG),
    ];
    await gateway.database.query("update media set expires_at = now() + interval '1 hour' where id = $1", [old]);
    for (const [mediaId, kind, words] of [
      [place, 'IMAGE', /not been uploaded/],
      [picture, 'DOCUMENT', /image\/jpeg: that is sent as image/],
      [old, 'IMAGE', /expired/],
      [theirs, 'IMAGE', /no media with this id/],
    ] as const) {
      expect(contentFaultsOf(await send({ to: TO, kind, mediaId }))).toEqual({
        'file.mediaId': [expect.stringMatching(words)],
      });
    }
  });

  test('an upload that the network will have deleted when the message is sent, also when that is rescheduled', async () => {
    const mediaId = await media.uploaded(JPEG);
    const later = (days: number) => ({ instant: new Date(Date.now() + days * DAY).toISOString() });
    const schedule = (days: number, file: object = { mediaId }) =>
      gateway.mutate(
        'sendMessage',
        { to: { phone: TO }, content: { media: { kind: 'IMAGE', file } }, scheduledAt: later(days) },
        'message { databaseId status }',
      );
    const message = /^The network deletes the upload at 20\d\d-.*Z: schedule the message for at least a day before/;
    for (const days of [60, 29.5])
      expect(contentFaultsOf(await schedule(days))).toEqual({ 'file.mediaId': [expect.stringMatching(message)] });
    for (const sent of [await schedule(28), await schedule(60, { link: LINK })])
      expect(dataOf(sent).sendMessage.message).toMatchObject({ status: 'SCHEDULED' });
    const { databaseId: id } = dataOf(await schedule(20)).sendMessage.message;
    const move = (days: number) =>
      gateway.mutate('rescheduleMessage', { id, scheduledAt: later(days) }, 'message { status }');
    expect(faultsOf(await move(60))).toEqual({ 'scheduledAt.instant': [expect.stringMatching(message)] });
    expect(dataOf(await move(25)).rescheduleMessage.message).toEqual({ status: 'SCHEDULED' });
  });

  test.each([['neither link nor upload', {}] as const, ['both', { link: LINK, mediaId: 'x' }] as const])(
    '%s',
    async (_what, file) => {
      const before = await count();
      const { errors } = await send({ to: TO, kind: 'IMAGE', ...file });
      expect(errors?.[0]?.extensions.code).toBe('BAD_USER_INPUT');
      expect(await count()).toBe(before);
    },
  );

  test('all errors are reported at once', async () => {
    const answer = await send({ to: TO, kind: 'AUDIO', link: 'x', caption: 'x', filename: 'x' });
    expect(Object.keys(contentFaultsOf(answer)).sort()).toEqual(['caption', 'file.link', 'filename']);
  });
});

test('a repeated request with its idempotency key returns the same message, also when its upload has expired', async () => {
  const to = await person();
  const mediaId = await media.uploaded(JPEG);
  const input = { to, kind: 'IMAGE', mediaId, idempotencyKey: 'once' };
  const { databaseId } = await sent(input);
  expect((await sent(input)).databaseId).toBe(databaseId);
  await gateway.database.query("update media set expires_at = now() - interval '1 second' where id = $1", [mediaId]);
  expect((await sent(input)).databaseId).toBe(databaseId);
  expect(Object.keys(contentFaultsOf(await send({ ...input, idempotencyKey: 'new' })))).toEqual(['file.mediaId']);
  expect(codeOf(await send({ ...input, caption: 'other' }))).toBe('IDEMPOTENCY_MISMATCH');
});

test('a list of messages reads all uploads in one statement', async () => {
  const to = await person();
  for (let i = 0; i < 3; i += 1) await sent({ to, kind: 'IMAGE', mediaId: await media.uploaded(JPEG) });
  const list = (fields: string) => gateway.graphql(`{ messages(first: 20) { nodes { media { ${fields} } } } }`);
  // Not those of the sends and of sweeps, which go on meanwhile.
  const reads = () => gateway.statements.filter(text => text.includes('f.network_media_id = r.network_id'));
  gateway.statements.length = 0;
  dataOf(await list('url isAvailable mimeType size sha256'));
  expect(reads()).toHaveLength(1);
  gateway.statements.length = 0;
  dataOf(await list('kind path url expiresAt link'));
  expect(reads()).toEqual([]);
});
