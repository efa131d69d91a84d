import { randomBytes } from 'node:crypto';
import { connect } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { JPEG, MP4, PDF, PNG, padded } from '../features/messages/content/media/files.ts';
import { checkAnswer, eventually, startGateway, type TestGateway } from '../support/gateway.ts';
import { newPhone } from '../support/seed.ts';
import { type Rest, restOf, UUID } from './client.ts';

let gateway: TestGateway;
let rest: Rest;
beforeAll(async () => {
  gateway = await startGateway({ emulator: { faults: { window: 'open' } } });
  rest = restOf(gateway, gateway.tenant);
});
afterAll(() => gateway.stop());
afterEach(() => gateway.emulator.resetFaults());

/** A part of a form: a text, or a file. */
type Part =
  | readonly [name: string, value: string]
  | readonly [name: string, file: Buffer, filename: string, type?: string];

const BOUNDARY = 'x-form-boundary';
const FORM = { 'content-type': `multipart/form-data; boundary=${BOUNDARY}` };

const formOf = (parts: readonly Part[]): Buffer =>
  Buffer.concat([
    ...parts.flatMap(([name, value, filename, type = 'application/octet-stream']) => [
      Buffer.from(
        `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"${filename === undefined ? '' : `; filename="${filename}"\r\nContent-Type: ${type}`}\r\n\r\n`,
      ),
      Buffer.from(value),
      Buffer.from('\r\n'),
    ]),
    Buffer.from(`--${BOUNDARY}--\r\n`),
  ]);

async function post(body: Buffer, headers: Record<string, string> = {}, token = gateway.tenant.token) {
  const response = await fetch(`${gateway.url}/api/v2/messages/media`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, ...FORM, ...headers },
    body: new Uint8Array(body),
  });
  await checkAnswer('POST', '/messages/media', response);
  // biome-ignore lint/suspicious/noExplicitAny: what a test expects of an answer it says by assertions
  return { status: response.status, headers: response.headers, body: (await response.json()) as any };
}
const sendForm = (parts: readonly Part[], headers?: Record<string, string>) => post(formOf(parts), headers);
const count = async (table: 'messages' | 'media') =>
  Number((await gateway.database.query<{ n: string }>(`select count(*) as n from ${table}`))[0]?.n);

describe('a form', () => {
  test('sends its file, whatever the order of its parts', async () => {
    for (const order of [
      ['phone', 'file', 'rest'],
      ['file', 'phone', 'rest'],
    ]) {
      const phone = newPhone();
      const parts: Record<string, Part[]> = {
        phone: [['phone', phone]],
        file: [['media_file', PDF, 'Rechnung März.pdf', 'application/pdf']],
        rest: [
          ['media_type', 'document'],
          ['caption', 'For @{contact_first_name}'],
          ['contact[firstname]', 'Ana'],
        ],
      };
      const answer = await sendForm(order.flatMap(name => parts[name] ?? []));
      expect(answer.body).toMatchObject({
        success: true,
        message: 'Message sent',
        data: {
          message_id: expect.stringMatching(/^wamid/),
          phone: phone.slice(1),
          chat_message_id: expect.stringMatching(UUID),
          media_type: 'document',
          media_url: null,
          filename: 'Rechnung März.pdf',
          caption: 'For Ana',
        },
      });
      const row = (await rest('GET', `/messages/${answer.body.data.chat_message_id}`)).body.data;
      expect(row.url).toBe(`${gateway.url}/media/${row.id}`);
      const file = await fetch(row.url, { headers: { authorization: `Bearer ${gateway.tenant.token}` } });
      expect(Buffer.from(await file.arrayBuffer()).equals(PDF)).toBe(true);
    }
  });

  test('may be written by a browser’s FormData, as the person’s fields and lists in brackets', async () => {
    const group = (await rest('POST', '/groups', { name: `Group ${randomBytes(4).toString('hex')}` })).body.data;
    const form = new FormData();
    form.set('contact[lastname]', 'Silva');
    form.append('contact[groups][]', String(group.id));
    form.set('phone', newPhone());
    form.set('media_type', 'image');
    form.set('media_file', new Blob([new Uint8Array(JPEG)]), 'photo.jpg');
    form.set('media_url', '');
    form.set('filename', '');
    const response = await fetch(`${gateway.url}/api/v2/messages/media`, {
      method: 'POST',
      headers: { authorization: `Bearer ${gateway.tenant.token}` },
      body: form,
    });
    const { data } = (await response.json()) as { data: { contact_id: number } };
    expect(response.status).toBe(200);
    const contact = (await rest('GET', `/contacts/${data.contact_id}?include=groups`)).body.data;
    expect(contact).toMatchObject({ lastname: 'Silva', group_id: [group.id] });
  });

  test('with an empty file input has no file', async () => {
    const answer = await sendForm([
      ['phone', newPhone()],
      ['media_type', 'image'],
      ['media_file', Buffer.alloc(0), ''],
      ['media_url', 'https://example.com/a.jpg'],
    ]);
    expect(answer).toMatchObject({ status: 200, body: { data: { media_url: 'https://example.com/a.jpg' } } });
  });

  test('of 12 MB passes where other bodies may have 2', async () => {
    const answer = await sendForm([
      ['phone', newPhone()],
      ['media_type', 'video'],
      ['media_file', Buffer.concat([MP4, randomBytes(12 * 1024 * 1024)]), 'clip.mp4'],
    ]);
    expect(answer.status).toBe(200);
  });
});

