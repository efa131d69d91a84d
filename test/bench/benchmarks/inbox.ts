import { isDeepStrictEqual } from 'node:util';
import { type Contestant, compete, type Options, overHttp } from '../contest.ts';
import { addMessages, addState, addTenant, addToken, type FilledTenant, settle } from '../fill.ts';
import type { Fixture } from '../fixture.ts';
import { gatewayEnvironment, startGateway } from '../gateway.ts';
import {
  type Inbox,
  inboxOfParley,
  inboxOfPostgraphile,
  PAGE_SIZE,
  PARLEY_INBOX,
  POSTGRAPHILE_INBOX,
} from '../inbox-documents.ts';
import { rawRequest } from '../load.ts';
import { printProgress } from '../output.ts';
import { atLeast, type Result } from '../report.ts';
import { type Server, startServer } from '../server.ts';

const CONVERSATIONS = 10_000;
const MESSAGES = 50_000;

/** The inbox: counts and 50 open conversations with assignee, tags, contact and last message, from the same rows. */
export async function inbox(fixture: Fixture, options: Options): Promise<Result> {
  printProgress(`inbox: filling ${CONVERSATIONS} conversations with ${MESSAGES} messages, starting three servers …`);
  const tenant = await fill(fixture);
  const token = await addToken(fixture.pool, tenant);
  const env = {
    ...gatewayEnvironment(fixture),
    BENCH_TOKEN: token,
    BENCH_TENANT: String(tenant.id),
    BENCH_ALL_COLUMNS: '1',
  };
  const peer = (name: string, execArgv: string[] = []): Promise<Server> =>
    startServer(new URL(`../servers/${name}.ts`, import.meta.url), {
      logFile: `${fixture.directory}/${name}.log`,
      execArgv,
      env,
    });

  const servers: Server[] = [];
  try {
    const contestants: Contestant[] = [];
    let expected: Inbox | undefined;
    const add = async (
      name: string,
      started: Promise<Server>,
      path: string,
      body: object,
      read: typeof inboxOfParley,
    ) => {
      const server = await started;
      servers.push(server);
      const url = `${server.url}${path}`;
      const text = JSON.stringify(body);
      const headers = { authorization: `Bearer ${token}` };
      const shown = read(await answerOf(name, url, headers, text));
      expected ??= shown;
      // A server that answers something else is not measured.
      if (shown.rows.length !== PAGE_SIZE || !isDeepStrictEqual(shown, expected))
        throw new Error(`${name} shows another inbox: ${JSON.stringify(shown).slice(0, 600)}`);
      const request = rawRequest(url, 'POST', headers, text);
      contestants.push(overHttp(name, server, fixture, { connections: options.connections, request: () => request }));
    };
    const asked = { query: PARLEY_INBOX, variables: { first: PAGE_SIZE, f: { status: { eq: 'OPEN' } } } };
    const ofTenant = { query: POSTGRAPHILE_INBOX, variables: { first: PAGE_SIZE, tenant: String(tenant.id) } };
    const oneGraphql = ['--import', new URL('../servers/one-graphql.ts', import.meta.url).href];
    await add('Parley', startGateway(fixture), '/graphql', asked, inboxOfParley);
    await add('PostGraphile 5', peer('postgraphile'), '/graphql', ofTenant, inboxOfPostgraphile);
    await add('Apollo, loaders', peer('apollo', oneGraphql), '/', asked, inboxOfParley);

    const samples = await compete(contestants, options);
    const total = (name: string): number => {
      const { serverCpu = Number.NaN, databaseCpu = 0 } = samples.get(name) ?? {};
      return serverCpu + databaseCpu;
    };
    const cpu = (name: string): number => samples.get(name)?.serverCpu ?? Number.NaN;
    return {
      title: `inbox: counts and ${PAGE_SIZE} conversations with assignee, tags, contact and last message (${options.connections} connections)`,
      samples,
      goals: [
        atLeast('CPU of PostGraphile 5 / Parley', cpu('PostGraphile 5') / cpu('Parley'), 1),
        atLeast('CPU of Apollo with loaders / Parley', cpu('Apollo, loaders') / cpu('Parley'), 1),
        atLeast('CPU of PostGraphile 5 and its database / of Parley', total('PostGraphile 5') / total('Parley'), 0.6),
      ],
    };
  } finally {
    await Promise.all(servers.map(server => server.stop()));
  }
}

async function answerOf(name: string, url: string, headers: Record<string, string>, body: string): Promise<unknown> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body,
  });
  const text = await response.text();
  const answer = JSON.parse(text) as { readonly errors?: unknown };
  if (answer.errors !== undefined) throw new Error(`${name} refuses the inbox: ${text.slice(0, 600)}`);
  printProgress(`  ${name}: ${(text.length / 1_024).toFixed(1)} KB`);
  return answer;
}

async function fill({ pool }: Fixture): Promise<FilledTenant> {
  const tenant = await addTenant(pool, 'inbox', CONVERSATIONS);
  await addMessages(pool, tenant, MESSAGES, { events: false });
  await addState(pool, tenant);
  // Those that got no message would be the latest ones.
  await pool.query("update conversations set status = 'closed' where tenant_id = $1 and last_message_id is null", [
    tenant.id,
  ]);
  await pool.query(
    `with t as (
       insert into tags (tenant_id, name, color) select $1::bigint, 'Tag ' || n, '#2F80ED' from generate_series(1, 6) n returning id
     ), ids as (select array_agg(id order by id) as all_ids from t)
     insert into conversation_tags (tenant_id, conversation_id, tag_id)
     select $1::bigint, v.id, all_ids[1 + (v.id + n) % 6] from conversations v, ids, generate_series(0, 1) n
     where v.tenant_id = $1::bigint and v.id % 2 = 0`,
    [tenant.id],
  );
  // Foreign keys that the tables do not have, so that PostGraphile finds the last message and its state.
  await pool.query(
    `comment on table conversations is E'@foreignKey (tenant_id, last_message_id) references messages (tenant_id, id)|@fieldName lastMessage'`,
  );
  await pool.query(
    `comment on table message_states is E'@foreignKey (tenant_id, message_id) references messages (tenant_id, id)|@foreignFieldName state'`,
  );
  await settle(pool);
  return tenant;
}
