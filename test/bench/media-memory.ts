import { type ChildProcess, fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { loadConfig } from '../../src/config.ts';
import { SCOPES } from '../../src/core/scopes.ts';
import { createDatabase } from '../../src/database/database.ts';
import { connectChannel } from '../../src/features/channels/connect.ts';
import { createTenant } from '../../src/features/tenancy/tenants/create.ts';
import { createToken } from '../../src/features/tenancy/tokens/create.ts';
import { createCloudApiNetwork } from '../../src/network/cloud-api/client.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { createSecretBox } from '../../src/platform/crypto.ts';
import { createLog } from '../../src/platform/log.ts';
import { createFixture, type Fixture } from './fixture.ts';
import { gatewayEnvironment } from './gateway.ts';
import { printLine, printProgress } from './output.ts';
import { startServer } from './server.ts';

/**
 * Measures the memory that a file of 100 MB costs the gateway: `node test/bench/media-memory.ts`. The gateway, the network and the
 * database are separate processes; the resident memory of the gateway is sampled every 10 ms.
 */

const MB = 1024 * 1024;
const SIZE = 100 * MB;
const LIMIT = 32 * MB;
const NUMBER = {
  phoneNumberId: '1',
  wabaId: '2',
  displayPhoneNumber: '+1 555 078 0001',
  verifiedName: 'Memory',
  accessToken: 'access',
};
const APP = { appSecret: 'secret', verifyToken: 'verify' };

const fixture = await createFixture();
const document = join(fixture.directory, 'document.pdf');
await writeFile(document, Buffer.concat([Buffer.from('%PDF-1.4\n'), randomBytes(SIZE - 9)]));
const emulator = fork(
  new URL('../emulator/emulator-process.ts', import.meta.url),
  [JSON.stringify({ ...APP, numbers: [NUMBER] })],
  {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  },
);
const networkUrl = String((await once(emulator.stdout ?? process.stdin, 'data'))[0]).trim();
const token = await seed(fixture, networkUrl);
const gateway = await startServer(new URL('../../src/main.ts', import.meta.url), {
  args: ['serve', '--role', 'gateway'],
  env: { ...gatewayEnvironment(fixture), PARLEY_NETWORK_URL: networkUrl },
  logFile: join(fixture.directory, 'gateway.log'),
});
const authorization = { authorization: `Bearer ${token}` };

try {
  const results = [
    // The first request of the process: what it loads and compiles is in the figure.
    await measured('PUT, the first request of all', () => put(SIZE, true)),
    await measured('PUT, length known', () => put(SIZE, true)),
    await measured('PUT, length unknown', () => put(SIZE, false)),
    await measured('REST form', () => form(SIZE)),
    await measured('four PUTs at once', () => Promise.all([1, 2, 3, 4].map(() => put(SIZE, true)))),
  ];
  await slow(40 * MB);
  results.push(await measured('PUT, the network taking 40 MB/s', () => put(SIZE, true)));
  await slow(null);
  const id = await put(SIZE, true);
  results.push(await measured('GET', () => download(id, Number.POSITIVE_INFINITY)));
  results.push(await measured('GET, the client taking 40 MB/s', () => download(id, 40 * MB)));
  for (const { name, before, peak, seconds } of results) {
    const extra = peak - before;
    printLine(
      `${name.padEnd(34)} ${(before / MB).toFixed(0).padStart(4)} MB before, ${(peak / MB).toFixed(0).padStart(4)} MB at most: ${(extra / MB).toFixed(1).padStart(5)} MB more${extra > LIMIT ? '  OVER 32 MB' : ''}  (${seconds.toFixed(1)} s)`,
    );
  }
} finally {
  await gateway.stop();
  await stopped(emulator);
  await fixture.leave();
}

/** A tenant with a channel on the emulated network. @returns its token */
async function seed({ url }: Fixture, baseUrl: string): Promise<string> {
  const log = createLog('silent');
  const db = createDatabase({ url, poolSize: 2, readers: 1, log });
  const network = createCloudApiNetwork({ baseUrl, log });
  try {
    const { secretKey } = loadConfig({ ...gatewayEnvironment(fixture) });
    if (!secretKey) throw new Error('There is no secret key.');
    const { tenant_id: id } = await db.transaction(trx =>
      createTenant(trx, { slug: 'memory', name: 'Memory', plan: 'unlimited', windowPolicy: 'network' }),
    );
    const secrets = createSecretBox({ current: secretKey });
    const resources = { db, network, secrets, log, clock: systemClock };
    await connectChannel(resources, id, { ...NUMBER, ...APP, name: 'Memory', messagesPerSecond: 80 });
    const grant = { scopes: new Set<string>(SCOPES), callsPerMinute: 6_000, expiresAtMs: undefined };
    const wanted = { name: 'memory', scopes: ['*'], callsPerMinute: 6_000, expiresAt: undefined };
    return (await createToken(db.write, id, wanted, grant, Date.now())).token;
  } finally {
    await network.close();
    await db.close();
  }
}

async function measured(name: string, work: () => Promise<unknown>) {
  printProgress(name);
  // Lets the previous measurement's memory be released, so that it does not affect this one.
  await sleep(2_000);
  const before = await resident();
  let peak = before;
  let running = true;
  const watching = (async () => {
    while (running) {
      peak = Math.max(peak, await resident());
      await sleep(10);
    }
  })();
  const start = performance.now();
  await work();
  const seconds = (performance.now() - start) / 1_000;
  running = false;
  await watching;
  return { name, before, peak, seconds };
}

async function resident(): Promise<number> {
  const [, pages = '0'] = (await readFile(`/proc/${gateway.pid}/statm`, 'utf8')).split(' ');
  return Number(pages) * 4_096;
}

async function put(size: number, isKnown: boolean): Promise<string> {
  const answer = await fetch(`${gateway.url}/graphql`, {
    method: 'POST',
    headers: { ...authorization, 'content-type': 'application/json' },
    body: JSON.stringify({ query: 'mutation { createMediaUpload(input: {}) { media { databaseId } } }' }),
  });
  const { data } = (await answer.json()) as { data: { createMediaUpload: { media: { databaseId: string } } } };
  const id = data.createMediaUpload.media.databaseId;
  const headers = isKnown ? { 'content-length': String(size) } : {};
  await sent('PUT', `/media/${id}`, headers, createReadStream(document, { end: size - 1 }));
  return id;
}

async function form(size: number): Promise<void> {
  const boundary = 'parley-memory';
  const part = (name: string, more = ''): string =>
    `--${boundary}\r\nContent-Disposition: form-data; name="${name}"${more}\r\n\r\n`;
  async function* body() {
    yield Buffer.from(
      `${part('phone')}+4915112345678\r\n${part('media_type')}document\r\n${part('media_file', '; filename="document.pdf"')}`,
    );
    yield* createReadStream(document, { end: size - 1 });
    yield Buffer.from(`\r\n--${boundary}--\r\n`);
  }
  const headers = { 'content-type': `multipart/form-data; boundary=${boundary}`, prefer: 'respond-async' };
  await sent('POST', '/api/v2/messages/media', headers, Readable.from(body(), { objectMode: false }));
}

async function sent(method: string, path: string, headers: Record<string, string>, body: Readable): Promise<void> {
  const outgoing = request(`${gateway.url}${path}`, { method, headers: { ...authorization, ...headers } });
  const answered = once(outgoing, 'response');
  await pipeline(body, outgoing);
  const [answer] = await answered;
  const text = (await answer.toArray()).join('');
  if (answer.statusCode >= 300) throw new Error(`${answer.statusCode} ${text}`);
}

async function download(id: string, bytesPerSecond: number): Promise<void> {
  const outgoing = request(`${gateway.url}/media/${id}`, { headers: authorization }).end();
  const [answer] = await once(outgoing, 'response');
  if (answer.statusCode !== 200) throw new Error(String(answer.statusCode));
  const sink = new PassThrough();
  const read = (async () => {
    for await (const piece of sink)
      if (Number.isFinite(bytesPerSecond)) await sleep((1_000 * (piece as Buffer).length) / bytesPerSecond);
  })();
  await pipeline(answer, sink);
  await read;
}

function slow(mediaBytesPerSecond: number | null): Promise<string> {
  const body = JSON.stringify({ mediaBytesPerSecond });
  return fetch(`${networkUrl}/_emulator/faults`, { method: 'POST', body }).then(answer => answer.text());
}

async function stopped(child: ChildProcess): Promise<void> {
  child.kill();
  await once(child, 'exit');
}
