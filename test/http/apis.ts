import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import { WebSocket } from 'ws';
import { sign } from '../../src/network/cloud-api/signature.ts';
import type { TestTenant } from '../support/gateway.ts';

export interface Call {
  readonly name: string;
  readonly writes: boolean;
  send(): Promise<Response>;
}

/** One call of every interface, each of which needs the database. */
export function callsOf(url: string, { slug, phoneNumberId, wabaId }: TestTenant, token: string): readonly Call[] {
  const authorization = `Bearer ${token}`;
  const json = { authorization, 'content-type': 'application/json' };
  const get =
    (path: string, headers: Record<string, string> = {}) =>
    () =>
      fetch(url + path, { headers: { authorization, ...headers } });
  const post =
    (path: string, body: unknown, headers: Record<string, string> = {}) =>
    () =>
      fetch(url + path, { method: 'POST', headers: { ...json, ...headers }, body: JSON.stringify(body) });
  const [query, mutation] = [
    '{ contacts { nodes { id } } }',
    'mutation { createContactGroup(input: { name: "Lost" }) { contactGroup { id } } }',
  ];
  const webhook = {
    object: 'whatsapp_business_account',
    entry: [
      {
        id: wabaId,
        changes: [
          {
            field: 'messages',
            value: { messaging_product: 'whatsapp', metadata: { phone_number_id: phoneNumberId }, statuses: [] },
          },
        ],
      },
    ],
  };
  const signature = sign(Buffer.from(JSON.stringify(webhook)), 'test-app-secret');
  return [
    { name: 'GraphQL, a query', writes: false, send: post('/graphql', { query }) },
    { name: 'GraphQL, a mutation', writes: true, send: post('/graphql', { query: mutation }) },
    { name: 'GraphQL, GET', writes: false, send: get(`/graphql?query=${encodeURIComponent(query)}`) },
    {
      name: 'GraphQL, a stream of events after an id',
      writes: false,
      send: post(
        '/graphql',
        { query: `subscription { events(after: "${randomUUID()}") { id } }` },
        { accept: 'text/event-stream' },
      ),
    },
    { name: 'REST v2, a list', writes: false, send: get('/api/v2/contacts') },
    { name: 'REST v2, a creation', writes: true, send: post('/api/v2/groups', { name: 'Lost' }) },
    { name: 'REST v1, a list', writes: false, send: get(`/api/v1/${slug}/contacts`) },
    { name: 'REST v1, a creation', writes: true, send: post(`/api/v1/${slug}/groups`, { name: 'Lost' }) },
    { name: 'a file', writes: false, send: get(`/media/${randomUUID()}`) },
    {
      name: 'a webhook of the network',
      writes: true,
      send: post('/network/cloud-api/webhook', webhook, { 'x-hub-signature-256': signature }),
    },
    {
      name: 'the verification of a webhook',
      writes: false,
      send: get('/network/cloud-api/webhook?hub.mode=subscribe&hub.verify_token=x&hub.challenge=1'),
    },
    { name: 'an order of a shop', writes: false, send: post(`/integrations/${'A'.repeat(32)}`, {}) },
  ];
}

/** @throws when a response is anything but 503 with Retry-After in the shape of its interface */
export async function expectUnavailable(name: string, response: Response): Promise<void> {
  const text = await response.text();
  expect([name, response.status, text], text).toEqual([name, 503, expect.any(String)]);
  expect(response.headers.get('retry-after'), name).toMatch(/^[1-9]\d*$/);
  expect(text, name).not.toMatch(/ECONN|socket|postgres|127\.0\.0\.1|terminated|read-only|timeout/i);
  const body = text.startsWith('{') ? JSON.parse(text) : JSON.parse(/^data: (.*)$/m.exec(text)?.[1] ?? '');
  if (name.startsWith('GraphQL')) expect(body.errors[0].extensions.code, text).toBe('SERVICE_UNAVAILABLE');
  else if (name.startsWith('REST v1'))
    expect(body, text).toMatchObject({ status: 'error', message: 'Service unavailable' });
  else expect(body, text).toMatchObject({ success: false, error: { code: 'SERVICE_UNAVAILABLE' } });
}

/** The code with which a socket is closed after it has asked to be let in. */
export function closeCodeOf(url: string, token: string): Promise<number> {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws');
  socket.once('open', () =>
    socket.send(JSON.stringify({ type: 'connection_init', payload: { authorization: `Bearer ${token}` } })),
  );
  return new Promise((resolve, reject) => socket.once('close', resolve).once('error', reject));
}
