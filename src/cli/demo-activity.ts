import { createHmac } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { DAY, HOUR, MINUTE } from '../platform/clock.ts';
import { DEMO_NETWORK } from './demo.ts';
import { DEMO_CANNED_REPLIES, DEMO_TAGS, DEMO_THREADS, type DemoPerson } from './demo-threads.ts';

interface Gateway {
  readonly baseUrl: string;
  readonly emulatorUrl: string;
  readonly token: string;
}

const HISTORY_DAYS = 14;

/**
 * Fills the demo tenant with two weeks of conversations, tags, notes, canned replies, a webhook, a shop with an order and the draft
 * of a campaign, all through the public API and the webhooks of network and shop.
 * @throws Error if the gateway refuses a part of it
 */
export async function fillDemo(gateway: Gateway, people: readonly DemoPerson[], nowMs: number): Promise<void> {
  await createEndpoint(gateway);
  await postHistory(gateway, people, nowMs);
  await waitUntil('the conversations', async () => (await countOf(gateway, 'conversations')) >= people.length);
  const tags: readonly string[] = await createAll(gateway, 'createTag', DEMO_TAGS, 'tag');
  const replies = DEMO_CANNED_REPLIES.map(({ text, ...reply }) => ({ ...reply, content: { text: { body: text } } }));
  await createAll(gateway, 'createCannedReply', replies, 'cannedReply');
  await workOnConversations(gateway, tags);
  await waitUntil('the templates', async () => (await countOf(gateway, 'templates')) > 0);
  await connectShop(gateway, people[1]);
  await createCampaignDraft(gateway);
}

/** Delivers events to the emulator, which accepts them: the page of webhooks has deliveries to look at. */
async function createEndpoint(gateway: Gateway): Promise<void> {
  const url = `${gateway.emulatorUrl}/_emulator/receiver`;
  const input = { url, events: ['message.*'], description: 'Accepts everything: the emulator' };
  await mutate(gateway, 'createWebhookEndpoint', input, 'webhookEndpoint { id }');
}

/** Posts the past two weeks as the network does for a number that was in use before it was connected: the field `history`. */
async function postHistory({ baseUrl }: Gateway, people: readonly DemoPerson[], nowMs: number): Promise<void> {
  const { phoneNumberId, displayPhoneNumber, wabaId } = DEMO_NETWORK.number;
  const number = displayPhoneNumber.replaceAll(/\D/g, '');
  const value = {
    messaging_product: 'whatsapp',
    metadata: { display_phone_number: number, phone_number_id: phoneNumberId },
    history: [
      {
        metadata: { phase: 0, chunk_order: 1, progress: 100 },
        threads: people.map((person, index) => threadOf(person, index, number, nowMs)),
      },
    ],
  };
  const entry = [{ id: wabaId, changes: [{ field: 'history', value }] }];
  const body = JSON.stringify({ object: 'whatsapp_business_account', entry });
  const signature = createHmac('sha256', DEMO_NETWORK.appSecret).update(body).digest('hex');
  const response = await fetch(`${baseUrl}/network/cloud-api/webhook`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-hub-signature-256': `sha256=${signature}` },
    body,
  });
  if (!response.ok) throw new Error(`The webhook answered ${response.status}.`);
}

/** The conversation of one person, its messages a few minutes apart, on one of the past days. */
function threadOf({ phone }: DemoPerson, index: number, number: string, nowMs: number): object {
  const waId = phone.slice(1);
  const texts = DEMO_THREADS[index % DEMO_THREADS.length] ?? [];
  const startMs = nowMs - ((index * 5) % HISTORY_DAYS) * DAY - (1 + (index % 7)) * HOUR;
  const messages = texts.map((text, position) => ({
    id: `wamid.${Buffer.from(`demo ${waId} ${position}`).toString('base64')}`,
    ...(position % 2 === 0 ? { from: waId } : { from: number, to: waId }),
    timestamp: String(Math.floor((startMs + position * (3 + (index % 4)) * MINUTE) / 1_000)),
    type: 'text',
    text: { body: text },
    history_context: { status: 'READ' },
  }));
  return { id: waId, messages };
}

