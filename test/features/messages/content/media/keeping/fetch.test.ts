import { createHash, randomBytes } from 'node:crypto';
import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { eraseContacts } from '../../../../../../src/features/contacts/erasure/erase.ts';
import { exportContact } from '../../../../../../src/features/contacts/erasure/export.ts';
import {
  deleteUnusedContents,
  expireFiles,
} from '../../../../../../src/features/messages/content/media/keeping/sweep.ts';
import { COMMAND_LINE } from '../../../../../../src/features/tenancy/audit/author.ts';
import { dataOf } from '../../../../../support/answers.ts';
import { eventually, startGateway, type TestGateway, type TestTenant } from '../../../../../support/gateway.ts';
import { mediaOf } from '../client.ts';
import { PNG } from '../files.ts';

const DAY = 86_400_000;
let gateway: TestGateway;
/** The clock of the network. */
let nowMs = Date.now();
beforeAll(async () => {
  gateway = await startGateway({ emulator: { clock: { now: () => nowMs } } });
});
afterAll(() => gateway.stop());
afterEach(() => {
  gateway.emulator.resetFaults();
  nowMs = Date.now();
});

const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');
/** Files in the directory, apart from its marker and those that are being received. */
const stored = async (): Promise<string[]> =>
  (await readdir(gateway.mediaDirectory, { recursive: true, withFileTypes: true }))
    .filter(entry => entry.isFile() && !entry.parentPath.endsWith('incoming') && entry.name !== '.deployment')
    .map(entry => entry.name);
const incoming = (): Promise<string[]> => readdir(`${gateway.mediaDirectory}/incoming`);

let last = 0;
/** A person sends a file. @returns its message, when it is stored */
async function received(bytes: Buffer, tenant: TestTenant = gateway.tenant, from?: string) {
  last += 1;
  const wamid = gateway.emulator.inbound({
    ...{ type: 'document', mimeType: 'application/pdf', filename: 'a.pdf', dataBase64: bytes.toString('base64') },
    ...{ from: from ?? `+4915222${String(last).padStart(6, '0')}`, phoneNumberId: tenant.phoneNumberId },
  } as never);
  return eventually(async () => {
    const answer = await gateway.graphql(
      'query ($w: String!) { messages(first: 1, filter: { wamid: { eq: $w } }) { nodes { databaseId contact { id } media { path url isAvailable size sha256 } } } }',
      { w: wamid },
      tenant.token,
    );
    const [message] = dataOf(answer).messages.nodes;
    expect(message).toBeDefined();
    return message;
  });
}

interface Row {
  readonly state: string;
  readonly attempts: number;
  readonly reason: string | null;
  readonly sha256: Buffer | null;
}
const fileOf = async (id: string): Promise<Row> => {
  const [row] = await gateway.database.query<Row>(
    'select state, attempts, reason, sha256 from media_files where id = $1',
    [id],
  );
  if (!row) throw new Error('There is no such file.');
  return row;
};
const inState = (id: string, state: string): Promise<Row> =>
  eventually(async () => {
    const row = await fileOf(id);
    expect(row).toMatchObject({ state });
    return row;
  });
/** Lets the next attempt begin now, which back-off would delay. */
const retryNow = () =>
  eventually(async () => {
    await gateway.database.query(
      "update media_files set due_at = now() - interval '1 second' where state = 'waiting' and claim is null",
    );
    await gateway.database.query("update lanes set due_at = null where queue = 'media'");
  });
const bytesAt = async (path: string, token?: string): Promise<Buffer> => {
  const answer = await fetch(`${gateway.url}${path}`, { headers: token ? { authorization: `Bearer ${token}` } : {} });
  expect(answer.status).toBe(200);
  return Buffer.from(await answer.arrayBuffer());
};
const usage = async (tenantId = gateway.tenant.id) =>
  (
    await gateway.database.query<{ files: number; bytes: number }>(
      'select files::int, bytes::int from media_usage where tenant_id = $1',
      [tenantId],
    )
  )[0];

