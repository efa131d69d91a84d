import { randomBytes } from 'node:crypto';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { eraseContacts } from '../../../../../../src/features/contacts/erasure/erase.ts';
import { deleteUnusedContents } from '../../../../../../src/features/messages/content/media/keeping/sweep.ts';
import { deleteOldMedia } from '../../../../../../src/features/messages/housekeeping.ts';
import { COMMAND_LINE } from '../../../../../../src/features/tenancy/audit/author.ts';
import { eventually, startGateway, type TestGateway } from '../../../../../support/gateway.ts';
import { type MediaClient, mediaOf } from '../client.ts';
import { PDF } from '../files.ts';

let gateway: TestGateway;
let media: MediaClient;
beforeAll(async () => {
  gateway = await startGateway();
  media = mediaOf(gateway);
});
afterAll(() => gateway.stop());
afterEach(() => gateway.emulator.resetFaults());

const document = () => Buffer.concat([PDF, randomBytes(10_000)]);
const stateOf = async (id: string): Promise<string | undefined> =>
  (await gateway.database.query<{ state: string }>('select state from media_files where id = $1', [id]))[0]?.state;
const kept = (id: string) => eventually(async () => expect(await stateOf(id)).toBe('kept'));
const isListed = async (id: string): Promise<boolean> =>
  (await gateway.database.query('select from media where id = $1', [id])).length > 0;

let last = 0;
/** Sends an upload by REST. @returns the ids of message and contact */
async function sent(mediaId: string): Promise<{ id: string; contactId: number }> {
  last += 1;
  const answer = await gateway.rest('POST', '/messages/media', {
    ...{ phone: `+4915225${String(last).padStart(6, '0')}`, media_type: 'document', media_id: mediaId },
  });
  const body = (await answer.json()) as { data: { message: { id: string; contact_id: number } } };
  const [row] = await gateway.database.query<{ id: string; contact_id: string }>(
    "select id, contact_id from messages where direction = 'outbound' order by id desc limit 1",
  );
  if (!answer.ok || !row) throw new Error(JSON.stringify(body));
  return { id: row.id, contactId: Number(row.contact_id) };
}
/** What happens 30 days after an upload. */
async function expire(id: string): Promise<void> {
  await gateway.database.query("update media set expires_at = now() - interval '1 second' where id = $1", [id]);
  gateway.emulator.setFaults({ mediaErrorCode: 100 });
}
/** Until the last status: a delete by hand locks a message before its state, and a status the other way round. */
const isRead = (id: string) =>
  eventually(async () => {
    const [row] = await gateway.database.query('select status from message_states where message_id = $1', [id]);
    expect(row).toEqual({ status: 'read' });
  });
/** Until housekeeping has deleted an upload: the process's own may hold a row that ours skips. */
const gone = (id: string) =>
  eventually(async () => {
    await deleteOldMedia(gateway.gateway.resources);
    expect([await isListed(id), await stateOf(id)]).toEqual([false, undefined]);
  });
const noContents = () =>
  eventually(async () => {
    await deleteUnusedContents(gateway.gateway.resources);
    expect(await gateway.database.query('select from media_contents')).toEqual([]);
  });
const erase = (contactId: number) =>
  eraseContacts(gateway.gateway.resources, gateway.tenant.id, {
    ...{ contactIds: [contactId], reason: 'other', author: COMMAND_LINE },
  });

test('a file that was sent is shown after the network has deleted it, and goes with its message', async () => {
  const bytes = document();
  const upload = await media.uploaded(bytes, { filename: 'a.pdf' });
  await kept(upload);
  const message = await sent(upload);
  await expire(upload);
  await deleteOldMedia(gateway.gateway.resources);
  expect(await isListed(upload)).toBe(true);
  const answer = await media.get(message.id);
  expect(Buffer.from(await answer.arrayBuffer()).equals(bytes)).toBe(true);
  await isRead(message.id);
  await gateway.database.query('delete from messages where id = $1', [message.id]);
  await gateway.database.query("update media set recheck_at = now() - interval '1 second' where id = $1", [upload]);
  await gone(upload);
  await noContents();
});

test('an upload that was never sent goes when the network deletes it', async () => {
  const upload = await media.uploaded(document());
  await kept(upload);
  await expire(upload);
  await gone(upload);
});

test('the kept copy is erased with the last of its recipients', async () => {
  const upload = await media.uploaded(document());
  await kept(upload);
  const [one, other] = [await sent(upload), await sent(upload)];
  await erase(one.contactId);
  expect(await stateOf(upload)).toBe('kept');
  await erase(other.contactId);
  expect(await stateOf(upload)).toBeUndefined();
  await noContents();
});

test('a form with the same file after 30 days leaves earlier messages their copy', async () => {
  const bytes = document();
  const send = async () => {
    const form = new FormData();
    form.set('phone', '+4915226000001');
    form.set('media_type', 'document');
    form.set('media_file', new Blob([bytes], { type: 'application/pdf' }), 'b.pdf');
    const answer = await fetch(`${gateway.url}/api/v2/messages/media`, {
      method: 'POST',
      headers: { authorization: `Bearer ${gateway.tenant.token}` },
      body: form,
    });
    expect(answer.status).toBe(200);
    const [row] = await gateway.database.query<{ id: string; media: string }>(
      `select m.id, f.id as media from messages m join media f on f.network_media_id = m.content->>'id' order by m.id desc limit 1`,
    );
    return row ?? { id: '', media: '' };
  };
  const first = await send();
  await kept(first.media);
  await gateway.database.query("update media set expires_at = now() - interval '1 second'");
  const second = await send();
  expect(second.media).toBe(first.media);
  expect(second.id).not.toBe(first.id);
  gateway.emulator.setFaults({ mediaErrorCode: 100 });
  const answer = await media.get(first.id);
  expect(Buffer.from(await answer.arrayBuffer()).equals(bytes)).toBe(true);
});
