import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { QueueOverload } from '../../src/platform/keyed-semaphore.ts';
import { dataOf } from '../support/answers.ts';
import { eventually, startGateway, type TestGateway, type TestTenant } from '../support/gateway.ts';
import { newPhone } from '../support/seed.ts';
import { type Rest, restOf, TIMESTAMP, UUID } from './client.ts';

let gateway: TestGateway;
let tenant: TestTenant;
let rest: Rest;

beforeAll(async () => {
  gateway = await startGateway();
  tenant = await gateway.addTenant({ plan: 'standard' });
  rest = restOf(gateway, tenant);
});
beforeEach(() => {
  gateway.emulator.resetFaults();
  gateway.emulator.setFaults({ window: 'open' });
});
afterAll(() => gateway.stop());

const send = (body: object, headers?: Record<string, string>) => rest('POST', '/messages/text', body, headers);

describe('sending a text', () => {
  it('answers 503 with the time to wait where too many messages wait to be accepted', async () => {
    const { writes } = gateway.gateway.resources.sendBatches;
    const full = vi.spyOn(writes, 'run').mockRejectedValue(new QueueOverload('The queue is full.'));
    onTestFinished(() => full.mockRestore());
    const { status, headers, body } = await send({ phone: newPhone(), message: 'Hello' });
    expect([status, body.error.code, headers.get('retry-after')]).toEqual([503, 'SERVICE_UNAVAILABLE', '1']);
  });

  it('answers with the network’s id once the network accepted the message', async () => {
    const phone = newPhone();
    const { status, body } = await send({ phone, message: 'Hello', preview_url: true });
    expect(status).toBe(200);
    expect(body.data).toEqual({
      message_id: expect.stringMatching(/^wamid\./),
      contact_id: expect.any(Number),
      phone: phone.slice(1),
      status: expect.stringMatching(/^(sent|delivered|read)$/),
      sent_at: expect.stringMatching(TIMESTAMP),
      chat_id: expect.any(Number),
      chat_message_id: expect.stringMatching(UUID),
      message: 'Hello',
      preview_url: true,
      service_window: { open: false, expires_at: null },
    });
    expect(gateway.emulator.sent({ to: phone }).matched).toBe(1);
  });

  it('creates the contact from `contact`, and fills merge fields from it', async () => {
    const group = (await rest('POST', '/groups', { name: 'Sent' })).body.data.id;
    const contact = {
      firstname: 'Ada',
      lastname: 'Lovelace',
      email: 'ada@send.example',
      country: '826',
      groups: [group],
    };
    const { body } = await send({ phone: newPhone(), message: 'Hello @{contact_first_name}', contact });
    expect(body.data.message).toBe('Hello Ada');
    const made = await rest('GET', `/contacts/${body.data.contact_id}`);
    expect(made.body.data).toMatchObject({
      firstname: 'Ada',
      lastname: 'Lovelace',
      email: 'ada@send.example',
      country_id: 826,
      group_id: [group],
    });
  });

  it('accepts a contact’s id, quoted or bare, instead of a number', async () => {
    const created = await rest('POST', '/contacts', { phone: newPhone() });
    const { id, phone } = created.body.data;
    for (const contact_id of [id, String(id)])
      expect((await send({ contact_id, message: 'Hello' })).body.data).toMatchObject({
        contact_id: id,
        phone: phone.slice(1),
      });
    const missing = await send({ contact_id: 999_999, message: 'Hello' });
    expect([missing.status, missing.body.error.message]).toEqual([404, 'Contact not found.']);
  });

  it('answers 202 at once with Prefer: respond-async', async () => {
    gateway.emulator.setFaults({ latencyMs: 400 });
    const { status, headers, body } = await send(
      { phone: newPhone(), message: 'Hello' },
      { prefer: 'respond-async, wait=10' },
    );
    expect(status).toBe(202);
    expect(headers.get('preference-applied')).toBe('respond-async');
    expect(body).toMatchObject({
      message: 'Message queued',
      data: { message_id: null, status: 'queued', sent_at: null },
    });
    await eventually(async () => {
      const later = await rest('GET', `/messages/${body.data.chat_message_id}`);
      expect(later.body.data.message_id).toMatch(/^wamid\./);
    });
  });

  it('needs no more than messages:send', async () => {
    const token = await gateway.addToken(tenant, { scopes: ['messages:send'] });
    const { status, body } = await send({ phone: newPhone(), message: 'Hello' }, { authorization: `Bearer ${token}` });
    expect([status, body.data?.phone]).toEqual([200, expect.stringMatching(/^\d+$/)]);
  });

  it('answers with the network’s reason for a refusal, and stores it with the message', async () => {
    gateway.emulator.setFaults({ next: [{ errorCode: 131_026 }] });
    const { status, body } = await send({ phone: newPhone(), message: 'Hello' });
    expect(status).toBe(422);
    expect(body.error).toMatchObject({
      code: 'MESSAGE_SEND_FAILED',
      details: { provider: { code: 131_026, title: expect.any(String), details: expect.any(String) } },
    });
    const row = await rest('GET', `/messages/${body.error.details.chat_message_id}`);
    expect(row.body.data).toMatchObject({ status: 'failed', status_message: { code: 131_026 }, message_id: null });
  });

  it('stays queued if the network asks to wait, or stops the channel; the history says why it waits', async () => {
    const impatient = await startGateway({ env: { PARLEY_ACCEPTANCE_TIMEOUT_MS: '100' } });
    onTestFinished(() => impatient.stop());
    const waits = await Promise.all(
      // A quota, and credentials that are refused.
      [80_007, 190].map(async errorCode => {
        const own = await impatient.addTenant({ plan: 'standard' });
        const phone = newPhone();
        impatient.emulator.setFaults({ next: [{ errorCode, to: phone, count: 100 }] });
        const ask = restOf(impatient, own);
        return {
          ask,
          reason: String(errorCode),
          ...(await ask('POST', '/messages/text', { phone, message: 'Hello' })),
        };
      }),
    );
    for (const { ask, reason, status, body } of waits) {
      expect([status, body.data.status, body.data.message_id, body.message]).toEqual([
        200,
        'queued',
        null,
        'Message queued',
      ]);
      const row = { status: 'queued', status_message: null, status_reason: expect.stringContaining(reason) };
      await eventually(async () => {
        expect((await ask('GET', `/messages/${body.data.chat_message_id}`)).body.data).toMatchObject(row);
        expect((await ask('GET', '/messages')).body.data).toMatchObject([row]);
      });
    }
  });

  it('reports faults under the names of the wire', async () => {
    const cases: [object, string[]][] = [
      [{}, ['message', 'phone']],
      [{ phone: '12', message: 'x' }, ['phone']],
      [{ phone: {}, message: [] }, ['message', 'phone']],
      [{ phone: Buffer.from('Contact:1').toString('base64url'), message: 'x' }, ['phone']],
      [{ contact_id: 'x', message: 'x' }, ['contact_id']],
      [{ phone: newPhone(), message: 'x'.repeat(4_097) }, ['message']],
      [{ phone: newPhone(), message: '@{contact_shoe_size}' }, ['message']],
      [{ phone: newPhone(), message: 'x', preview_url: 'perhaps' }, ['preview_url']],
      [{ phone: newPhone(), message: 'x', contact: 'Ada' }, ['contact']],
      [
        { phone: newPhone(), message: 'x', contact: { firstname: {}, country: 'Atlantis' } },
        ['contact.country', 'contact.firstname'],
      ],
      [{ phone: newPhone(), message: 'x', contact: { email: 'no', country: 1 } }, ['contact.country', 'contact.email']],
    ];
    for (const [input, fields] of cases) {
      const { status, body } = await send(input);
      expect([status, Object.keys(body.error.details).sort()]).toEqual([422, fields]);
    }
    const stranger = await send({ phone: newPhone(), message: 'x', contact: { assigned_id: 9_999 } });
    expect(Object.keys(stranger.body.error.details)).toEqual([expect.stringMatching(/assigned_id$/)]);
    expect(
      (await send({ phone: newPhone(), message: '@{contact_shoe_size}' })).body.error.details.message[0],
    ).toContain('contact_first_name');
  });

  it('is refused for opted-out contacts, outside the window, and without a channel', async () => {
    const gone = await rest('POST', '/contacts', { phone: newPhone() });
    await rest('PATCH', `/contacts/${gone.body.data.id}`, { is_opted_out: true });
    const optedOut = await send({ contact_id: gone.body.data.id, message: 'Hello' });
    expect([optedOut.status, optedOut.body.error.code]).toEqual([403, 'CONTACT_OPTED_OUT']);
    const { entries } = dataOf(
      await gateway.graphql(
        'query ($id: ID!) { contact(id: $id) { entries: consentEntries { nodes { databaseId } } } }',
        { id: String(gone.body.data.id) },
        tenant.token,
      ),
    ).contact;
    const details = {
      opted_out_at: expect.stringMatching(TIMESTAMP),
      category: 'all',
      consent_entry_id: Number(entries.nodes[0].databaseId),
    };
    expect(optedOut.body.error.details).toEqual(details);
    const batch = await rest('POST', '/messages/batch', {
      messages: [{ contact_id: gone.body.data.id, message: 'Hello' }],
    });
    expect(batch.body.errors).toMatchObject([{ index: 0, code: 'CONTACT_OPTED_OUT', details }]);

    const strict = restOf(gateway, await gateway.addTenant({ plan: 'standard', windowPolicy: 'refuse' }));
    const closed = await strict('POST', '/messages/text', { phone: newPhone(), message: 'Hello' });
    expect([closed.status, closed.body.error.code]).toEqual([422, 'OUTSIDE_SERVICE_WINDOW']);

    const silent = restOf(gateway, await gateway.addTenant({ plan: 'standard', channel: false }));
    const unconfigured = await silent('POST', '/messages/text', { phone: newPhone(), message: 'Hello' });
    expect([unconfigured.status, unconfigured.body.error.code]).toEqual([422, 'MESSAGING_NOT_CONFIGURED']);
  });
});

