import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually, startGateway, type TestGateway } from '../../../support/gateway.ts';
import { harnessFor } from './harness.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.stop());

const FROM = '+14155550101';
const referral = {
  source_type: 'ad',
  source_id: '120',
  source_url: 'https://fb.me/x',
  headline: 'Sale',
  media_type: 'image',
  image_url: 'https://img',
  ctwa_clid: 'clid-1',
};

test('the origin of a message is stored, and part of its event', async () => {
  const harness = await harnessFor(gateway);
  await harness.write({ from: FROM, text: 'From an ad', referral, username: 'ana.s', profileName: 'Ana' });
  await harness.write({ from: FROM, text: 'Forwarded', frequentlyForwarded: true });
  await harness.write({
    from: FROM,
    text: 'How much?',
    replyTo: 'wamid.0',
    referredProduct: { catalogId: '7', productRetailerId: 'sku-1' },
  });
  await harness.write({ from: FROM, text: 'Plain' });
  const [ad, forwarded, product, plain] = await harness.events('message.received');
  expect(ad?.details).toMatchObject({
    referral: { source_type: 'ad', click_id: 'clid-1', media_url: 'https://img', headline: 'Sale' },
    username: 'ana.s',
  });
  expect(forwarded?.details).toEqual({ forwarding: 'frequently_forwarded' });
  expect(product?.details).toEqual({ referred_product: { catalog_id: '7', product_id: 'sku-1' } });
  expect(product?.message).toMatchObject({ ref_message_id: 'wamid.0' });
  expect(plain).not.toHaveProperty('details');
  const stored = await harness.query(
    'select forwarding, referral, referred_product, username from message_details where tenant_id = $1 order by message_id',
  );
  expect(stored).toHaveLength(3);
});

test('responses of a Flow are parsed, and kept as the network sent them', async () => {
  const harness = await harnessFor(gateway);
  await harness.write({ type: 'flow', from: FROM, answers: { size: 'L', flow_token: 't' } });
  expect((await harness.messages())[0]).toMatchObject({
    type: 'interactive',
    content: { nfm_reply: { answers: { size: 'L' }, response_json: '{"size":"L","flow_token":"t"}' } },
  });
});