describe('a received file', () => {
  test('is served after the network has deleted it', async () => {
    const bytes = randomBytes(200_000);
    const message = await received(bytes);
    await inState(message.databaseId, 'kept');
    nowMs = Date.now() + 8 * DAY;
    gateway.emulator.setFaults({ mediaErrorCode: 100 });
    expect((await bytesAt(message.media.path, gateway.tenant.token)).equals(bytes)).toBe(true);
    expect((await bytesAt(message.media.url)).equals(bytes)).toBe(true);
    const answer = await gateway.graphql(
      'query ($id: ID!) { message(id: $id) { media { isAvailable size sha256 } } }',
      { id: message.databaseId },
    );
    expect(dataOf(answer).message.media).toEqual({ isAvailable: true, size: bytes.length, sha256: sha256(bytes) });
    expect(await incoming()).toEqual([]);
  });

  test('is kept once for a tenant, however often it comes, and fetched once', async () => {
    const bytes = randomBytes(50_000);
    const before = await usage();
    const first = await received(bytes);
    await inState(first.databaseId, 'kept');
    gateway.emulator.setFaults({ mediaErrorCode: 131016 });
    const second = await received(bytes);
    await inState(second.databaseId, 'kept');
    expect(await stored()).toEqual(expect.arrayContaining([expect.stringContaining(sha256(bytes))]));
    expect((await stored()).filter(name => name.startsWith(sha256(bytes)))).toHaveLength(1);
    expect(await usage()).toEqual({
      files: (before?.files ?? 0) + 1,
      bytes: (before?.bytes ?? 0) + bytes.length,
    });
  });

  test('of two tenants is kept for each', async () => {
    const bytes = randomBytes(1_000);
    const other = await gateway.addTenant();
    const ours = await received(bytes);
    const theirs = await received(bytes, other);
    await inState(ours.databaseId, 'kept');
    await inState(theirs.databaseId, 'kept');
    expect((await stored()).filter(name => name.startsWith(sha256(bytes)))).toHaveLength(2);
    expect(await usage(other.id)).toEqual({ files: 1, bytes: 1_000 });
    expect((await mediaOf(gateway, other.token).get(ours.databaseId)).status).toBe(404);
  });
});

describe('a file that cannot be fetched', () => {
  test('is retried while the network is away, and an interrupted response leaves nothing behind', async () => {
    const bytes = randomBytes(300_000);
    gateway.emulator.setFaults({ mediaBreaksAfter: 100_000 });
    const message = await received(bytes);
    await eventually(async () => expect((await fileOf(message.databaseId)).reason).not.toBeNull());
    expect(await incoming()).toEqual([]);
    gateway.emulator.resetFaults();
    await retryNow();
    await inState(message.databaseId, 'kept');
    expect((await bytesAt(message.media.url)).equals(bytes)).toBe(true);
  });

  test('is given up when the network does not have it', async () => {
    gateway.emulator.setFaults({ mediaErrorCode: 100 });
    const message = await received(randomBytes(1_000));
    await eventually(async () => {
      await retryNow();
      expect(await fileOf(message.databaseId)).toMatchObject({ state: 'lost', attempts: 4 });
    });
    const answer = await gateway.graphql('query ($id: ID!) { message(id: $id) { media { isAvailable } } }', {
      id: message.databaseId,
    });
    expect(dataOf(answer).message.media.isAvailable).toBe(false);
  });

  test('is given up once the network has deleted it', async () => {
    gateway.emulator.setFaults({ mediaErrorCode: 131016 });
    const message = await received(randomBytes(1_000));
    await eventually(async () => expect((await fileOf(message.databaseId)).reason).not.toBeNull());
    await gateway.database.query("update media_files set expires_at = now() - interval '1 second' where id = $1", [
      message.databaseId,
    ]);
    // Another attempt, or the process's own housekeeping, may hold a row that ours skips.
    await eventually(async () => {
      await expireFiles(gateway.gateway.resources);
      expect(await fileOf(message.databaseId)).toMatchObject({ state: 'lost' });
    });
  });

  test('is fetched again if it has other bytes than were announced', async () => {
    const bytes = randomBytes(20_000);
    gateway.emulator.setFaults({ mediaPage: '<html>Try again later</html>' });
    const message = await received(bytes);
    await eventually(async () => expect((await fileOf(message.databaseId)).reason).toMatch(/another digest/));
    expect(await incoming()).toEqual([]);
    gateway.emulator.resetFaults();
    await retryNow();
    await inState(message.databaseId, 'kept');
    expect((await bytesAt(message.media.url)).equals(bytes)).toBe(true);
  });

  test('is kept as the network has it if that stays other than announced', async () => {
    const page = Buffer.from('<html>The only file</html>');
    gateway.emulator.setFaults({ mediaPage: page.toString() });
    const message = await received(randomBytes(20_000));
    await eventually(async () => {
      await retryNow();
      expect(await fileOf(message.databaseId)).toMatchObject({ state: 'kept', attempts: 6 });
    });
    gateway.emulator.resetFaults();
    expect((await bytesAt(message.media.url)).equals(page)).toBe(true);
  });

  // A directory that is away stands for a full disk, which takes the same path.
  test('waits while the disk cannot be written', async () => {
    const [directory, away] = [`${gateway.mediaDirectory}/incoming`, `${gateway.mediaDirectory}/away`];
    await rename(directory, away);
    const message = await received(randomBytes(1_000));
    await eventually(async () => expect((await fileOf(message.databaseId)).reason).toMatch(/creating a file/));
    await rename(away, directory);
    await retryNow();
    await inState(message.databaseId, 'kept');
  });
});

