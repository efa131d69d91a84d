import { once } from 'node:events';
import { createServer } from 'node:http';
import { createServer as createTcpServer } from 'node:net';
import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { isPublicAddress, parseRange } from '../../src/platform/public-address.ts';
import { createPublicHttp, type Post, type PublicHttp } from '../../src/platform/public-http.ts';
import type { ResolveName } from '../../src/platform/resolve-name.ts';
import { type Receiver, startReceiver } from '../features/webhooks/receiver.ts';
import { freePort } from '../support/processes.ts';

const range = (text: string) => {
  const parsed = parseRange(text);
  if (!parsed) throw new Error(`${text} is no range.`);
  return parsed;
};

/** 127.0.0.2 represents the Internet, 127.0.0.1 an internal address. */
let open: Receiver;
let secret: Receiver;
let port: number;
let http: PublicHttp | undefined;
beforeAll(async () => {
  // Of one number on both addresses: one that the system gives for the first may be in use on the second.
  port = await freePort();
  open = await startReceiver('127.0.0.2', port);
  secret = await startReceiver('127.0.0.1', port);
});
afterAll(async () => {
  await open.stop();
  await secret.stop();
});
afterEach(async () => {
  await http?.close();
  expect(secret.got).toEqual([]);
});

function client(resolveName: ResolveName): (post: Partial<Post> & { url: URL }) => ReturnType<PublicHttp['post']> {
  const made = createPublicHttp({ allowed: [range('127.0.0.2/32')], resolveName });
  http = made;
  return post => made.post({ headers: {}, body: '{}', timeoutMs: 2_000, keepBytes: 1_024, ...post });
}
const at = (host: string): URL => new URL(`http://${host}:${port}/`);
const REFUSED = { kind: 'failure', reason: 'the address is not public', timedOut: false };

test.each([
  ['an address', ['127.0.0.1']],
  ['an address inside of an IPv6 address', ['::ffff:127.0.0.1']],
  ['the address of IPv6', ['::1']],
  ['a link-local address', ['169.254.169.254', 'fe80::1']],
  ['NAT64 of an address', ['64:ff9b::7f00:1']],
])('no connection to a name that resolves to an internal address (%s)', async (_name, addresses) => {
  const post = client(async () => addresses);
  expect(await post({ url: at('inside.example') })).toEqual(REFUSED);
});

test.each(['localhost', 'LOCALHOST.', 'a.localhost', 'a.localhost.'])('%s is localhost, regardless of DNS', host => {
  const { allowsHost } = createPublicHttp({ allowed: [], resolveName: async () => ['1.1.1.1'] });
  expect(allowsHost(host)).toBe(false);
  expect(allowsHost('notlocalhost')).toBe(true);
  for (const allowed of ['127.0.0.0/8', '::1/128']) {
    const inside = createPublicHttp({ allowed: [range(allowed)], resolveName: async () => [] });
    expect(inside.allowsHost(host)).toBe(true);
  }
});

test.each([
  '127.0.0.1',
  '127.1',
  '2130706433',
  '0x7f000001',
  '0177.0.0.1',
  '[::1]',
  '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]',
  '0.0.0.0',
  '[::]',
])('no connection to an internal address in a URL, written as %s', async host => {
  const post = client(async () => {
    throw new Error('A literal address is not looked up.');
  });
  expect(await post({ url: at(host) })).toEqual(REFUSED);
  expect(http?.allowsHost(at(host).hostname)).toBe(false);
});

test('of several addresses of a name, only public ones are used', async () => {
  const post = client(async () => ['127.0.0.1', '10.0.0.1', '127.0.0.2', '::1']);
  expect(await post({ url: at('both.example') })).toMatchObject({ kind: 'answer', status: 200 });
});

test('DNS rebinding has no effect: a name is resolved once per connection, and no longer used once it resolves to an internal address', async () => {
  let lookups = 0;
  const post = client(async () => {
    lookups += 1;
    return [lookups === 1 ? '127.0.0.2' : '127.0.0.1'];
  });
  const before = open.got.length;
  open.answer((_got, response) => void response.setHeader('connection', 'close').end());
  expect(await post({ url: at('rebound.example') })).toMatchObject({ kind: 'answer', status: 200 });
  expect(lookups).toBe(1);
  expect(await post({ url: at('rebound.example') })).toEqual(REFUSED);
  expect(open.got).toHaveLength(before + 1);
});

test('a redirect is returned and not followed', async () => {
  const post = client(async () => ['127.0.0.2']);
  open.answer((_got, response) => void response.writeHead(307, { location: secret.url }).end());
  expect(await post({ url: at('redirecting.example') })).toMatchObject({ kind: 'answer', status: 307 });
});

