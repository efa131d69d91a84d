import { createHash } from 'node:crypto';
import { access, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import sharp from 'sharp';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eraseContacts } from '../../../../../src/features/contacts/erasure/erase.ts';
import { deleteUnusedContents } from '../../../../../src/features/messages/content/media/keeping/sweep.ts';
import { COMMAND_LINE } from '../../../../../src/features/tenancy/audit/author.ts';
import { dataOf } from '../../../../support/answers.ts';
import { eventually, startGateway, type TestGateway } from '../../../../support/gateway.ts';
import { startSecondGateway } from '../../../../support/second-gateway.ts';
import { PDF } from './files.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.stop());

let last = 0;
/** A person sends a file. @returns its message, when the file is kept */
async function received(input: object, from?: string) {
  last += 1;
  const sender = from ?? `+4915223${String(last).padStart(6, '0')}`;
  const { phoneNumberId } = gateway.tenant;
  const wamid = gateway.emulator.inbound({ from: sender, phoneNumberId, ...input } as never);
  const id = await eventually(async () => {
    const [row] = await gateway.database.query<{ id: string }>(
      "select k.id from media_files k join message_wamids w on w.message_id = k.id where w.wamid = $1 and k.state = 'kept'",
      [wamid],
    );
    expect(row).toBeDefined();
    return row?.id ?? '';
  });
  const answer = await gateway.graphql(
    'query ($id: ID!) { message(id: $id) { databaseId contact { databaseId } media { url small: thumbnailUrl(width: 200) thumbnailUrl large: thumbnailUrl(width: 1280) } } }',
    { id },
  );
  return dataOf(answer).message;
}

const picture = (bytes: Buffer, mimeType: string, from?: string) =>
  received({ type: 'image', mimeType, dataBase64: bytes.toString('base64') }, from);

/** A picture in one colour. Those of a test have other sizes than those of others, so that no two are the same content. */
const photo = (width: number, height: number): Promise<Buffer> =>
  sharp({ create: { width, height, channels: 3, background: 'crimson' } })
    .jpeg()
    .toBuffer();

const get = (url: string): Promise<Response> => fetch(gateway.url + url);

async function shownAt(url: string) {
  const answer = await get(url);
  expect(answer.status).toBe(200);
  const { format, width, height, exif } = await sharp(Buffer.from(await answer.arrayBuffer())).metadata();
  return { type: answer.headers.get('content-type'), format, width, height, exif };
}

const thumbnailFiles = async (): Promise<string[]> =>
  (await readdir(gateway.mediaDirectory, { recursive: true })).filter(name => /[0-9a-f]{64}-\d{1,4}-/.test(name));

test('a picture is made smaller without a token, upright, without its camera data, and never larger', async () => {
  const photographed = await sharp(await photo(2_000, 1_000))
    .withExif({ IFD0: { Make: 'Secret camera' } })
    .withMetadata({ orientation: 6 })
    .jpeg()
    .toBuffer();
  const { media } = await picture(photographed, 'image/jpeg');
  const common = { type: 'image/webp', format: 'webp', exif: undefined };
  expect(await shownAt(media.thumbnailUrl)).toEqual({ ...common, width: 320, height: 640 });
  expect(await shownAt(media.small)).toEqual({ ...common, width: 320, height: 640 });
  expect(await shownAt(media.large)).toEqual({ ...common, width: 1_000, height: 2_000 });
  const answer = await get(media.thumbnailUrl);
  expect(Object.fromEntries(answer.headers)).toMatchObject({
    'content-disposition': 'inline',
    'content-security-policy': "default-src 'none'; sandbox",
    'x-content-type-options': 'nosniff',
    'cross-origin-resource-policy': 'cross-origin',
  });
  expect(answer.headers.get('cache-control')).toMatch(/^private, immutable, max-age=\d+$/);
});

test('a thumbnail is made once for each content and width, however many requests show it', async () => {
  const bytes = await photo(900, 900);
  const [first, second] = [await picture(bytes, 'image/jpeg'), await picture(bytes, 'image/jpeg')];
  const beside = await startSecondGateway(gateway);
  try {
    const urls = [first.media.thumbnailUrl, second.media.thumbnailUrl, first.media.small];
    await Promise.all(urls.flatMap(url => [get(url), fetch(beside.url + url)]).map(async each => (await each).text()));
  } finally {
    await beside.stop();
  }
  const digest = createHash('sha256').update(bytes).digest('hex');
  // A thumbnail that another process has made at the same moment is swept.
  await eventually(async () => {
    await deleteUnusedContents(gateway.gateway.resources);
    expect((await thumbnailFiles()).filter(name => name.includes(`${digest}-320-`))).toHaveLength(1);
  });
  expect(await shownAt(first.media.thumbnailUrl)).toMatchObject({ width: 320 });
});

