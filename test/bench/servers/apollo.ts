import type { GraphQLSchema } from 'graphql';
import { ApolloServer } from '@apollo/server';
import { startStandaloneServer } from '@apollo/server/standalone';
import { bearerOf } from '../../../src/authenticate.ts';
import { loadConfig } from '../../../src/config.ts';
import type { Context } from '../../../src/context.ts';
import { unauthorized } from '../../../src/errors.ts';
import { contactPage } from '../../../src/features/contacts/list.ts';
import type { ListArgs } from '../../../src/features/lists/list.ts';
import { createLog } from '../../../src/platform/log.ts';
import { schema } from '../../../src/schema.ts';
import { serve } from '../../../src/serve.ts';
import { environment } from './environment.ts';

/**
 * Apollo Server as its documentation starts it, over Parley's own schema: same resolvers, same statements, same token
 * cache, no quotas and no log. BENCH_LOADERS=1 takes the look-ahead away, so that source, status and groups are loaded
 * by dataloaders, the way most Apollo servers are written.
 */
const config = loadConfig({ ...process.env, PORT: '0' });
const { databaseUrl, secretKey } = config;
if (databaseUrl === undefined || secretKey === undefined) throw new Error('DATABASE_URL and PARLEY_SECRET_KEY are not set.');
const { resources, server } = await serve({ config: { ...config, databaseUrl, secretKey }, schema, role: 'gateway', log: createLog('silent') });

if (process.env['BENCH_LOADERS'] === '1') withoutLookAhead(schema);

function withoutLookAhead(schema: GraphQLSchema): void {
  const contacts = schema.getQueryType()?.getFields()['contacts'];
  if (!contacts) throw new Error('There is no field contacts.');
  const plain = new Map(['firstName', 'lastName', 'email', 'phone', 'type', 'company', 'city', 'createdAt', 'updatedAt'].map(name => [name, new Map()]));
  // The columns of the foreign keys are read along, as `select *` would.
  const selection = new Map([['nodes', plain], ['pageInfo', new Map()]]);
  contacts.resolve = (_root, args: ListArgs, context: Context) => contactPage(context, args, selection);
}

await startStandaloneServer(new ApolloServer<Context>({ schema }), {
  async context({ req }) {
    const principal = await resources.tokens.verify(bearerOf(req.headers.authorization) ?? '');
    if (!principal) throw unauthorized();
    return server.kernel.createContext({ principal, requestId: crypto.randomUUID() });
  },
  listen: { host: '127.0.0.1', port: Number(environment('PORT')) },
});
