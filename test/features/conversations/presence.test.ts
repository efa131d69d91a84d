import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { cleanPresence } from '../../../src/features/conversations/housekeeping.ts';
import { codeOf, dataOf, faultsOf, payloadOf } from '../../support/answers.ts';
import { eventually, startGateway, type TestGateway } from '../../support/gateway.ts';
import { type SecondGateway, startSecondGateway } from '../../support/second-gateway.ts';
import { connect } from '../events/subscriber.ts';
import { type Harness, harnessFor } from '../messages/inbound/harness.ts';

let gateway: TestGateway;
let beside: SecondGateway;
let harness: Harness;
let persons = 0;
beforeAll(async () => {
  gateway = await startGateway({ emulator: { faults: { userIds: false } } });
  beside = await startSecondGateway(gateway);
  harness = await harnessFor(gateway);
});
afterAll(async () => {
  await beside.stop();
  await gateway.stop();
});

interface Agent {
  readonly id: string;
  readonly token: string;
}

/** A staff member with a session, which is what a page of theirs has. */
async function agent(name: string): Promise<Agent> {
  persons += 1;
  const input = { name, email: `${name}-${persons}@example.com`, role: 'AGENT' };
  const made = await gateway.mutate('createStaffMember', input, 'staffMember { databaseId }', harness.tenant.token);
  const id = payloadOf(made).staffMember.databaseId as string;
  return { id, token: await session(id) };
}

async function session(staffId: string): Promise<string> {
  const input = { staffMember: { id: staffId }, documentsOnly: false, origins: [], callsPerMinute: 6_000 };
  return payloadOf(await gateway.mutate('createStaffSession', input, 'token', harness.tenant.token)).token as string;
}

async function conversation(): Promise<string> {
  persons += 1;
  const from = `141555506${String(persons).padStart(2, '0')}`;
  await harness.write({ from, text: 'Hello' });
  const found = await gateway.graphql(
    '{ conversations(first: 1, orderBy: [{ field: ID, direction: DESC }]) { nodes { databaseId } } }',
    {},
    harness.tenant.token,
  );
  return dataOf(found).conversations.nodes[0].databaseId as string;
}

const set = (token: string, input: object, url = gateway.url) =>
  fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: JSON.stringify({
      query:
        'mutation ($input: SetPresenceInput!) { setPresence(input: $input) { staffMember { databaseId presence } userErrors { code message path } } }',
      variables: { input },
    }),
  }).then(answer => answer.json() as never);

interface Seen {
  readonly conversation: { readonly databaseId: string } | null;
  readonly viewers: readonly { readonly staffMember: { readonly databaseId: string }; readonly isTyping: boolean }[];
}

/** Follows a conversation over a socket of its own. */
function watch(url: string, token: string, conversationId: string) {
  const values: Seen[] = [];
  const problems: unknown[] = [];
  const client = connect(url, token);
  client.subscribe<{ conversationPresence: Seen }>(
    {
      query:
        'subscription ($id: ID!) { conversationPresence(conversationId: $id) { conversation { databaseId } viewers { staffMember { databaseId } isTyping } } }',
      variables: { id: conversationId },
    },
    {
      next: ({ data, errors }) => {
        if (data) values.push(data.conversationPresence);
        if (errors) problems.push(...errors);
      },
      error: error => problems.push(error),
      complete: () => undefined,
    },
  );
  return {
    values,
    problems,
    last: () =>
      values.at(-1)?.viewers.map(({ staffMember, isTyping }) => `${staffMember.databaseId}${isTyping ? ' types' : ''}`),
    stop: () => client.dispose(),
  };
}

const presenceOf = async (id: string) =>
  dataOf(await gateway.graphql('query ($id: ID!) { staffMember(id: $id) { presence } }', { id }, harness.tenant.token))
    .staffMember.presence as string;

/** States it again until it is seen, as pages do: on a slow machine it may expire before. */
const shown = (token: string, input: object, check: () => void, url?: string) =>
  eventually(async () => {
    await set(token, input, url);
    check();
  });

