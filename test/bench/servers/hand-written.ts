import Fastify from 'fastify';
import pg from 'pg';
import { environment } from './environment.ts';

/**
 * What somebody would write by hand for this one page and nothing else: Fastify, a token check from a map, one prepared
 * statement whose nested rows come as JSON, the rows given out by JSON.stringify. Timestamps go out as the database wrote them.
 */
const tenantByToken = new Map([[environment('BENCH_TOKEN'), Number(environment('BENCH_TENANT'))]]);
const pool = new pg.Pool({
  connectionString: environment('DATABASE_URL'),
  max: 10,
  options: '-c TimeZone=UTC -c jit=off',
});
const types: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: 'text') => {
    if (oid === pg.types.builtins.INT8) return Number;
    return oid === pg.types.builtins.TIMESTAMPTZ ? String : pg.types.getTypeParser(oid, format);
  }) as typeof pg.types.getTypeParser,
};

const LIST = `
  select c.id, c.firstname as "firstName", c.lastname as "lastName", c.email, c.phone, upper(c.type) as type, c.company, c.city,
         c.created_at as "createdAt", c.updated_at as "updatedAt",
         (select json_build_object('id', s.id, 'name', s.name) from sources s where s.tenant_id = c.tenant_id and s.id = c.source_id) as source,
         (select json_build_object('id', s.id, 'name', s.name, 'color', s.color) from statuses s
          where s.tenant_id = c.tenant_id and s.id = c.status_id) as status,
         (select coalesce(json_agg(json_build_object('id', g.id, 'name', g.name) order by g.name), '[]')
          from contact_groups cg join groups g on g.tenant_id = cg.tenant_id and g.id = cg.group_id
          where cg.tenant_id = c.tenant_id and cg.contact_id = c.id) as groups
  from contacts c where c.tenant_id = $1 order by c.id desc limit $2::int`;

const app = Fastify({ logger: false });

app.get<{ Querystring: { first: string } }>('/contacts', async (request, reply) => {
  const tenantId = tenantByToken.get(request.headers.authorization?.slice('Bearer '.length) ?? '');
  if (tenantId === undefined) return reply.code(401).send({ error: 'unauthorized' });
  const first = Number(request.query.first);
  const { rows } = await pool.query<{ id: number }>({ name: 'list', text: LIST, values: [tenantId, first + 1], types });
  const nodes = rows.slice(0, first);
  const body = { nodes, pageInfo: { hasNextPage: rows.length > first, endCursor: nodes.at(-1)?.id ?? null } };
  return reply.header('content-type', 'application/json; charset=utf-8').send(JSON.stringify(body));
});

// A profile is only written by a process that ends by itself.
process.once('SIGTERM', () => process.exit(0));

await app.listen({ host: '127.0.0.1', port: Number(environment('PORT')) });