describe('bytes are deleted', () => {
  const sweep = () => deleteUnusedContents(gateway.gateway.resources);
  /** Until no bytes with this name are stored: the process's own sweep may hold a key that ours skips. */
  const gone = (name: string) =>
    eventually(async () => {
      await sweep();
      expect((await stored()).filter(one => one.startsWith(name))).toEqual([]);
    });
  const erase = (id: string) =>
    gateway.graphql('mutation ($id: ID!) { deleteContact(input: { id: $id }) { deletedId } }', { id });

  test('with the last person who sent them, and not before', async () => {
    const bytes = randomBytes(2_000);
    const name = () => stored().then(names => names.find(one => one.startsWith(sha256(bytes))));
    const before = await usage();
    const [one, other] = [await received(bytes), await received(bytes)];
    for (const { databaseId } of [one, other]) await inState(databaseId, 'kept');
    expect((await erase(one.contact.id)).errors).toBeUndefined();
    await sweep();
    expect((await fetch(`${gateway.url}${one.media.url}`)).status).toBe(404);
    expect((await bytesAt(other.media.url)).equals(bytes)).toBe(true);
    expect(await name()).toBeDefined();
    expect((await erase(other.contact.id)).errors).toBeUndefined();
    await gone(sha256(bytes));
    expect(await usage()).toEqual(before);
    // Forgotten by the transaction that has deleted the bytes.
    await eventually(async () =>
      expect(await gateway.database.query('select from media_released union all select from media_unused')).toEqual([]),
    );
  });

  test('after the retention period, while the message stays', async () => {
    const bytes = randomBytes(2_000);
    const message = await received(bytes);
    await inState(message.databaseId, 'kept');
    await gateway.database.query("update media_files set kept_at = now() - interval '31 days' where id = $1", [
      message.databaseId,
    ]);
    const { resources } = gateway.gateway;
    const retention = { ...resources.config.retention, mediaDays: 30 };
    await eventually(async () => {
      await expireFiles({ ...resources, config: { ...resources.config, retention } });
      expect(await fileOf(message.databaseId)).toMatchObject({ state: 'expired', sha256: null });
    });
    await gone(sha256(bytes));
  });

  test('that a killed process wrote without storing their content', async () => {
    const { files } = gateway.gateway.resources;
    const key = `${gateway.tenant.id}/00/left-behind`;
    await gateway.database.query("insert into media_unused values ($1, $2, now() - interval '1 second')", [
      gateway.tenant.id,
      key,
    ]);
    await files.put(key, await files.receive(Readable.from([Buffer.from('x')]), 10));
    expect(await stored()).toContain('left-behind');
    await gone('left-behind');
  });

  // A directory in the place of a file stands for one that the store refuses to delete.
  test('although the store refuses to delete those of another, which are tried again', async () => {
    const { files } = gateway.gateway.resources;
    const [refused, other] = [`${gateway.tenant.id}/00/refused`, `${gateway.tenant.id}/00/other`];
    await mkdir(join(gateway.mediaDirectory, refused), { recursive: true });
    await files.put(other, await files.receive(Readable.from([Buffer.from('x')]), 10));
    await gateway.database.query(
      `insert into media_unused (tenant_id, storage_key, due_at)
       select $1, k.key, now() - k.age * interval '1 second' from unnest($2::text[], $3::int[]) as k (key, age)`,
      [gateway.tenant.id, [refused, other], [2, 1]],
    );
    await eventually(async () => {
      await sweep().catch((error: Error) => expect(error.message).toMatch(/^deleting a file/));
      expect(await stored()).not.toContain('other');
    });
    const waiting = () =>
      gateway.database.query(
        'select storage_key, due_at > now() as is_later from media_unused where storage_key like $1',
        ['%/00/%'],
      );
    await eventually(async () => expect(await waiting()).toEqual([{ storage_key: refused, is_later: true }]));
    await rm(join(gateway.mediaDirectory, refused), { recursive: true });
    await gateway.database.query("update media_unused set due_at = now() - interval '1 second'");
    await eventually(async () => {
      await sweep();
      expect(await waiting()).toEqual([]);
    });
  });
});