describe('JSON', () => {
  test('sends a link', async () => {
    const answer = await rest('POST', '/messages/media', {
      phone: newPhone(),
      media_type: 'IMAGE',
      media_url: 'https://example.com/a.jpg',
      caption: 'Look',
    });
    expect(answer.body.data).toMatchObject({
      media_type: 'image',
      media_url: 'https://example.com/a.jpg',
      caption: 'Look',
      filename: null,
    });
    const row = (await rest('GET', `/messages/${answer.body.data.chat_message_id}`)).body.data;
    expect(row).toMatchObject({ type: 'image', message: 'Look', url: 'https://example.com/a.jpg' });
    const sparse = (await rest('GET', `/messages/${row.id}?fields=id,url`)).body.data;
    expect(sparse).toEqual({ id: row.id, url: row.url });
    expect((await rest('GET', `/messages/${row.id}?fields=id`)).body.data).toEqual({ id: row.id });
  });

  test('answers 202 at once with Prefer: respond-async', async () => {
    const body = { phone: newPhone(), media_type: 'audio', media_url: 'https://example.com/a.mp3' };
    const answer = await rest('POST', '/messages/media', body, { prefer: 'respond-async' });
    expect(answer).toMatchObject({ status: 202, body: { data: { status: 'queued' } } });
  });

  test('cannot contain a file', async () => {
    for (const media_file of ['photo.jpg', { mediaId: 'x' }, { media_id: 'x' }]) {
      const answer = await rest('POST', '/messages/media', { phone: newPhone(), media_type: 'image', media_file });
      expect(answer).toMatchObject({
        status: 422,
        body: { error: { details: { media_file: [expect.stringMatching(/multipart/)] } } },
      });
    }
  });
});