test('a thumbnail whose bytes are lost is made again', async () => {
  const { media } = await picture(await photo(800, 400), 'image/jpeg');
  await shownAt(media.thumbnailUrl);
  await gateway.database.query("update media_thumbnails set storage_key = storage_key || 'lost'");
  expect(await shownAt(media.thumbnailUrl)).toMatchObject({ width: 320, height: 160 });
});

test('while the store cannot be read, a thumbnail is made of the picture that the network has', async () => {
  const bytes = await photo(810, 405);
  const { media } = await picture(bytes, 'image/jpeg');
  await shownAt(media.thumbnailUrl);
  const digest = createHash('sha256').update(bytes).digest('hex');
  const folder = join(gateway.mediaDirectory, String(gateway.tenant.id), digest.slice(0, 2));
  await rename(folder, `${folder}-away`);
  await writeFile(folder, 'no directory');
  expect(await shownAt(media.thumbnailUrl)).toMatchObject({ width: 320, height: 160 });
  await rm(folder);
  await rename(`${folder}-away`, folder);
  expect(await shownAt(media.thumbnailUrl)).toMatchObject({ width: 320, height: 160 });
});

test('erasing the person ends the URL and deletes the bytes; a file that others show stays', async () => {
  const [own, shared] = [await photo(700, 350), await photo(702, 350)];
  const from = '+4915223999999';
  const mine = await picture(own, 'image/jpeg', from);
  const ours = await picture(shared, 'image/jpeg', from);
  const theirs = await picture(shared, 'image/jpeg');
  for (const { media } of [mine, ours, theirs]) await shownAt(media.thumbnailUrl);
  const paths = (await thumbnailFiles()).filter(name => name.includes(createHash('sha256').update(own).digest('hex')));
  expect(paths).toHaveLength(1);
  await eraseContacts(gateway.gateway.resources, gateway.tenant.id, {
    contactIds: [Number(mine.contact.databaseId)],
    reason: 'subject_request',
    author: COMMAND_LINE,
  });
  for (const { media } of [mine, ours]) expect((await get(media.thumbnailUrl)).status).toBe(404);
  await eventually(async () => {
    await deleteUnusedContents(gateway.gateway.resources);
    await expect(access(join(gateway.mediaDirectory, paths[0] ?? ''))).rejects.toThrow('ENOENT');
  });
  expect(await shownAt(theirs.media.thumbnailUrl)).toMatchObject({ width: 320 });
});

test('a URL is valid for its width and account alone, and a changed one is not found', async () => {
  const { media } = await picture(await photo(600, 300), 'image/jpeg');
  const token = media.thumbnailUrl.split('/').at(-1) as string;
  for (const url of [
    `/media/thumbnails/640/${token}`,
    `/media/thumbnails/321/${token}`,
    `/media/signed/${token}`,
    media.url.replace('/media/signed/', '/media/thumbnails/320/'),
    media.thumbnailUrl.slice(0, -2),
  ])
    expect((await get(url)).status).toBe(404);
});

test('what is no picture, too many pixels or of another format is served as it is', async () => {
  const bomb = await sharp({ create: { width: 6_000, height: 5_000, channels: 3, background: 'white' } })
    .png()
    .toBuffer();
  const svg = Buffer.from(
    '<svg xmlns="http://www.w3.org/2000/svg" width="10" height="10"><rect width="9" height="9"/></svg>',
  );
  const tiff = await sharp(await photo(50, 50))
    .tiff()
    .toBuffer();
  for (const [bytes, mimeType] of [
    [bomb, 'image/png'],
    [svg, 'image/jpeg'],
    [tiff, 'image/jpeg'],
    [PDF, 'image/jpeg'],
  ] as const) {
    const { media } = await picture(bytes, mimeType);
    const answer = await get(media.thumbnailUrl);
    expect(answer.status).toBe(200);
    expect(Buffer.from(await answer.arrayBuffer()).equals(bytes)).toBe(true);
  }
});

test('documents, links and widths that are not made have none', async () => {
  const { media } = await received({
    type: 'document',
    mimeType: 'application/pdf',
    dataBase64: PDF.toString('base64'),
  });
  expect(media.thumbnailUrl).toBeNull();
  const wrong = await gateway.graphql('{ messages(first: 1) { nodes { media { thumbnailUrl(width: 1281) } } } }');
  expect(wrong.errors?.[0]?.extensions).toMatchObject({
    code: 'VALIDATION_ERROR',
    details: { width: ['Must be 1 to 1280.'] },
  });
});
