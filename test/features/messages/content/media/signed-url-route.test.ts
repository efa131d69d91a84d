import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { dataOf } from '../../../../support/answers.ts';
import { eventually, startGateway, type TestGateway } from '../../../../support/gateway.ts';
import { type MediaClient, mediaOf } from './client.ts';
import { PDF, PNG } from './files.ts';

const MINUTE = 60_000;
let gateway: TestGateway;
let media: MediaClient;
/** One minute into a quarter of an hour. */
let nowMs = Math.floor(Date.now() / (15 * MINUTE)) * 15 * MINUTE + MINUTE;
beforeAll(async () => {
  gateway = await startGateway({ clock: { now: () => nowMs } });
  media = mediaOf(gateway);
});
afterAll(() => gateway.stop());

let last = 0;
/** A person sends a file. @returns the message as GraphQL shows it */
async function received(input: object, tenant = gateway.tenant) {
  last += 1;
  const from = `+4915221${String(last).padStart(6, '0')}`;
  const wamid = gateway.emulator.inbound({ from, phoneNumberId: tenant.phoneNumberId, ...input } as never);
  return eventually(async () => {
    const { messages } = dataOf(
      await gateway.graphql(
        '{ messages(first: 50) { nodes { databaseId wamid contact { id } media { url expiresAt } } } }',
        {},
        tenant.token,
      ),
    );
    const message = messages.nodes.find((node: { wamid: string }) => node.wamid === wamid);
    expect(message).toBeDefined();
    return message;
  });
}
const picture = () => received({ type: 'image', mimeType: 'image/png', dataBase64: PNG.toString('base64') });
const get = (url: string, init: RequestInit = {}): Promise<Response> => fetch(`${gateway.url}${url}`, init);

test('a signed URL shows a picture without a token, cached by the browser until it expires', async () => {
  const message = await picture();
  const answer = await get(message.media.url);
  expect(answer.status).toBe(200);
  expect(Buffer.from(await answer.arrayBuffer()).equals(PNG)).toBe(true);
  expect(Object.fromEntries(answer.headers)).toMatchObject({
    'content-type': 'image/png',
    'content-disposition': 'inline',
    'content-security-policy': "default-src 'none'; sandbox",
    'x-content-type-options': 'nosniff',
    'cross-origin-resource-policy': 'cross-origin',
    'cache-control': 'private, immutable, max-age=1740',
  });
  expect(Date.parse(message.media.expiresAt)).toBe(nowMs + 29 * MINUTE);
  const etag = answer.headers.get('etag') ?? '';
  expect((await get(message.media.url, { headers: { 'if-none-match': etag } })).status).toBe(304);
  const head = await get(message.media.url, { method: 'HEAD' });
  expect([head.status, head.headers.get('content-length')]).toEqual([200, String(PNG.length)]);
});

test.each([
  ['application/pdf', 'inline'],
  ['video/mp4', 'inline'],
  ['audio/ogg; codecs=opus', 'inline'],
  ['image/svg+xml', 'attachment'],
  ['text/html', 'attachment'],
  ['application/xml', 'attachment'],
  ['text/javascript', 'attachment'],
])('a file of the type %s is %s', async (mimeType, disposition) => {
  const message = await received({ type: 'document', mimeType, dataBase64: PDF.toString('base64') });
  const answer = await get(message.media.url);
  expect(answer.headers.get('content-disposition')).toMatch(new RegExp(`^${disposition}`));
});

test('the URL is the same within a quarter of an hour, and ends after at most half an hour', async () => {
  const message = await picture();
  const shown = async () =>
    dataOf(await gateway.graphql('query ($id: ID!) { message(id: $id) { media { url } } }', { id: message.databaseId }))
      .message.media.url;
  const began = nowMs;
  nowMs = began + 13 * MINUTE;
  expect(await shown()).toBe(message.media.url);
  nowMs = began + 15 * MINUTE;
  const next = await shown();
  expect(next).not.toBe(message.media.url);
  expect((await get(message.media.url)).status).toBe(200);
  nowMs = began + 29 * MINUTE;
  expect((await get(message.media.url)).status).toBe(404);
  expect((await get(next)).status).toBe(200);
});

test('a forged URL is not found, and costs no statement', async () => {
  const message = await picture();
  const isKept = "select from media_files where id = $1 and state = 'kept'";
  await eventually(async () => expect(await gateway.database.query(isKept, [message.databaseId])).toHaveLength(1));
  const { url } = message.media;
  const forged = [`${url.slice(0, -1)}${url.endsWith('A') ? 'B' : 'A'}`, `${url}x`, '/media/signed/x', '/media/signed'];
  gateway.statements.length = 0;
  for (const other of forged) expect((await get(other)).status).not.toBe(200);
  // The worker's lane of files lingers, readers follow the log, and a sweep goes through all tenants.
  const isLookUp = (text: string) =>
    /\bfrom "?(?:messages|media\w*)\b/.test(text) &&
    !/^\s*update media_files/.test(text) &&
    !text.includes('/* cross-tenant');
  expect(gateway.statements.filter(isLookUp)).toEqual([]);
  expect((await get(url)).status).toBe(200);
  expect(gateway.statements.filter(isLookUp)).not.toEqual([]);
});

test('an error is not cached', async () => {
  gateway.emulator.setFaults({ mediaErrorCode: 131016 });
  const message = await received({ type: 'image', dataBase64: randomBytes(100).toString('base64') });
  const answer = await get(message.media.url);
  gateway.emulator.resetFaults();
  expect([answer.status, answer.headers.get('cache-control')]).toEqual([503, null]);
});

test('erasing the person ends the URL', async () => {
  const message = await picture();
  const remove = 'mutation ($id: ID!) { deleteContact(input: { id: $id }) { deletedId } }';
  expect((await gateway.graphql(remove, { id: message.contact.id })).errors).toBeUndefined();
  expect((await get(message.media.url)).status).toBe(404);
});

test('suspending the tenant ends its URLs', async () => {
  const tenant = await gateway.addTenant();
  const message = await received({ type: 'image', dataBase64: PNG.toString('base64') }, tenant);
  expect((await get(message.media.url)).status).toBe(200);
  await gateway.database.query("update tenants set status = 'suspended' where tenant_id = $1", [tenant.id]);
  expect((await get(message.media.url)).status).toBe(404);
});

test('an upload has a signed URL too, with ranges', async () => {
  const document = Buffer.concat([PDF, randomBytes(50_000)]);
  const id = await media.uploaded(document, { filename: 'a.pdf' });
  const { media: shown } = dataOf(await gateway.graphql('query ($id: ID!) { media(id: $id) { path url } }', { id }));
  expect(shown.path).toBe(`/media/${id}`);
  const answer = await get(shown.url, { headers: { range: 'bytes=10-19' } });
  expect([answer.status, answer.headers.get('content-range')]).toEqual([206, `bytes 10-19/${document.length}`]);
  expect(Buffer.from(await answer.arrayBuffer()).equals(document.subarray(10, 20))).toBe(true);
});