describe('conversationPresence', () => {
  test('two agents on two gateways see each other come, type and go', async () => {
    const id = await conversation();
    const [ines, tom] = [await agent('Ines'), await agent('Tom')];
    const seenByInes = watch(gateway.url, ines.token, id);
    const seenByTom = watch(beside.url, tom.token, id);
    try {
      await eventually(() => expect([seenByInes.values.length, seenByTom.values.length]).toEqual([1, 1]));
      expect(seenByInes.values[0]).toEqual({ conversation: { databaseId: id }, viewers: [] });
      await shown(ines.token, { conversationId: id }, () => expect(seenByTom.last()).toEqual([ines.id]));
      for (const [isTyping, word] of [
        [true, ' types'],
        [false, ''],
      ] as const)
        await shown(
          tom.token,
          { conversationId: id, isTyping },
          () => expect(seenByInes.last()).toContain(tom.id + word),
          beside.url,
        );
      await set(tom.token, { conversationId: null }, beside.url);
      await shown(ines.token, { conversationId: id }, () => expect(seenByInes.last()).toEqual([ines.id]));
      expect([seenByInes.problems, seenByTom.problems]).toEqual([[], []]);
    } finally {
      await Promise.all([seenByInes.stop(), seenByTom.stop()]);
    }
  });

  test('the end of the socket of a session ends what it showed', async () => {
    const id = await conversation();
    const [ines, tom] = [await agent('Ines'), await agent('Tom')];
    const seenByInes = watch(gateway.url, ines.token, id);
    const seenByTom = watch(beside.url, tom.token, id);
    try {
      await eventually(() => expect(seenByTom.values).toHaveLength(1));
      await shown(tom.token, { conversationId: id }, () => expect(seenByInes.last()).toEqual([tom.id]), beside.url);
      await seenByTom.stop();
      await eventually(() => expect(seenByInes.last()).toEqual([]));
      expect(await presenceOf(tom.id)).toBe('OFFLINE');
    } finally {
      await Promise.all([seenByInes.stop(), seenByTom.stop()]);
    }
  });

  test('a session that leaves for another conversation is not removed from it by the end of its first stream', async () => {
    const [first, second] = [await conversation(), await conversation()];
    const ines = await agent('Ines');
    const tom = await agent('Tom');
    const seenByTom = watch(gateway.url, tom.token, second);
    const ofFirst = watch(gateway.url, ines.token, first);
    try {
      await eventually(() => expect([seenByTom.values.length, ofFirst.values.length]).toEqual([1, 1]));
      await shown(ines.token, { conversationId: first }, () => expect(ofFirst.last()).toEqual([ines.id]));
      await shown(ines.token, { conversationId: second }, () => expect(seenByTom.last()).toEqual([ines.id]));
      await ofFirst.stop();
      const rows = await gateway.database.query('select conversation_id from staff_presence where staff_id = $1', [
        ines.id,
      ]);
      expect(rows).toEqual([{ conversation_id: second }]);
    } finally {
      await Promise.all([ofFirst.stop(), seenByTom.stop()]);
    }
  });

  test('a person with two pages is shown once, as typing if one of them types', async () => {
    const id = await conversation();
    const ines = await agent('Ines');
    const other = await session(ines.id);
    const seen = watch(gateway.url, harness.tenant.token, id);
    try {
      await eventually(async () => {
        await set(ines.token, { conversationId: id, isTyping: true });
        await set(other, { conversationId: id, isTyping: false });
        expect(seen.last()).toEqual([`${ines.id} types`]);
      });
    } finally {
      await seen.stop();
    }
  });

  test('typing ends by itself, and a repetition that does not mention it keeps it', async () => {
    const id = await conversation();
    const ines = await agent('Ines');
    const typesFor = (interval: string) =>
      gateway.database.query(
        `update staff_presence set typing_until = clock_timestamp() + interval '${interval}' where staff_id = ${ines.id}`,
      );
    const seen = watch(gateway.url, harness.tenant.token, id);
    try {
      await set(ines.token, { conversationId: id, isTyping: true });
      await typesFor('1 hour');
      await shown(ines.token, { conversationId: id }, () => expect(seen.last()).toEqual([`${ines.id} types`]));
    } finally {
      await seen.stop();
    }
    await typesFor('3 seconds');
    const later = watch(gateway.url, harness.tenant.token, id);
    try {
      await shown(ines.token, { conversationId: id }, () => expect(later.last()).toEqual([ines.id]));
    } finally {
      await later.stop();
    }
  });

  test('a conversation of another account is not followed', async () => {
    const id = await conversation();
    const stranger = await gateway.addTenant();
    const seen = watch(gateway.url, stranger.token, id);
    try {
      await eventually(() => expect(seen.problems).not.toEqual([]));
      expect(JSON.stringify(seen.problems)).toContain('There is no conversation with this id.');
      expect(seen.values).toEqual([]);
    } finally {
      await seen.stop();
    }
  });
});

describe('setPresence', () => {
  test('a silent session is gone, and its row is deleted', async () => {
    const id = await conversation();
    const ines = await agent('Ines');
    expect(payloadOf(await set(ines.token, { conversationId: id }))).toMatchObject({
      staffMember: { databaseId: ines.id, presence: 'ONLINE' },
      userErrors: [],
    });
    await gateway.database.query("update staff_presence set expires_at = now() - interval '1 ms'");
    expect(await presenceOf(ines.id)).toBe('OFFLINE');
    await cleanPresence(gateway.gateway.resources);
    expect(await gateway.database.query('select staff_id from staff_presence')).toEqual([]);
  });

  test('a page in the background shows no conversation, and one in use counts more than one in the background', async () => {
    const id = await conversation();
    const ines = await agent('Ines');
    const other = await session(ines.id);
    await set(ines.token, { presence: 'AWAY', conversationId: id });
    expect(await presenceOf(ines.id)).toBe('AWAY');
    const seen = watch(gateway.url, harness.tenant.token, id);
    try {
      await eventually(() => expect(seen.last()).toEqual([]));
    } finally {
      await seen.stop();
    }
    await set(other, {});
    expect(await presenceOf(ines.id)).toBe('ONLINE');
    await set(other, { presence: 'OFFLINE' });
    expect(await presenceOf(ines.id)).toBe('AWAY');
  });

  test('a token is nobody, and a conversation of another account does not exist', async () => {
    const id = await conversation();
    expect(codeOf(await set(harness.tenant.token, { conversationId: id }))).toBe('NOT_FOUND');
    const stranger = await harnessFor(gateway);
    await stranger.write({ from: '14155550699', text: 'Hello' });
    const foreign = dataOf(
      await gateway.graphql('{ conversations { nodes { databaseId } } }', {}, stranger.tenant.token),
    ).conversations.nodes[0].databaseId as string;
    const ines = await agent('Ines');
    for (const conversationId of [foreign, '999999'])
      expect(faultsOf(await set(ines.token, { conversationId }))).toEqual({
        conversationId: ['There is no conversation with this id.'],
      });
    expect(await presenceOf(ines.id)).toBe('OFFLINE');
  });
});