test('at most the requested bytes of a response are kept, and an endless response is aborted', async () => {
  const post = client(async () => ['127.0.0.2']);
  let closed = false;
  open.answer((_got, response) => {
    response.on('close', () => {
      closed = true;
    });
    const write = (): void => {
      if (!closed) response.write('x'.repeat(16_384), () => setImmediate(write));
    };
    write();
  });
  const outcome = await post({ url: at('endless.example') });
  expect(outcome).toMatchObject({ kind: 'answer', status: 200 });
  expect(outcome.kind === 'answer' && outcome.body.length).toBe(1_024);
  await expect.poll(() => closed).toBe(true);
});

test('the timeout covers name resolution, connection, headers and body; headers within it are an answer', async () => {
  const timeoutMs = 60;
  const late = { kind: 'failure', reason: 'no complete response within 60 ms', timedOut: true };
  expect(await client(() => new Promise(() => {}))({ url: at('silent.example'), timeoutMs })).toEqual(late);
  await http?.close();
  const post = client(async () => ['127.0.0.2']);
  open.answer(() => {});
  expect(await post({ url: at('slow.example'), timeoutMs })).toEqual(late);
  open.answer((_got, response) => void response.writeHead(200).write('a beginning'));
  const begun = { kind: 'answer', status: 200, retryAfter: undefined, body: Buffer.from('a beginning') };
  expect(await post({ url: at('slow.example') })).toEqual(begun);
});

test.each([
  ['whose body breaks off', 410, '410 Gone\r\nretry-after: 7\r\ncontent-length: 10', 'a beginning'.slice(0, 9)],
  ['whose chunks break off', 200, '200 OK\r\ntransfer-encoding: chunked', '5\r\nhello\r\n'],
  ['without the promised body', 204, '204 No Content\r\ncontent-length: 5', ''],
])('a response %s has the status of its headers', async (_name, status, head, body) => {
  const server = createServer(({ socket }) => void socket.end(`HTTP/1.1 ${head}\r\n\r\n${body}`));
  server.listen(0, '127.0.0.2');
  await once(server, 'listening');
  const { port: broken } = server.address() as { port: number };
  const outcome = await client(async () => ['127.0.0.2'])({ url: new URL(`http://broken.example:${broken}/`) });
  expect(outcome).toMatchObject({ kind: 'answer', status, retryAfter: status === 410 ? '7' : undefined });
  server.close();
});

const FINAL = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok';

test.each([
  ['100', 'HTTP/1.1 100 Continue\r\n\r\n'],
  ['100 with headers', 'HTTP/1.1 100 Continue\r\ndate: today\r\n\r\n'],
  ['102', 'HTTP/1.1 102 Processing\r\n\r\n'],
  ['103', 'HTTP/1.1 103 Early Hints\r\nlink: </style.css>\r\n\r\n'],
  ['several', 'HTTP/1.0 100 Continue\r\n\r\nHTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n'],
])('an interim response that nobody asked for is skipped (%s), however the bytes arrive', async (_name, interim) => {
  const splits = ['whole', 'by response', 'byte by byte'] as const;
  for (const split of splits) {
    const requests: string[] = [];
    const server = createTcpServer(socket => {
      socket.setNoDelay(true).on('data', async data => {
        // The body may arrive apart.
        if (!String(data).startsWith('POST ')) return;
        requests.push(String(data));
        const text = interim + FINAL;
        const parts = { whole: [text], 'by response': [interim, FINAL], 'byte by byte': [...text] }[split];
        for (const part of parts) {
          socket.write(part);
          await new Promise(resolve => setTimeout(resolve, 1));
        }
      });
    });
    server.listen(0, '127.0.0.2');
    await once(server, 'listening');
    const url = new URL(`http://interim.example:${(server.address() as { port: number }).port}/`);
    const post = client(async () => ['127.0.0.2']);
    // The second request may use the connection of the first.
    for (const count of [1, 2]) {
      const answer = { kind: 'answer', status: 200, retryAfter: undefined, body: Buffer.from('ok') };
      expect(await post({ url })).toEqual(answer);
      await new Promise(resolve => setImmediate(resolve));
      expect(requests).toHaveLength(count);
    }
    await http?.close();
    server.close();
  }
});

