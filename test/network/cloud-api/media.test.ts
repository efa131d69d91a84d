import { createHash, randomBytes } from 'node:crypto';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import fc from 'fast-check';
import { describe, expect, onTestFinished, test } from 'vitest';
import { readForm } from '../../../src/emulator/form.ts';
import { multipartAround } from '../../../src/network/cloud-api/multipart.ts';
import { NetworkCallError, type OutgoingFile } from '../../../src/network/network.ts';
import { CHANNEL, createClient, NUMBER, startNetwork } from '../network.ts';

const PIECE = 64 * 1024;

async function* pieces(bytes: Buffer, size = PIECE): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

const fileOf = (bytes: Buffer, more: Partial<OutgoingFile> = {}): OutgoingFile => ({
  stream: pieces(bytes),
  mimeType: 'application/pdf',
  filename: 'a.pdf',
  size: bytes.length,
  ...more,
});

async function serverThat(answers: RequestListener): Promise<string> {
  const server = createServer(answers);
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe('uploadMedia', () => {
  test.each([
    ['of known size', true],
    ['of unknown size', false],
  ])('uploads a file %s, which downloads unchanged with its digest, size and type', async (_what, known) => {
    const { network } = await startNetwork();
    const bytes = randomBytes(300_001);
    const id = await network.uploadMedia(CHANNEL, fileOf(bytes, { size: known ? bytes.length : undefined }));
    const info = await network.mediaInfo(CHANNEL, id);
    expect(info).toMatchObject({
      mimeType: 'application/pdf',
      size: bytes.length,
      sha256: createHash('sha256').update(bytes).digest('hex'),
    });
    const download = await network.downloadMedia(CHANNEL, info.url);
    expect(download).toMatchObject({ status: 200, contentLength: String(bytes.length) });
    expect(download && (await buffer(download.stream)).equals(bytes)).toBe(true);
  });

  test('aborts the connection if the source fails, so that nothing is stored', async () => {
    let ended = 0;
    let aborted = 0;
    const url = await serverThat(request => {
      request.on('end', () => ended++);
      request.on('error', () => aborted++);
      request.resume();
    });
    async function* failing() {
      yield randomBytes(200_000);
      throw new Error('the client left');
    }
    for (const size of [undefined, 400_000]) {
      const upload = createClient(url).uploadMedia(CHANNEL, fileOf(Buffer.alloc(0), { stream: failing(), size }));
      await expect(upload).rejects.toThrow('the client left');
    }
    await expect.poll(() => aborted).toBe(2);
    expect(ended).toBe(0);
  });

  test('fails if the source is shorter than announced, and nothing is stored', async () => {
    let ended = 0;
    const url = await serverThat(request =>
      request
        .on('end', () => ended++)
        .on('error', () => {})
        .resume(),
    );
    const bytes = randomBytes(1_000);
    const upload = createClient(url).uploadMedia(CHANNEL, fileOf(bytes, { size: 2_000 }));
    await expect(upload).rejects.toBeInstanceOf(NetworkCallError);
    expect(ended).toBe(0);
  });

  test('fails with the network’s code if refused early, and closes the source', async () => {
    const { network } = await startNetwork();
    let released = false;
    async function* endless() {
      try {
        for (;;) {
          yield Buffer.alloc(PIECE);
          await new Promise(resolve => setTimeout(resolve, 1));
        }
      } finally {
        released = true;
      }
    }
    const upload = network.uploadMedia(
      { ...CHANNEL, accessToken: 'wrong' },
      fileOf(Buffer.alloc(0), { stream: endless(), size: undefined }),
    );
    await expect(upload).rejects.toMatchObject({ error: { code: 190, retryClass: 'auth' } });
    await expect.poll(() => released).toBe(true);
  });

  test('reads the source with backpressure', async () => {
    const url = await serverThat(() => undefined);
    let read = 0;
    async function* eager() {
      for (;;) {
        read += PIECE;
        yield Buffer.alloc(PIECE);
      }
    }
    const network = createClient(url);
    const upload = network.uploadMedia(CHANNEL, fileOf(Buffer.alloc(0), { stream: eager(), size: undefined }));
    upload.catch(() => undefined);
    // Only the kernel's buffers on both sides are filled.
    let before: number;
    do {
      before = read;
      await new Promise(resolve => setTimeout(resolve, 300));
    } while (read > before);
    expect(read).toBeGreaterThan(0);
    expect(read).toBeLessThan(16 * 1024 * 1024);
    await network.close();
    await expect(upload).rejects.toBeInstanceOf(NetworkCallError);
  });

  test.each([
    ['breaks off', { mediaBreaksAfter: 100_000 }, undefined],
    ['refuses', { mediaErrorCode: 131053 }, 131053],
  ])('fails if the network %s during the upload', async (_what, faults, code) => {
    const { network, emulator } = await startNetwork({ faults });
    const failure = await network.uploadMedia(CHANNEL, fileOf(randomBytes(500_000))).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(NetworkCallError);
    expect((failure as NetworkCallError).error?.code).toBe(code);
    emulator.setFaults({ mediaBreaksAfter: null, mediaErrorCode: null });
    await expect(network.uploadMedia(CHANNEL, fileOf(randomBytes(10)))).resolves.toMatch(/^\d+$/);
  });

  test('is refused by the network for an unsupported media type', async () => {
    const { network } = await startNetwork();
    const upload = network.uploadMedia(CHANNEL, fileOf(randomBytes(10), { mimeType: 'text/csv' }));
    await expect(upload).rejects.toMatchObject({ error: { code: 100, details: expect.stringContaining('text/csv') } });
  });
});

describe('downloadMedia', () => {
  async function uploaded(faults = {}) {
    const started = await startNetwork({ faults });
    const bytes = randomBytes(100_000);
    const id = await started.network.uploadMedia(CHANNEL, fileOf(bytes));
    return { ...started, bytes, ...(await started.network.mediaInfo(CHANNEL, id)) };
  }

  test.each([
    ['bytes=10-19', 10, 20],
    ['bytes=-5', 99_995, 100_000],
    ['bytes=99990-', 99_990, 100_000],
  ])('returns the requested range (%s)', async (range, start, end) => {
    const { network, url, bytes } = await uploaded();
    const download = await network.downloadMedia(CHANNEL, url, range);
    expect(download).toMatchObject({ status: 206, contentRange: `bytes ${start}-${end - 1}/100000` });
    expect(download && (await buffer(download.stream)).equals(bytes.subarray(start, end))).toBe(true);
  });

  test('returns 416 for an unsatisfiable range, and the whole file if the network does not support ranges', async () => {
    const { network, url, emulator } = await uploaded();
    const download = await network.downloadMedia(CHANNEL, url, 'bytes=100000-');
    expect(download).toMatchObject({ status: 416, contentRange: 'bytes */100000' });
    download?.stream.destroy();
    emulator.setFaults({ mediaRanges: false });
    const whole = await network.downloadMedia(CHANNEL, url, 'bytes=0-9');
    expect(whole).toMatchObject({ status: 200, contentLength: '100000' });
    whole?.stream.destroy();
  });

  test('returns undefined for an expired URL', async () => {
    const { network, url } = await uploaded({ mediaUrlSeconds: 0 });
    expect(await network.downloadMedia(CHANNEL, url)).toBeUndefined();
  });

  test('an interrupted download is an error of the stream, not its end', async () => {
    const { network, url, emulator } = await uploaded();
    emulator.setFaults({ mediaBreaksAfter: 70_000 });
    const download = await network.downloadMedia(CHANNEL, url);
    await expect(download && buffer(download.stream)).rejects.toThrow();
  });

  test.each([
    'http://169.254.169.254/latest/meta-data',
    'http://lookaside.fbsbx.com/x',
    'https://lookaside.fbsbx.com:8443/x',
    'https://lookaside.fbsbx.com.evil.example/x',
    'https://evilfbsbx.com/x',
    'https://fbsbx.com@evil.example/x',
    'file:///etc/passwd',
    'http://127.0.0.1:1/x',
    'nonsense',
  ])('refuses the URL %s without a request, so that the token is sent only to the network', async address => {
    const { network } = await startNetwork();
    await expect(network.downloadMedia(CHANNEL, address)).rejects.toThrow('not one of the network');
  });

  test('does not follow redirects', async () => {
    const url = await serverThat((_request, response) =>
      response.writeHead(302, { location: 'http://example.com' }).end(),
    );
    await expect(createClient(url).downloadMedia(CHANNEL, `${url}/x`)).rejects.toMatchObject({ error: { code: 302 } });
  });
});

test('mediaInfo rejects for a file that the network does not have', async () => {
  const { network } = await startNetwork();
  await expect(network.mediaInfo(CHANNEL, '424242')).rejects.toMatchObject({ error: { code: 100 } });
});

test('a multipart body has the announced length, and the form parser reads it in any chunking', async () => {
  const names = fc.string({ unit: fc.constantFrom('a', 'ä', '"', '\r', '\n', ' ', '.', '%') });
  await fc.assert(
    fc.asyncProperty(
      fc.uint8Array({ maxLength: 300 }),
      names,
      fc.integer({ min: 1, max: 40 }),
      async (content, filename, cut) => {
        const bytes = Buffer.from(content);
        const form = multipartAround(fileOf(bytes, { filename, mimeType: 'text/plain' }), {
          messaging_product: 'whatsapp',
        });
        const written = await buffer(form.body);
        expect(written.length).toBe(form.contentLength);
        let read: Buffer | undefined;
        const fields = await readForm(pieces(written, cut), form.contentType, async file => {
          expect(file).toMatchObject({ name: 'file', type: 'text/plain' });
          expect(file.filename).toBe(filename.replace(/"/g, '%22').replace(/\r/g, '%0D').replace(/\n/g, '%0A'));
          read = await buffer(file.bytes);
        });
        expect(fields).toEqual(new Map([['messaging_product', 'whatsapp']]));
        expect(read?.equals(bytes)).toBe(true);
      },
    ),
  );
});

test('every media call requires the number’s token', async () => {
  const { network } = await startNetwork();
  const id = await network.uploadMedia(CHANNEL, fileOf(randomBytes(10)));
  const stranger = { ...CHANNEL, accessToken: `${NUMBER.accessToken}x` };
  await expect(network.mediaInfo(stranger, id)).rejects.toMatchObject({ error: { code: 190 } });
});