describe('the history', () => {
  it('shows every message with all its fields, in both directions', async () => {
    const phone = newPhone();
    const sent = await send({ phone, message: 'How are you?' });
    const wamid = gateway.emulator.inbound({
      from: phone,
      phoneNumberId: tenant.phoneNumberId,
      type: 'text',
      text: 'Well',
    });
    const list = await eventually(async () => {
      const { body } = await rest('GET', `/messages?filter[contact_id]=${sent.body.data.contact_id}`);
      expect(body.data).toHaveLength(2);
      // Rows and their number are read side by side: a message may come in between.
      expect(body.meta.pagination.total).toBe(2);
      return body;
    });
    const inbound = list.data.find((row: { direction: string }) => row.direction === 'inbound');
    expect(inbound).toEqual({
      id: expect.stringMatching(UUID),
      interaction_id: sent.body.data.chat_id,
      contact_id: sent.body.data.contact_id,
      direction: 'inbound',
      type: 'text',
      message: 'Well',
      status: 'received',
      status_message: null,
      status_reason: null,
      message_id: wamid,
      ref_message_id: null,
      url: null,
      scheduled_at: null,
      sent_at: expect.stringMatching(TIMESTAMP),
      delivered_at: null,
      read_at: null,
      created_at: expect.stringMatching(TIMESTAMP),
      is_read: false,
    });
    expect((await rest('GET', `/messages/${inbound.id}`)).body.data).toEqual(inbound);
    expect((await send({ phone, message: 'Good' })).body.data.service_window).toEqual({
      open: true,
      expires_at: expect.stringMatching(TIMESTAMP),
    });
  });

  it('is filtered, searched, sorted and cut to fields', async () => {
    const { body } = await send({ phone: newPhone(), message: 'A needle in a haystack' });
    const { contact_id: contact, chat_id: chat, chat_message_id: id, message_id: wamid } = body.data;
    for (const query of [
      `filter[wamid]=${encodeURIComponent(wamid)}`,
      `filter[message_id][in]=${encodeURIComponent(wamid)},wamid.none`,
      `filter[contact_id]=${contact}&filter[wamid][ne]=wamid.none`,
      `filter[contact_id]=${contact}`,
      `filter[interaction_id]=${chat}&sort=-created_at`,
      'search=needle',
      `q=needle&filter[direction]=outbound&filter[type]=text&sort=updated_at`,
      `filter[contact_id]=${contact}&filter[status][in]=queued,sent,delivered,read`,
      `filter[contact_id]=${contact}&filter[created_at][gte]=2020-01-01`,
    ]) {
      expect([query, (await rest('GET', `/messages?fields=id&${query}`)).body.data]).toEqual([query, [{ id }]]);
    }
    expect((await rest('GET', `/messages?filter[contact_id]=${contact}&filter[status]=failed`)).body.data).toEqual([]);
  });

  it('is found by the id of the network', async () => {
    const { body } = await send({ phone: newPhone(), message: 'Hello' });
    const { data } = (await rest('GET', `/messages/${encodeURIComponent(body.data.message_id)}`)).body;
    expect(data).toMatchObject({ id: body.data.chat_message_id, message_id: body.data.message_id });
  });

  it('answers 404 for an unknown id and for another tenant’s message', async () => {
    const { body } = await send({ phone: newPhone(), message: 'Hello' });
    const stranger = restOf(gateway, await gateway.addTenant({ plan: 'standard', channel: false }));
    for (const answer of [
      await stranger('GET', `/messages/${body.data.chat_message_id}`),
      await stranger('GET', `/messages/${encodeURIComponent(body.data.message_id)}`),
      await rest('GET', '/messages/wamid.none'),
      await rest('GET', '/messages/1'),
      await rest('GET', '/messages/x'),
    ]) {
      expect([answer.status, answer.body.error.message]).toEqual([404, 'Message not found.']);
    }
  });
});