describe('edits and revocations', () => {
  const textOf = async (harness: Awaited<ReturnType<typeof harnessFor>>) =>
    (await harness.messages()).map(row => row.body);

  test('change their message, with a history and an event each', async () => {
    const harness = await harnessFor(gateway);
    const wamid = await harness.write({ from: FROM, text: 'Helo' });
    await harness.write({ type: 'edit', from: FROM, messageId: wamid, text: 'Hello' });
    await harness.write({ type: 'revoke', from: FROM, messageId: wamid });
    expect(await textOf(harness)).toEqual(['Hello']);
    expect(await harness.events('message.edited')).toMatchObject([
      {
        message: { message_id: wamid, message: 'Hello', content: { body: 'Hello' } },
        previous: { message: 'Helo' },
      },
    ]);
    expect(await harness.events('message.revoked')).toMatchObject([
      { message: { message_id: wamid, message: 'Hello' } },
    ]);
    const edits = await harness.query(
      'select kind, body, previous, is_applied from message_edits where tenant_id = $1 order by occurred_at, position',
    );
    expect(edits).toMatchObject([
      { kind: 'edit', body: 'Hello', previous: { body: 'Helo' }, is_applied: true },
      { kind: 'revoke', previous: { body: 'Hello' }, is_applied: true },
    ]);
    expect(await harness.events('message.received')).toHaveLength(1);
  });

  const at = Math.floor(Date.now() / 1_000);
  const edit = (id: string, text: string, seconds: number) => ({
    from: '14155550101',
    id,
    timestamp: String(at + seconds),
    type: 'edit',
    edit: { original_message_id: 'wamid.o', message: { type: 'text', text: { body: text } } },
  });
  const original = {
    from: '14155550101',
    id: 'wamid.o',
    timestamp: String(at - 60),
    type: 'text',
    text: { body: 'One' },
  };

  test('that arrive before their message are applied later; the latest one wins in any order', async () => {
    const harness = await harnessFor(gateway);
    await harness.tell('messages', { messages: [edit('wamid.e2', 'Three', -10)] });
    await harness.tell('messages', { messages: [original] });
    await harness.tell('messages', { messages: [edit('wamid.e1', 'Two', -20), edit('wamid.e2', 'Three', -10)] });
    expect(await textOf(harness)).toEqual(['Three']);
    expect(await harness.events('message.edited')).toHaveLength(1);
    expect(await harness.query('select 1 from message_edits where tenant_id = $1')).toHaveLength(2);
  });

  test.each([
    ['of its caption', { type: 'image', image: { caption: 'Two' } }],
    ['as a text', { type: 'text', text: { body: 'Two' } }],
  ])('of a picture (%s) leave it its file', async (_, message) => {
    const harness = await harnessFor(gateway);
    const image = { id: '77', mime_type: 'image/jpeg', sha256: 'x'.repeat(43), caption: 'One' };
    await harness.tell('messages', { messages: [{ ...original, type: 'image', image }] });
    const { edit: fields, ...envelope } = edit('wamid.e', 'Two', 0);
    await harness.tell('messages', { messages: [{ ...envelope, edit: { ...fields, message } }] });
    const answer = await gateway.graphql(
      '{ messages { nodes { text editedAt media { kind mimeType } content { ... on MediaContent { caption } } } } }',
      {},
      harness.tenant.token,
    );
    expect(answer.data?.messages.nodes).toEqual([
      {
        ...{ text: 'Two', editedAt: expect.any(String), content: { caption: 'Two' } },
        media: { kind: 'IMAGE', mimeType: 'image/jpeg' },
      },
    ]);
    const removed = { ...envelope, id: 'wamid.e2', timestamp: String(at + 1) };
    await harness.tell('messages', {
      messages: [{ ...removed, edit: { ...fields, message: { type: 'image', image: {} } } }],
    });
    expect((await harness.messages())[0]).toMatchObject({ body: null, content: { id: '77' } });
    expect((await harness.messages())[0]?.content).not.toHaveProperty('caption');
  });

  test('of another author’s message are ignored', async () => {
    const harness = await harnessFor(gateway);
    await harness.tell('messages', { messages: [{ ...original, id: 'wamid.o' }] });
    await harness.tell('smb_message_echoes', {
      message_echoes: [{ ...edit('wamid.e', 'Forged', 0), from: '15550780000', to: '14155550101' }],
    });
    expect(await textOf(harness)).toEqual(['One']);
    expect(await unhandledOf(harness)).toMatchObject([
      { field: 'smb_message_echoes', error: expect.stringContaining('author'), raw: expect.anything() },
    ]);
  });

  const unhandledOf = (harness: Awaited<ReturnType<typeof harnessFor>>) =>
    harness.query('select field, reason, error, raw from network_changes where tenant_id = $1 order by id');
  const revoke = (id: string) => ({
    from: '14155550101',
    id,
    timestamp: String(at),
    type: 'revoke',
    revoke: { original_message_id: 'wamid.o' },
  });

  test.each([
    ['in private', {}],
    ['in a group chat', { group_id: 'group-1' }],
  ])('not by the author (%s) change nothing and are stored as unhandled with their body', async (_, place) => {
    const harness = await harnessFor(gateway);
    await harness.tell('messages', { messages: [{ ...original, ...place }] });
    const other = { ...place, from: '14155550199' };
    await harness.tell('messages', { messages: [{ ...edit('wamid.e', 'Forged', 0), ...other }] });
    await harness.tell('messages', { messages: [{ ...revoke('wamid.r'), ...other }] });
    expect(await textOf(harness)).toEqual(['One']);
    expect([await harness.events('message.edited'), await harness.events('message.revoked')]).toEqual([[], []]);
    const unhandled = await unhandledOf(harness);
    expect(unhandled).toMatchObject([
      { field: 'messages', reason: 'failed', error: expect.stringContaining('author') },
      { field: 'messages', reason: 'failed', error: expect.stringContaining('author') },
    ]);
    expect(JSON.stringify(unhandled[0])).toContain('Forged');
    // The author still can.
    await harness.tell('messages', { messages: [{ ...edit('wamid.e2', 'Two', 0), ...place }] });
    await harness.tell('messages', { messages: [{ ...revoke('wamid.r2'), ...place }] });
    expect(await textOf(harness)).toEqual(['Two']);
    expect(await harness.events('message.revoked')).toHaveLength(1);
  });

  test('not by the author that arrive before the message are not applied', async () => {
    const harness = await harnessFor(gateway);
    await harness.tell('messages', { messages: [{ ...edit('wamid.e', 'Forged', 0), from: '14155550199' }] });
    await harness.tell('messages', { messages: [original] });
    expect(await textOf(harness)).toEqual(['One']);
    expect(await harness.events('message.edited')).toEqual([]);
  });

  test('under another identity of the author’s contact are applied', async () => {
    const harness = await harnessFor(gateway);
    await harness.tell('messages', { messages: [{ ...original, from_user_id: 'US.Author1' }] });
    const { from: _, ...byUserId } = edit('wamid.e', 'Two', 0);
    await harness.tell('messages', { messages: [{ ...byUserId, from_user_id: 'US.Author1' }] });
    expect(await textOf(harness)).toEqual(['Two']);
  });

  test('of a message of the business by a person are kept as unhandled', async () => {
    const harness = await harnessFor(gateway);
    await harness.tell('messages', { messages: [original] });
    await gateway.graphql(
      'mutation { sendMessage(input: { to: { phone: "+14155550101" }, content: { text: { body: "Ours" } } }) { message { databaseId } userErrors { code message path } } }',
      {},
      harness.tenant.token,
    );
    const wamidOfOurs = async () =>
      (await harness.messages()).find(({ direction }) => direction === 'outbound')?.wamid ?? null;
    await eventually(async () => expect(await wamidOfOurs()).not.toBeNull());
    const forged = { original_message_id: await wamidOfOurs(), message: { type: 'text', text: { body: 'Forged' } } };
    await harness.tell('messages', { messages: [{ ...edit('wamid.e', 'Forged', 0), edit: forged }] });
    expect((await textOf(harness)).sort()).toEqual(['One', 'Ours']);
    expect(await unhandledOf(harness)).toMatchObject([{ field: 'messages', error: expect.stringContaining('author') }]);
  });
});