describe('is refused by field', () => {
  const base = { phone: '+4915177770001', media_type: 'image', media_url: 'https://example.com/a.jpg' };
  test.each([
    ['no type', { media_type: undefined }, 'media_type'],
    ['an unknown type', { media_type: 'sticker' }, 'media_type'],
    ['no file', { media_url: undefined }, 'media_url'],
    ['two files', { media_id: '01890000-0000-7000-8000-000000000000' }, 'media_url'],
    ['a malformed link', { media_url: 'a.jpg' }, 'media_url'],
    ['an unknown upload', { media_url: undefined, media_id: '01890000-0000-7000-8000-000000000000' }, 'media_id'],
    ['no recipient', { phone: undefined }, 'phone'],
    ['a caption on audio', { media_type: 'audio', caption: 'x' }, 'caption'],
    ['a long caption', { caption: 'x'.repeat(1_025) }, 'caption'],
    ['a long file name', { media_type: 'document', filename: 'x'.repeat(256) }, 'filename'],
  ])('%s', async (_what, change, field) => {
    const answer = await rest('POST', '/messages/media', { ...base, ...change });
    expect(answer.status).toBe(422);
    expect(Object.keys(answer.body.error.details)).toEqual([field]);
  });

  const to: readonly Part[] = [
    ['phone', '+4915177770001'],
    ['media_type', 'image'],
  ];
  test.each([
    [
      'a file of another type under a jpg name',
      [...to, ['media_file', PDF, 'photo.jpg', 'image/jpeg']],
      /PDF document, but its name ends in .jpg/,
    ],
    [
      'a program under a jpg name',
      [...to, ['media_file', Buffer.from('MZ\x90\0\x03\0\0'), 'photo.jpg', 'image/jpeg']],
      /must be/,
    ],
    [
      'a document that is to be an image',
      [...to, ['media_file', PDF, 'a.pdf']],
      /application\/pdf: that is sent as document/,
    ],
    ['an image over 5 MB', [...to, ['media_file', padded(PNG, 5 * 1024 * 1024 + 1), 'a.png']], /larger than 5 MB/],
    ['an empty file', [...to, ['media_file', Buffer.alloc(0), 'a.png']], /empty/],
    ['a text in place of the file', [...to, ['media_file', 'not a file']], /multipart/],
    ['two files', [...to, ['media_file', PNG, 'a.png'], ['media_file', PNG, 'b.png']], /once/],
  ] as [string, Part[], RegExp][])('%s', async (_what, parts, words) => {
    const before = await count('messages');
    const answer = await sendForm(parts);
    expect(answer).toMatchObject({
      status: 422,
      body: { error: { code: 'VALIDATION_ERROR', details: { media_file: [expect.stringMatching(words)] } } },
    });
    expect(await count('messages')).toBe(before);
  });

  test('a file in an unknown field', async () => {
    const answer = await sendForm([...to, ['attachment', PNG, 'a.png']]);
    expect(answer.body.error.details).toEqual({ attachment: [expect.stringMatching(/media_file/)] });
  });
});

describe('a body that is not a valid form', () => {
  const whole = formOf([
    ['phone', '+4915177770001'],
    ['media_type', 'document'],
    ['media_file', padded(PDF, 200_000), 'a.pdf'],
  ]);

  test.each([
    ['that ends within its file', whole.subarray(0, 100_000), {}],
    ['that ends within a field', whole.subarray(0, 60), {}],
    ['whose boundary is missing', whole, { 'content-type': 'multipart/form-data' }],
    ['that is something else', Buffer.from('hello'), {}],
  ])('%s is 400, and nothing is kept', async (_what, body, headers) => {
    const before = [await count('media'), await count('messages')];
    const answer = await post(body, headers);
    expect(answer).toMatchObject({ status: 400, body: { error: { code: 'BAD_REQUEST' } } });
    expect([await count('media'), await count('messages')]).toEqual(before);
  });

  test.each([
    ['a thousand fields', Array.from({ length: 1_000 }, (_, i): Part => [`f${i}`, 'x']), 413],
    ['a field of a megabyte', [['caption', 'x'.repeat(1_000_000)]] as Part[], 422],
    [
      'fields named after what every object has',
      [
        ['__proto__[x]', 'y'],
        ['constructor', 'x'],
      ] as Part[],
      400,
    ],
  ])('%s is refused', async (_what, parts, status) => {
    const answer = await sendForm([...parts, ['phone', '+4915177770001']]);
    expect(answer.status).toBe(status);
    expect(Object.hasOwn(Object.prototype, 'x')).toBe(false);
  });

  test('is accepted by no other route', async () => {
    const response = await fetch(`${gateway.url}/api/v2/messages/text`, {
      method: 'POST',
      headers: { authorization: `Bearer ${gateway.tenant.token}`, ...FORM },
      body: new Uint8Array(formOf([['phone', '+4915177770001']])),
    });
    expect(response.status).toBe(415);
    await response.text();
  });
});

test('a client that disconnects during an upload leaves nothing behind', async () => {
  const before = [await count('media'), await count('messages')];
  const body = formOf([
    ['phone', '+4915177770001'],
    ['media_type', 'document'],
    ['media_file', padded(PDF, 3_000_000), 'a.pdf'],
  ]);
  const socket = connect(Number(new URL(gateway.url).port), '127.0.0.1');
  socket.write(
    `POST /api/v2/messages/media HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${gateway.tenant.token}\r\ncontent-type: ${FORM['content-type']}\r\ncontent-length: ${body.length}\r\n\r\n`,
  );
  socket.write(body.subarray(0, 1_000_000));
  await new Promise(resolve => setTimeout(resolve, 150));
  socket.destroy();
  await new Promise(resolve => setTimeout(resolve, 150));
  expect([await count('media'), await count('messages')]).toEqual(before);
});

