import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { deleteUnusedContents } from '../../../../../../src/features/messages/content/media/keeping/sweep.ts';
import { dataOf, payloadOf } from '../../../../../support/answers.ts';
import { eventually, startGateway, type TestGateway } from '../../../../../support/gateway.ts';
import { hasS3, type S3Server, startS3 } from '../../../../../support/s3.ts';

describe.skipIf(!hasS3)('a gateway with S3', () => {
  let s3: S3Server;
  let gateway: TestGateway;
  beforeAll(async () => {
    s3 = await startS3();
    const { bucket, endpoint = '', prefix, credentials } = s3.options;
    gateway = await startGateway({
      env: {
        PARLEY_MEDIA_S3_BUCKET: bucket,
        PARLEY_MEDIA_S3_ENDPOINT: endpoint,
        PARLEY_MEDIA_S3_PREFIX: prefix,
        PARLEY_MEDIA_S3_ACCESS_KEY_ID: credentials?.accessKeyId ?? '',
        PARLEY_MEDIA_S3_SECRET_ACCESS_KEY: credentials?.secretAccessKey ?? '',
      },
    });
  });
  afterAll(async () => {
    await gateway?.stop();
    await s3?.stop();
  });

  /** Until what nothing refers to is deleted: the process's own sweep may hold a key that ours skips. */
  const allDeleted = () =>
    eventually(async () => {
      await deleteUnusedContents(gateway.gateway.resources);
      expect(await s3.count()).toBe(0);
    });

  test('keeps a received file in the bucket, serves it and parts of it, and deletes it with the person', async () => {
    const bytes = randomBytes(100_000);
    gateway.emulator.inbound({
      ...{ type: 'image', from: '+4915223000001', mimeType: 'image/png', dataBase64: bytes.toString('base64') },
    } as never);
    const message = await eventually(async () => {
      const { messages } = dataOf(
        await gateway.graphql('{ messages(first: 1) { nodes { contact { id } media { url isAvailable size } } } }'),
      );
      // The size is known once the file is kept.
      expect(messages.nodes[0]?.media).toMatchObject({ isAvailable: true, size: bytes.length });
      return messages.nodes[0];
    });
    expect(await s3.count()).toBe(1);
    gateway.emulator.setFaults({ mediaErrorCode: 131016 });
    const get = (headers = {}) => fetch(`${gateway.url}${message.media.url}`, { headers });
    expect(Buffer.from(await (await get()).arrayBuffer()).equals(bytes)).toBe(true);
    const part = await get({ range: 'bytes=-10' });
    expect(part.status).toBe(206);
    expect(Buffer.from(await part.arrayBuffer()).equals(bytes.subarray(-10))).toBe(true);
    const remove = 'mutation ($id: ID!) { deleteContact(input: { id: $id }) { deletedId } }';
    expect((await gateway.graphql(remove, { id: message.contact.id })).errors).toBeUndefined();
    await allDeleted();
    expect((await get()).status).toBe(404);
  });

  test('keeps exports in the bucket, serves them and parts of them, and deletes those of an erased person', async () => {
    const bytes = randomBytes(20_000).toString('base64');
    gateway.emulator.resetFaults();
    gateway.emulator.inbound({
      type: 'image',
      from: '+4915223000002',
      mimeType: 'image/png',
      dataBase64: bytes,
    } as never);
    const id = await eventually(async () => {
      const { messages } = dataOf(
        await gateway.graphql('{ messages(first: 1) { nodes { contact { id phone } media { size } } } }'),
      );
      expect(messages.nodes[0]).toMatchObject({ contact: { phone: '+4915223000002' }, media: { size: 20_000 } });
      return messages.nodes[0].contact.id as string;
    });
    const complete = async (exportId: string) =>
      eventually(async () => {
        const answer = await gateway.graphql('query ($id: ID!) { export(id: $id) { state url error } }', {
          id: exportId,
        });
        expect(dataOf(answer).export).toMatchObject({ state: 'COMPLETED', error: null });
        return dataOf(answer).export.url as string;
      });
    const list = await gateway.mutate('createExport', { resource: { contacts: {} } }, 'export { id }');
    const person = await gateway.mutate('exportContact', { id }, 'export { id }');
    const [csv, json] = await Promise.all([complete(payloadOf(list).export.id), complete(payloadOf(person).export.id)]);
    // The image and both exports; nothing of them is left in the directory.
    expect(await s3.count()).toBe(3);
    const get = (url: string, headers = {}) => fetch(`${gateway.url}${url}`, { headers });
    expect(await (await get(csv)).text()).toContain('+4915223000002');
    const whole = await (await get(json)).text();
    expect(whole).toContain(bytes);
    const part = await get(json, { range: 'bytes=-10' });
    expect([part.status, await part.text()]).toEqual([206, whole.slice(-10)]);
    const erase = await gateway.mutate('eraseContact', { id }, 'erasureReceipt { erased { kind count } }');
    expect(payloadOf(erase).erasureReceipt).toBeDefined();
    await allDeleted();
    expect([(await get(csv)).status, (await get(json)).status]).toEqual([404, 404]);
  });
});