test.each([
  ['a change of the protocol', 'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n'],
  ['a 100 and the beginning of another one', 'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 1'],
  ['headers that break off', 'HTTP/1.1 200 OK\r\ncontent-length: 10\r\n'],
  ['nothing but an interim response', 'HTTP/1.1 103 Early Hints\r\nlink: </style.css>\r\n\r\n'],
])('%s are a failure', async (_name, text) => {
  const server = createServer(({ socket }) => void socket.end(text));
  server.listen(0, '127.0.0.2');
  await once(server, 'listening');
  const { port: broken } = server.address() as { port: number };
  const outcome = await client(async () => ['127.0.0.2'])({ url: new URL(`http://broken.example:${broken}/`) });
  expect(outcome).toMatchObject({ kind: 'failure', timedOut: false });
  server.close();
});

test('failures report their error code, and requests aborted by close() are not reported as failures of the receiver', async () => {
  const server = createServer(request => request.socket.destroy());
  server.listen(0, '127.0.0.2');
  await once(server, 'listening');
  const { port: broken } = server.address() as { port: number };
  const post = client(async name => {
    if (name === 'nowhere.example') throw Object.assign(new Error('no'), { code: 'ENOTFOUND' });
    return name === 'nothing.example' ? [] : ['127.0.0.2'];
  });
  expect(await post({ url: new URL(`http://broken.example:${broken}/`) })).toMatchObject({ reason: 'UND_ERR_SOCKET' });
  expect(await post({ url: at('nowhere.example') })).toMatchObject({ reason: 'ENOTFOUND' });
  expect(await post({ url: at('nothing.example') })).toMatchObject({ reason: 'the host name does not resolve' });
  expect(await post({ url: new URL('http://refusing.example:1/') })).toMatchObject({ reason: 'ECONNREFUSED' });
  open.answer(() => {});
  const cut = post({ url: at('cut.example') });
  await expect.poll(() => open.got.length).toBeGreaterThan(0);
  await http?.close();
  expect(await cut).toEqual({ kind: 'closed' });
  expect(await post({ url: at('after.example') })).toEqual({ kind: 'closed' });
  server.close();
});

const NOT_PUBLIC = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
  '168.63.129.16/32',
] as const;

test('no IPv4 address of a special-purpose range is public, even embedded in an IPv6 address', () => {
  const address = fc.constantFrom(...NOT_PUBLIC).chain(text => {
    const [base = '', bits = '32'] = text.split('/');
    const first = base.split('.').reduce((sum, part) => sum * 256 + Number(part), 0);
    return fc.integer({ min: 0, max: 2 ** (32 - Number(bits)) - 1 }).map(offset => first + offset);
  });
  const hex = (value: number): string => `${Math.floor(value / 65_536).toString(16)}:${(value % 65_536).toString(16)}`;
  fc.assert(
    fc.property(address, value => {
      const dotted = [24, 16, 8, 0].map(shift => Math.floor(value / 2 ** shift) % 256).join('.');
      const spellings = [
        dotted,
        `::ffff:${dotted}`,
        `::ffff:${hex(value)}`,
        `::${hex(value)}`,
        `64:ff9b::${hex(value)}`,
        `::ffff:0:${hex(value)}`,
        `2002:${hex(value)}::1`,
      ];
      for (const text of spellings) expect([text, isPublicAddress(text)]).toEqual([text, false]);
    }),
  );
});

test.each([
  'fc00::1',
  'fd00:ec2::254',
  'fe80::1',
  'fe80::1%eth0',
  'fec0::1',
  'ff02::1',
  '::',
  '::1',
  '100::1',
  '2001::1',
  '2001:db8::1',
  '3fff::1',
  '2001:20::1',
  '64:ff9b:1::1',
  '4000::1',
  'not an address',
  '',
])('%s is not public', text => expect(isPublicAddress(text)).toBe(false));

test.each(['1.1.1.1', '8.8.8.8', '93.184.216.34', '2606:4700::1111', '::ffff:8.8.8.8', '64:ff9b::808:808'])(
  '%s is public',
  text => expect(isPublicAddress(text)).toBe(true),
);

test('an allowed range is accepted, even embedded in an IPv6 address, and no other is', () => {
  const allowed = [range('10.1.0.0/16'), range('fd12::/16')];
  expect(['10.1.2.3', '::ffff:10.1.2.3', 'fd12::9'].map(text => isPublicAddress(text, allowed))).toEqual([
    true,
    true,
    true,
  ]);
  expect(['10.2.0.1', 'fd13::1', '127.0.0.1'].map(text => isPublicAddress(text, allowed))).toEqual([
    false,
    false,
    false,
  ]);
  expect(['10.0.0.0', '10.0.0.0/33', 'x/8', ''].map(parseRange)).toEqual([undefined, undefined, undefined, undefined]);
});
