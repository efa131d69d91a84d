import { describe, expect, test } from 'vitest';
import { NUMBER, startNetwork } from '../network/network.ts';

const OTHER = { ...NUMBER, phoneNumberId: '777', wabaId: '778', accessToken: 'token-of-another' };

describe('a Graph API error', () => {
  test('for a wrong token is an OAuthException 190', async () => {
    const { graph } = await startNetwork();
    const answer = await graph('GET', NUMBER.phoneNumberId, undefined, 'wrong');
    expect(answer).toMatchObject({ status: 401, body: { error: { type: 'OAuthException', code: 190 } } });
  });

  test('for a missing token is an OAuthException 190 too', async () => {
    const { emulator } = await startNetwork();
    const answer = await fetch(`${emulator.url}/v24.0/${NUMBER.phoneNumberId}`);
    expect(await answer.json()).toMatchObject({ error: { type: 'OAuthException', code: 190 } });
  });

  test.each([
    ['that does not exist', '424242'],
    ['of another business', OTHER.phoneNumberId],
  ])('for an object %s is a GraphMethodException 100/33 without error_data, HTTP 400', async (_what, id) => {
    const { graph } = await startNetwork({ numbers: [NUMBER, OTHER] });
    const answer = await graph('GET', id);
    expect(answer).toMatchObject({
      status: 400,
      body: { error: { type: 'GraphMethodException', code: 100, error_subcode: 33 } },
    });
    expect(answer.body.error).not.toHaveProperty('error_data');
    expect(answer.headers.get('www-authenticate')).toMatch(/^OAuth "Facebook Platform" "invalid_request"/);
  });

  test('of the usual format has error_data and a trace id', async () => {
    const { graph } = await startNetwork();
    const answer = await graph('POST', `${NUMBER.phoneNumberId}/messages`, {
      messaging_product: 'whatsapp',
      to: '+14155550100',
      type: 'hologram',
    });
    expect(answer.body.error).toMatchObject({
      message: '(#131051) Unsupported message type',
      error_data: { messaging_product: 'whatsapp', details: 'Unsupported message type: hologram' },
      fbtrace_id: expect.any(String),
    });
  });

  test('for a body that is not JSON has code 100', async () => {
    const { emulator } = await startNetwork();
    const headers = { authorization: `Bearer ${NUMBER.accessToken}` };
    const answer = await fetch(`${emulator.url}/v24.0/${NUMBER.phoneNumberId}/messages`, {
      method: 'POST',
      headers,
      body: '{',
    });
    expect(await answer.json()).toMatchObject({ error: { code: 100 } });
  });
});

describe('numbers', () => {
  test('return the requested fields and always the id', async () => {
    const { graph } = await startNetwork();
    expect((await graph('GET', `${NUMBER.phoneNumberId}?fields=verified_name`)).body).toEqual({
      id: NUMBER.phoneNumberId,
      verified_name: NUMBER.verifiedName,
    });
    expect((await graph('GET', `${NUMBER.phoneNumberId}?fields=shoe_size`)).body.error?.code).toBe(100);
  });

  test('of an account are listed, with a usage header', async () => {
    const { graph } = await startNetwork({ numbers: [NUMBER, OTHER] });
    const answer = await graph('GET', `${NUMBER.wabaId}/phone_numbers`);
    expect(answer.body.data).toMatchObject([{ id: NUMBER.phoneNumberId }]);
    expect(answer.body.paging?.cursors.after).toEqual(expect.any(String));
    expect(answer.headers.get('x-business-use-case-usage')).toContain(NUMBER.wabaId);
  });
});

describe('media', () => {
  async function upload(url: string, bytes: Buffer<ArrayBuffer>, type: string): Promise<Response> {
    const form = new FormData();
    form.set('messaging_product', 'whatsapp');
    form.set('file', new Blob([bytes], { type }), 'file');
    const headers = { authorization: `Bearer ${NUMBER.accessToken}` };
    return fetch(`${url}/v24.0/${NUMBER.phoneNumberId}/media`, { method: 'POST', headers, body: form });
  }

  test('are uploaded, described with a numeric size, fetched with the token only, and deleted', async () => {
    const { emulator, graph } = await startNetwork();
    const { id } = (await (await upload(emulator.url, Buffer.from('picture'), 'image/png')).json()) as { id: string };
    const shown = await graph('GET', id);
    expect(shown.body).toMatchObject({
      id,
      mime_type: 'image/png',
      file_size: 7,
      messaging_product: 'whatsapp',
      sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
    });

    const url = String(shown.body['url']);
    expect((await fetch(url)).status).toBe(401);
    const fetched = await fetch(url, { headers: { authorization: `Bearer ${NUMBER.accessToken}` } });
    expect(await fetched.text()).toBe('picture');
    expect(fetched.headers.get('content-type')).toBe('image/png');

    expect((await graph('DELETE', id)).body).toEqual({ success: true });
    expect((await graph('GET', id)).body.error?.error_subcode).toBe(33);
  });

  test('links return 404 after five minutes', async () => {
    let now = Date.UTC(2026, 10, 1);
    const { emulator, graph } = await startNetwork({ clock: { now: () => now } });
    const { id } = (await (await upload(emulator.url, Buffer.from('x'), 'image/png')).json()) as { id: string };
    const url = String((await graph('GET', id)).body['url']);
    const headers = { authorization: `Bearer ${NUMBER.accessToken}` };
    now += 299_000;
    expect((await fetch(url, { headers })).status).toBe(200);
    now += 1_000;
    expect((await fetch(url, { headers })).status).toBe(404);
  });

  test('that are too large are rejected', async () => {
    const { emulator } = await startNetwork();
    const answer = await upload(emulator.url, Buffer.alloc(5 * 1024 * 1024 + 1), 'image/png');
    expect(await answer.json()).toMatchObject({ error: { code: 131053 } });
  });

  test('sent by people can be downloaded', async () => {
    const { emulator, receiver, graph } = await startNetwork();
    emulator.inbound({
      type: 'image',
      from: '+14155550123',
      caption: 'Look',
      dataBase64: Buffer.from('jpeg').toString('base64'),
    });
    await emulator.settled();
    const update = receiver.updates()[0];
    expect(update).toMatchObject({ kind: 'message', type: 'image', text: 'Look' });
    const { id } = (update?.kind === 'message' ? update.content : {}) as { id: string };
    expect((await graph('GET', id)).body['file_size']).toBe(4);
  });
});
