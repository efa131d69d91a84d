import { schema } from '../../src/app/schema.ts';
import { type Gateway, serve } from '../../src/app/serve.ts';
import type { Config } from '../../src/config.ts';
import type { Clock } from '../../src/platform/clock.ts';
import { createLog } from '../../src/platform/log.ts';
import { type GraphQLAnswer, post, type TestGateway } from './gateway.ts';

export interface SecondGateway {
  readonly url: string;
  readonly resources: Gateway['resources'];
  graphql(query: string, variables?: object, token?: string): Promise<GraphQLAnswer>;
  stop(): Promise<void>;
}

/** A second gateway on the database of the first, with its own caches, pools and signals, as a second process has. */
export async function startSecondGateway(
  first: TestGateway,
  databaseUrl = first.database.url,
  database: Partial<Config['database']> = {},
  keys: { readonly secretKey?: Uint8Array; readonly previousSecretKey?: Uint8Array } = {},
  clock?: Clock,
): Promise<SecondGateway> {
  const { config } = first.gateway.resources;
  const { secretKey } = config;
  if (!secretKey) throw new Error('The first gateway has no secret key.');
  const gateway = await serve({
    config: { ...config, databaseUrl, secretKey, database: { ...config.database, ...database }, ...keys },
    schema,
    role: 'gateway',
    ...(clock && { clock }),
    log: createLog('debug', { write: line => void first.logs.push(JSON.parse(line)) }),
  });
  const { url } = gateway.server;
  return {
    url,
    resources: gateway.resources,
    graphql: (query, variables = {}, token = first.tenant.token) => post(url, query, variables, token),
    stop: () => gateway.stop(),
  };
}

/** A worker on the database of a gateway, as a process of its own is. */
export async function startWorker({ gateway }: TestGateway): Promise<Gateway> {
  const { config } = gateway.resources;
  const { databaseUrl, secretKey } = config;
  if (databaseUrl === undefined || secretKey === undefined) throw new Error('The configuration is not complete.');
  return serve({ config: { ...config, databaseUrl, secretKey }, schema, role: 'worker', log: createLog('silent') });
}