describe('kept files', () => {
  test('are counted in the account and in metrics', async () => {
    const tenant = await gateway.addTenant();
    const bytes = randomBytes(1_234);
    await inState((await received(bytes, tenant)).databaseId, 'kept');
    await inState((await received(bytes, tenant)).databaseId, 'kept');
    const { account } = dataOf(
      await gateway.graphql('{ account { usage { mediaFiles mediaBytes } } }', {}, tenant.token),
    );
    expect(account.usage).toEqual({ mediaFiles: 1, mediaBytes: 1_234 });
    const [all] = await gateway.database.query<{ files: number; bytes: number }>(
      'select sum(files)::int as files, sum(bytes)::int as bytes from media_usage',
    );
    const metrics = await (await fetch(`${gateway.url}/metrics`)).text();
    expect(metrics).toContain(`parley_media_files ${all?.files}\n`);
    expect(metrics).toContain(`parley_media_bytes ${all?.bytes}\n`);
    expect(metrics).toMatch(/parley_media_waiting \d+\n/);
    expect(metrics).toMatch(/parley_media_fetches_total\{outcome="kept"\} \d+/);
  });

  test('are part of the export of their contact, with their content, and counted on the receipt of its erasure', async () => {
    const [bytes, other] = [randomBytes(200_001), randomBytes(10)];
    const message = await received(bytes, gateway.tenant, '+4915277700011');
    const second = await received(other, gateway.tenant, '+4915277700011');
    await inState(message.databaseId, 'kept');
    await inState(second.databaseId, 'kept');
    const [row] = await gateway.database.query<{ id: string }>('select contact_id as id from messages where id = $1', [
      message.databaseId,
    ]);
    const contactId = Number(row?.id);
    let document = '';
    const { resources } = gateway.gateway;
    const write = async (piece: string): Promise<void> => {
      document += piece;
    };
    const { counts } = await exportContact(resources, gateway.tenant.id, contactId, COMMAND_LINE, write);
    expect(counts['files']).toBe(2);
    const { files } = JSON.parse(document) as { files: { id: string; data: string }[] };
    expect(files.map(({ id }) => id)).toEqual([message.databaseId, second.databaseId]);
    for (const [index, content] of [bytes, other].entries()) {
      expect(Buffer.from(files[index]?.data ?? '', 'base64').equals(content)).toBe(true);
      expect(files[index]).toMatchObject({
        size: content.length,
        sha256: sha256(content),
        mime_type: 'application/pdf',
      });
    }
    const request = { contactIds: [contactId], reason: 'subject_request', author: COMMAND_LINE } as const;
    const { receipts } = await eraseContacts(resources, gateway.tenant.id, request);
    expect(receipts[0]?.erased).toMatchObject({ file: 2 });
  });
});

test('a picture that is kept is served with ranges, and 304 without opening it', async () => {
  const message = await received(PNG);
  await inState(message.databaseId, 'kept');
  gateway.emulator.setFaults({ mediaErrorCode: 131016 });
  const get = (headers: Record<string, string>) => fetch(`${gateway.url}${message.media.url}`, { headers });
  const part = await get({ range: 'bytes=1-4' });
  expect([part.status, part.headers.get('content-range')]).toEqual([206, `bytes 1-4/${PNG.length}`]);
  expect(Buffer.from(await part.arrayBuffer()).equals(PNG.subarray(1, 5))).toBe(true);
  const beyond = await get({ range: `bytes=${PNG.length}-` });
  expect([beyond.status, beyond.headers.get('content-range')]).toEqual([416, `bytes */${PNG.length}`]);
  expect((await get({ 'if-none-match': `"${sha256(PNG)}"` })).status).toBe(304);
});