async function query<Data>({ baseUrl, token }: Gateway, text: string, variables: object = {}): Promise<Data> {
  const response = await fetch(`${baseUrl}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: JSON.stringify({ query: text, variables }),
  });
  const { data, errors } = (await response.json()) as { data?: Data; errors?: readonly { message: string }[] };
  if (!data || errors) throw new Error(errors?.[0]?.message ?? `The gateway answered ${response.status}.`);
  return data;
}

/** Runs a mutation. @throws Error with the first of its userErrors */
async function mutate<Payload>(gateway: Gateway, name: string, input: object, selection: string): Promise<Payload> {
  const type = `${name[0]?.toUpperCase()}${name.slice(1)}Input`;
  const data = await query<Record<string, Payload & { userErrors: readonly { message: string; path: unknown }[] }>>(
    gateway,
    `mutation ($input: ${type}!) { ${name}(input: $input) { ${selection} userErrors { message path } } }`,
    { input },
  );
  const payload = data[name];
  const fault = payload?.userErrors[0];
  if (!payload || fault) throw new Error(`${name}: ${fault?.message} (${String(fault?.path)})`);
  return payload;
}

/** @returns the ids of the created objects */
async function createAll(gateway: Gateway, name: string, inputs: readonly object[], entity: string): Promise<string[]> {
  const ids: string[] = [];
  for (const input of inputs) {
    const payload = await mutate<Record<string, { id: string }>>(gateway, name, input, `${entity} { id }`);
    ids.push(payload[entity]?.id ?? '');
  }
  return ids;
}

interface Known {
  readonly conversations: { readonly nodes: readonly { readonly id: string }[] };
  readonly staffMembers: { readonly nodes: readonly { readonly id: string; readonly role: string }[] };
}

/** Assigns, tags and closes some conversations, and notes something on the first. */
async function workOnConversations(gateway: Gateway, tags: readonly string[]): Promise<void> {
  const { conversations, staffMembers } = await query<Known>(
    gateway,
    '{ conversations(first: 20) { nodes { id } } staffMembers { nodes { id role } } }',
  );
  const agents = staffMembers.nodes.filter(({ role }) => role === 'AGENT');
  for (const [index, { id }] of conversations.nodes.entries()) {
    const assigneeId = agents[index % 3]?.id;
    const status = ['OPEN', 'OPEN', 'OPEN', 'SNOOZED', 'CLOSED'][index % 5];
    const tag = tags[index % 4];
    const change = { id, status, ...(assigneeId && { assigneeId }), ...(tag && { addTagIds: [tag] }) };
    await mutate(gateway, 'updateConversation', change, 'conversation { id }');
  }
  const [first] = conversations.nodes;
  if (first)
    await mutate(
      gateway,
      'createNote',
      { conversationId: first.id, body: 'Regular customer: answer before noon.' },
      'note { id }',
    );
}

const countOf = async (gateway: Gateway, list: string): Promise<number> =>
  (await query<Record<string, { totalCount: number }>>(gateway, `{ ${list} { totalCount } }`))[list]?.totalCount ?? 0;

/** Waits for background work of the gateway. @throws Error after 20 seconds */
async function waitUntil(what: string, isDone: () => Promise<boolean>): Promise<void> {
  for (let attempt = 0; attempt < 400; attempt += 1) {
    if (await isDone()) return;
    await wait(50);
  }
  throw new Error(`Timed out waiting for ${what}.`);
}

/** Connects a shop, and posts one of its orders. */
async function connectShop(gateway: Gateway, person: DemoPerson | undefined): Promise<void> {
  const shipped = {
    name: 'Order is processed',
    statuses: ['processing'],
    template: {
      name: 'order_shipped',
      language: 'en_US',
      body: [{ path: 'billing.first_name', fallback: 'there' }, { path: 'number' }],
      buttons: [{ index: 0, value: { path: 'order_key' } }],
    },
  };
  const input = { kind: 'WOOCOMMERCE', name: 'Demo shop', mappings: [shipped] };
  const { secret, integration } = await mutate<{ secret: string; integration: { path: string } }>(
    gateway,
    'createIntegration',
    input,
    'secret integration { path }',
  );
  if (!person) return;
  const [firstName = '', lastName = ''] = person.name.split(' ');
  const order = {
    id: 4711,
    number: '4711',
    status: 'processing',
    order_key: 'wc_order_demo4711',
    currency: 'EUR',
    total: '79.90',
    billing: { first_name: firstName, last_name: lastName, phone: person.phone, email: '', country: '' },
  };
  const body = JSON.stringify(order);
  const response = await fetch(`${gateway.baseUrl}${integration.path}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-wc-webhook-topic': 'order.updated',
      'x-wc-webhook-signature': createHmac('sha256', secret).update(body).digest('base64'),
    },
    body,
  });
  if (!response.ok) throw new Error(`The shop's webhook answered ${response.status}.`);
}

async function createCampaignDraft(gateway: Gateway): Promise<void> {
  const { contactGroups } = await query<{ contactGroups: { nodes: readonly { id: string }[] } }>(
    gateway,
    '{ contactGroups(search: "Newsletter") { nodes { id } } }',
  );
  const template = {
    name: 'weekly_news',
    language: 'en_US',
    body: ['@{contact_first_name|there}', 'Sunday'],
  };
  const audience = { groupIds: contactGroups.nodes.map(({ id }) => id) };
  await mutate(gateway, 'createCampaign', { name: 'News of the week', audience, template }, 'campaign { id }');
}
