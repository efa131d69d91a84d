import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { deleteUnusedContents } from '../../../../../../src/features/messages/content/media/keeping/sweep.ts';
import { dataOf } from '../../../../../support/answers.ts';
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
    await deleteUnusedContents(gateway.gateway.resources);
    expect((await get()).status).toBe(404);
    expect(await s3.count()).toBe(0);
  });
});
