import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SCOPES, scopeWord } from '../../../src/core/scopes.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { EVENTS, type Follower, follow, seen, stream } from './subscriber.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.stop());

const TYPES = ['group.*'];

/** Many events at once, each some kilobytes, as an import would make them. */
async function flood(count: number, bytes: number): Promise<void> {
  await gateway.database.query(
    `insert into events (tenant_id, id, type, payload)
     select $1, gen_random_uuid(), 'group.created', jsonb_build_object('group', jsonb_build_object('id', n, 'name', repeat('x', $3::int)))
     from generate_series(1, $2::int) n`,
    [gateway.tenant.id, count, bytes],
  );
}

/** A stream as a program of its own asks for it, which reads when it likes. */
function sseRequest() {
  const headers = {
    'content-type': 'application/json',
    accept: 'text/event-stream',
    authorization: `Bearer ${gateway.tenant.token}`,
  };
  return {
    address: `${gateway.url}/graphql`,
    headers,
    body: JSON.stringify({ query: EVENTS, variables: { types: TYPES } }),
  };
}

describe('a token that ends takes its streams along', () => {
  // Within five seconds, for which verifier.test.ts has a clock. Staggered, because what a process remembers of a token is of different age at different moments.
  const STAGGER_MS = [0, 400, 800, 1_200, 1_600, 2_000];
  /** Long enough for its streams to be open by then. */
  const EXPIRES_MS = 8_000;

  test('revoked by another process, it closes sockets with 4403 and ends SSE', async () => {
    const endings = STAGGER_MS.map(async delayMs => {
      await new Promise(resolve => setTimeout(resolve, delayMs));
      const token = await gateway.addToken(gateway.tenant, {});
      const socket = await follow(gateway.url, token, { types: TYPES });
      const sse = await stream(gateway.url, token, { types: TYPES });
      await new Promise(resolve => setTimeout(resolve, 100));
      await gateway.database.query(
        'update access_tokens set revoked_at = now() where tenant_id = $1 and hint = right($2, 4)',
        [gateway.tenant.id, token],
      );
      await Promise.all([socket.closed, sse.ended]);
      return { code: (await socket.closed).code, error: sse.errors[0]?.extensions.code };
    });
    for (const ending of await Promise.all(endings)) expect(ending).toEqual({ code: 4403, error: 'UNAUTHORIZED' });
  });

  test('revoked through this process, and expired, it does so as well', async () => {
    const expiring = await gateway.addToken(gateway.tenant, {
      expiresAt: new Date(Date.now() + EXPIRES_MS).toISOString(),
    });
    const { data } = await gateway.graphql(
      'mutation ($scopes: [Scope!]!) { createAccessToken(input: { name: "short", scopes: $scopes }) { token accessToken { id } } }',
      { scopes: SCOPES.map(scopeWord) },
    );
    const revoked = data.createAccessToken.token as string;
    const followers = await Promise.all([expiring, revoked].map(token => follow(gateway.url, token, { types: TYPES })));
    const streams = await Promise.all([expiring, revoked].map(token => stream(gateway.url, token, { types: TYPES })));
    await gateway.graphql('mutation ($id: ID!) { revokeAccessToken(input: { id: $id }) { accessToken { id } } }', {
      id: data.createAccessToken.accessToken.id,
    });
    expect(await Promise.all(followers.map(async one => (await one.closed).code))).toEqual([4403, 4403]);
    await Promise.all(streams.map(one => one.ended));
    expect(streams.map(one => one.errors[0]?.extensions.code)).toEqual(['UNAUTHORIZED', 'UNAUTHORIZED']);
  });
});

describe('a client that reads too slowly', () => {
  /** Of ten kilobytes each: more than the buffers of both machines and our queue hold together. */
  const MANY = 2_500;
  const PORTION = 250;

  /**
   * MANY events, of which `quick` sees all. By portions, because on a busy machine the quick client would not keep up with all at
   * once either.
   */
  async function floodSeenBy(quick: Follower): Promise<void> {
    const before = quick.events.length;
    for (let count = PORTION; count <= MANY; count += PORTION) {
      await flood(PORTION, 10_000);
      await seen(quick, before + count);
    }
  }

  test('over WebSocket: is closed with 1013 and the cursor of what it has, and goes on behind it without a gap or a repeat', async () => {
    const slow = await follow(gateway.url, gateway.tenant.token, { types: TYPES });
    const quick = await follow(gateway.url, gateway.tenant.token, { types: TYPES });
    await flood(1, 10);
    await seen(slow, 1);
    // The machine still takes bytes, the program does not: the buffers of both ends fill, then our queue.
    const socket = slow.socket();
    socket.pause();
    await seen(quick, 1);
    // When another has them all, they were offered to this one too.
    await floodSeenBy(quick);
    await quick.stop();
    socket.resume();
    const { code, reason } = await slow.closed;
    expect(code).toBe(1013);
    const after = /^Too slow; resume after (\S+)$/.exec(reason)?.[1];
    expect(after).toBe(slow.events.at(-1)?.cursor);
    expect(slow.events.length).toBeLessThan(MANY + 1);
    await slow.stop();
    const resumed = await follow(gateway.url, gateway.tenant.token, { types: TYPES, after });
    await seen(resumed, MANY + 1 - slow.events.length);
    const rows = await gateway.database.query<{ id: string }>(
      'select id from events e where tenant_id = $1 and type = $2 order by e.xid, e.seq',
      [gateway.tenant.id, 'group.created'],
    );
    expect([...slow.events, ...resumed.events].map(event => event.id)).toEqual(rows.map(row => row.id));
    await resumed.stop();
  });

  test('over SSE as well: what it has read ends with an error and a cursor, and nothing is kept for it without bound', async () => {
    const { address, headers, body } = sseRequest();
    const asked = request(address, { method: 'POST', headers });
    asked.end(body);
    const [answer] = (await once(asked, 'response')) as [IncomingMessage];
    answer.pause();
    const quick = await follow(gateway.url, gateway.tenant.token, { types: TYPES });
    await flood(1, 10);
    await seen(quick, 1);
    await floodSeenBy(quick);
    await quick.stop();
    let text = '';
    answer.on('data', chunk => {
      text += String(chunk);
    });
    answer.resume();
    await once(answer, 'end');
    const results = [...text.matchAll(/^event: ?next\ndata: ?(.+)$/gm)].map(match => JSON.parse(match[1] ?? ''));
    expect(results.length).toBeLessThan(MANY + 1);
    expect(results.at(-1).errors).toMatchObject([
      { extensions: { code: 'SERVICE_UNAVAILABLE', details: { after: results.at(-2).data.events.cursor } } },
    ]);
  });

  test('does not hold up the others, nor the process', async () => {
    const slow = await follow(gateway.url, gateway.tenant.token, { types: TYPES });
    const quick = await follow(gateway.url, gateway.tenant.token, { types: TYPES });
    slow.socket().pause();
    for (let round = 0; round < 4; round += 1) {
      await flood(500, 4_000);
      await seen(quick, (round + 1) * 500);
    }
    slow.socket().terminate();
    await quick.stop();
  });
});
