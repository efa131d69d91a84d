import { ApolloServer } from '@apollo/server';
import { startStandaloneServer } from '@apollo/server/standalone';
import type { GraphQLSchema } from 'graphql';
import { sql } from 'kysely';
import { schema } from '../../../src/app/schema.ts';
import { serve } from '../../../src/app/serve.ts';
import { loadConfig } from '../../../src/config.ts';
import { unauthorized } from '../../../src/core/errors.ts';
import { tenantOf } from '../../../src/core/principal.ts';
import { encodeCursor } from '../../../src/database/list-sql.ts';
import { ALL_COLUMNS } from '../../../src/features/contacts/columns.ts';
import type { ContactRow } from '../../../src/features/contacts/contact.ts';
import { bearerToken } from '../../../src/http/authenticate.ts';
import { createLog } from '../../../src/platform/log.ts';
import type { Context } from '../../../src/schema/context.ts';
import { environment } from './environment.ts';

/**
 * Apollo Server as its documentation starts it, over Parley's own schema: same resolvers, same statements, same token
 * cache, no quotas and no log. BENCH_LOADERS=1 takes the look-ahead away, so that source, status and groups are loaded
 * by dataloaders, the way most Apollo servers are written.
 */
const config = loadConfig({ ...process.env, PORT: '0' });
const { databaseUrl, secretKey } = config;
if (databaseUrl === undefined || secretKey === undefined)
  throw new Error('DATABASE_URL and PARLEY_SECRET_KEY are not set.');
const { resources, server } = await serve({
  config: { ...config, databaseUrl, secretKey },
  schema,
  role: 'gateway',
  log: createLog('silent'),
});

if (process.env['BENCH_LOADERS'] === '1') withoutLookAhead(schema);

function withoutLookAhead(schema: GraphQLSchema): void {
  const contacts = schema.getQueryType()?.getFields()['contacts'];
  if (!contacts) throw new Error('There is no field contacts.');
  contacts.resolve = async (_root, { first }: { first: number }, context: Context) => {
    const { rows } = await sql<ContactRow>`
      select ${sql.raw(ALL_COLUMNS)} from contacts c where c.tenant_id = ${tenantOf(context)} order by c.id desc limit ${first + 1}`.execute(
      context.db.read,
    );
    return {
      rows: rows.slice(0, first),
      hasNextPage: rows.length > first,
      hasPreviousPage: false,
      cursor: (row: ContactRow) => encodeCursor('-c.id', [row.id]),
    };
  };
}

await startStandaloneServer(new ApolloServer<Context>({ schema }), {
  async context({ req }) {
    const principal = await resources.tokens.verify(bearerToken(req.headers.authorization) ?? '');
    if (!principal) throw unauthorized();
    return server.kernel.createContext({ principal, requestId: crypto.randomUUID() });
  },
  listen: { host: '127.0.0.1', port: Number(environment('PORT')) },
});
