import { createServer, type IncomingMessage } from 'node:http';
import { postgraphile } from 'postgraphile';
import { makePgService } from 'postgraphile/adaptors/pg';
import { grafserv } from 'postgraphile/grafserv/node';
import { PostGraphileAmberPreset } from 'postgraphile/presets/amber';
import { environment } from './environment.ts';

/** PostGraphile 5 as its documentation starts it, Amber preset, over the same tables; the tenant is a condition of the query. */
const token = environment('BENCH_TOKEN');

const server = createServer();
const instance = postgraphile({
  extends: [PostGraphileAmberPreset],
  // By default only the first columns of indexes can be sorted by.
  ...(process.env['BENCH_ALL_COLUMNS'] === '1' && { disablePlugins: ['PgIndexBehaviorsPlugin'] }),
  pgServices: [makePgService({ connectionString: environment('DATABASE_URL'), schemas: ['public'], max: 10 })],
  grafserv: { watch: false, graphiql: false },
  grafast: {
    explain: false,
    context(request: { node?: { req: IncomingMessage } }) {
      if (request.node?.req.headers.authorization !== `Bearer ${token}`) throw new Error('unauthorized');
      return {};
    },
  },
});
await instance.createServ(grafserv).addTo(server);
server.listen(Number(environment('PORT')), '127.0.0.1');