test('a failure of the network during an upload is answered at once, also repeatedly on one connection', async () => {
  const parts: Part[] = [
    ['phone', newPhone()],
    ['media_type', 'document'],
    ['media_file', padded(PDF, 3_000_000), 'a.pdf'],
  ];
  for (let i = 0; i < 6; i += 1) {
    gateway.emulator.setFaults({ mediaBreaksAfter: 100_000 });
    expect(await sendForm(parts)).toMatchObject({ status: 503, body: { error: { code: 'SERVICE_UNAVAILABLE' } } });
  }
  gateway.emulator.setFaults({ mediaBreaksAfter: null });
  expect((await sendForm(parts)).status).toBe(200);
});

test('a token without the scope uploads nothing', async () => {
  const before = await count('media');
  const token = await gateway.addToken(gateway.tenant, { scopes: ['messages:read', 'contacts:read'] });
  const answer = await post(formOf([['media_file', PDF, 'a.pdf']]), {}, token);
  expect(answer).toMatchObject({
    status: 403,
    body: { error: { code: 'INSUFFICIENT_SCOPE', details: { required: ['messages:send'] } } },
  });
  expect((await post(formOf([['media_file', PDF, 'a.pdf']]), {}, 'ply_nonsense')).status).toBe(401);
  expect(await count('media')).toBe(before);
});

describe('the same request again', () => {
  const form = (phone: string, file: Buffer, filename = 'a.pdf'): Part[] => [
    ['phone', phone],
    ['media_file', file, filename],
    ['media_type', 'document'],
  ];

  test('with its key and file is one message, with another file a mismatch', async () => {
    const [phone, file] = [newPhone(), padded(PDF, 50_000)];
    const key = { 'idempotency-key': randomBytes(8).toString('hex') };
    const first = await sendForm(form(phone, file), key);
    const before = await count('messages');
    const again = await sendForm(form(phone, file), key);
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    expect(again.body).toEqual(first.body);
    for (const other of [form(phone, padded(PDF, 50_001)), form(phone, file, 'b.pdf')]) {
      expect(await sendForm(other, key)).toMatchObject({
        status: 422,
        body: { error: { code: 'IDEMPOTENCY_MISMATCH' } },
      });
    }
    expect(await count('messages')).toBe(before);
  });

  test('at the same time is one message too', async () => {
    const [phone, file] = [newPhone(), padded(PDF, 60_000)];
    const key = { 'idempotency-key': randomBytes(8).toString('hex') };
    const before = await count('messages');
    const answers = await Promise.all([1, 2, 3, 4].map(() => sendForm(form(phone, file), key)));
    for (const { status, body } of answers) expect([200, 409], JSON.stringify(body)).toContain(status);
    expect(await count('messages')).toBe(before + 1);
  });

  test('keeps one row for a file, and the network’s id that its messages name', async () => {
    const file = padded(PDF, 70_000);
    const ids = new Set<string>();
    for (let i = 0; i < 3; i += 1) {
      const { data } = (await sendForm(form(newPhone(), file))).body;
      const [row] = await gateway.database.query<{ id: string }>(
        "select content->>'id' as id from messages where id = $1",
        [data.chat_message_id],
      );
      ids.add(row?.id ?? '');
    }
    expect(ids.size).toBe(1);
  });
});

test('channel_id applies if it precedes the file', async () => {
  const [channel] = await gateway.database.query<{ id: string }>('select id from channels where tenant_id = $1', [
    gateway.tenant.id,
  ]);
  const parts: Part[] = [
    ['phone', newPhone()],
    ['media_type', 'document'],
    ['media_file', PDF, 'a.pdf'],
  ];
  expect((await sendForm([['channel_id', String(channel?.id)], ...parts])).status).toBe(200);
  expect((await sendForm([['channel_id', '987654321'], ...parts])).status).toBe(404);
  expect((await sendForm([['channel_id', 'x'], ...parts])).status).toBe(422);
});

test('the row of a received file has its address', async () => {
  gateway.emulator.inbound({
    type: 'image',
    from: newPhone(),
    mimeType: 'image/png',
    dataBase64: PNG.toString('base64'),
  });
  await eventually(async () => {
    const { data } = (await rest('GET', '/messages?filter[direction]=inbound&fields=id,url,type')).body;
    expect(data).toEqual([{ id: data[0].id, type: 'image', url: `${gateway.url}/media/${data[0].id}` }]);
  });
});