test('a message has the latest reaction of each person; one without an emoji removes it; each has an event', async () => {
  const harness = await harnessFor(gateway);
  const wamid = await harness.write({ from: FROM, text: 'Nice?' });
  for (const emoji of ['👍', '❤️', '']) {
    await harness.write({ type: 'reaction', from: FROM, messageId: wamid, emoji });
  }
  const told = await harness.events('message.reaction');
  expect(told.map(({ reaction }) => reaction?.['emoji'])).toEqual(['👍', '❤️', null]);
  expect(told[0]?.message).toMatchObject({ message_id: wamid, message: 'Nice?' });
  const kept =
    'select original_wamid, emoji from message_reactions where tenant_id = $1 order by occurred_at desc, position desc limit 1';
  expect(await harness.query(kept)).toEqual([{ original_wamid: wamid, emoji: null }]);
});

test('the price of a message is folded from its statuses', async () => {
  const harness = await harnessFor(gateway);
  await harness.write({ from: FROM, text: 'Hi' });
  const send =
    'mutation { sendMessage(input: { to: { phone: "+14155550101" }, content: { text: { body: "Hello" } } }) { message { databaseId } userErrors { code message path } } }';
  await gateway.graphql(send, {}, harness.tenant.token);
  await eventually(async () =>
    expect(
      await harness.query('select category, type, model, is_billable from message_pricing where tenant_id = $1'),
    ).toEqual([{ category: 'service', type: 'free_customer_service', model: 'PMP', is_billable: false }]),
  );
  const [sent] = (await harness.messages()).filter(({ direction }) => direction === 'outbound');
  const status = { id: sent?.wamid, status: 'read', timestamp: '1790000000', pricing: { category: 'marketing_lite' } };
  await harness.tell('messages', { statuses: [status, { ...status, id: 'wamid.of-nobody' }] });
  expect(await harness.query('select category, type from message_pricing where tenant_id = $1')).toEqual([
    { category: 'marketing_lite', type: 'free_customer_service' },
  ]);
});

test('deleting a contact deletes details, edits and reactions of its messages', async () => {
  const harness = await harnessFor(gateway);
  const wamid = await harness.write({ from: FROM, text: 'Hi', forwarded: true });
  await harness.write({ type: 'edit', from: FROM, messageId: wamid, text: 'Hello' });
  await harness.write({ type: 'reaction', from: FROM, messageId: wamid, emoji: '👍' });
  const [contact] = await harness.query<{ id: string }>('select id::text from contacts where tenant_id = $1');
  await gateway.graphql(
    'mutation ($id: ID!) { deleteContact(input: { id: $id }) { deletedId } }',
    { id: contact?.id },
    harness.tenant.token,
  );
  for (const table of ['messages', 'message_details', 'message_edits', 'message_reactions', 'message_pricing'])
    expect([table, await harness.query(`select 1 from ${table} where tenant_id = $1`)]).toEqual([table, []]);
});
