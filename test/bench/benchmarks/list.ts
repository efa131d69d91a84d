import { type Contestant, compete, type Options, overHttp } from '../contest.ts';
import { PAGE_SIZE, PARLEY_LIST, POSTGRAPHILE_LIST } from '../documents.ts';
import { addTenant, addToken, settle } from '../fill.ts';
import type { Fixture } from '../fixture.ts';
import { gatewayEnvironment, startGateway } from '../gateway.ts';
import { rawRequest } from '../load.ts';
import { printProgress } from '../output.ts';
import { atLeast, type Result } from '../report.ts';
import { type Server, startServer } from '../server.ts';

const CONTACTS = 10_000;

/** The page of 50 contacts with source, status and groups, over HTTP with a bearer token. */
export async function list(fixture: Fixture, options: Options): Promise<Result> {
  printProgress(`list: filling ${CONTACTS} contacts, starting five servers …`);
  const tenant = await addTenant(fixture.pool, 'list', CONTACTS);
  const token = await addToken(fixture.pool, tenant);
  await settle(fixture.pool);
  const env = { ...gatewayEnvironment(fixture), BENCH_TOKEN: token, BENCH_TENANT: String(tenant.id) };
  const peer = (name: string, more: { env?: Record<string, string>; execArgv?: string[] } = {}): Promise<Server> =>
    startServer(new URL(`../servers/${name}.ts`, import.meta.url), {
      logFile: `${fixture.directory}/${name}.log`,
      ...more,
      env: { ...env, ...more.env },
    });
  const oneGraphql = ['--import', new URL('../servers/one-graphql.ts', import.meta.url).href];

  const servers: Server[] = [];
  try {
    const contestants: Contestant[] = [];
    const add = async (name: string, server: Promise<Server>, path: string, body?: object): Promise<void> => {
      const started = await server;
      servers.push(started);
      const request = rawRequest(
        `${started.url}${path}`,
        body ? 'POST' : 'GET',
        { authorization: `Bearer ${token}` },
        body && JSON.stringify(body),
      );
      await check(name, `${started.url}${path}`, token, body);
      contestants.push(overHttp(name, started, fixture, { connections: options.connections, request: () => request }));
    };
    const asked = { query: PARLEY_LIST, variables: { first: PAGE_SIZE } };
    await add('Parley', startGateway(fixture), '/graphql', asked);
    await add('hand-written', peer('hand-written'), `/contacts?first=${PAGE_SIZE}`);
    await add('PostGraphile 5', peer('postgraphile'), '/graphql', {
      query: POSTGRAPHILE_LIST,
      variables: { first: PAGE_SIZE, tenant: String(tenant.id) },
    });
    await add('Apollo, same resolvers', peer('apollo', { execArgv: oneGraphql }), '/', asked);
    await add('Apollo, loaders', peer('apollo', { execArgv: oneGraphql, env: { BENCH_LOADERS: '1' } }), '/', asked);

    const samples = await compete(contestants, options);
    const cpu = (name: string): number => samples.get(name)?.serverCpu ?? Number.NaN;
    const times = (name: string): number => cpu(name) / cpu('Parley');
    return {
      title: `list: ${PAGE_SIZE} contacts with source, status, groups; the same document again and again (${options.connections} connections)`,
      samples,
      goals: [
        atLeast('CPU of PostGraphile 5 / Parley', times('PostGraphile 5'), 2.5),
        atLeast('CPU of Apollo with the same resolvers / Parley', times('Apollo, same resolvers'), 3),
        atLeast('CPU of hand-written / Parley', times('hand-written'), 0.85),
      ],
    };
  } finally {
    await Promise.all(servers.map(server => server.stop()));
  }
}

/** A server that answers something else is not measured: every one has to give 50 contacts with their names, sources and groups. */
async function check(name: string, url: string, token: string, body: object | undefined): Promise<void> {
  const response = await fetch(url, {
    method: body ? 'POST' : 'GET',
    headers: { authorization: `Bearer ${token}`, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  const count = (pattern: RegExp): number => text.match(pattern)?.length ?? 0;
  const complete =
    count(/"first[nN]ame":"/g) === PAGE_SIZE &&
    count(/"Source \d/g) === PAGE_SIZE &&
    count(/"Group \d/g) >= PAGE_SIZE / 2;
  if (!complete) throw new Error(`${name} does not answer with the page: ${text.slice(0, 600)}`);
  printProgress(`  ${name}: ${(text.length / 1_024).toFixed(1)} KB`);
}
