import { spawn } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { Kysely, PostgresDialect } from 'kysely';
import type pg from 'pg';
import { newId } from '../../../src/core/ids.ts';
import type { Db, Schema } from '../../../src/database/database.ts';
import { PRIORITY } from '../../../src/features/messages/dispatch/lane.ts';
import { insertOutbound, readSendContext } from '../../../src/features/messages/send/accept.sql.ts';
import { monthOf, SHARDS } from '../../../src/features/tenancy/usage/month.ts';
import { type Contestant, compete, type Options, overHttp, type Sample } from '../contest.ts';
import { addTenant, addToken, FIRST_PHONE, type FilledTenant, settle } from '../fill.ts';
import { startGateway } from '../gateway.ts';
import type { Ground } from '../ground.ts';
import { rawRequest } from '../load.ts';
import { postgresCpu } from '../postgres-cpu.ts';
import { atLeast, type Result } from '../report.ts';
import { say } from '../say.ts';

const CONTACTS = 10_000;
const TEXT = 'Your order is on its way.';

/** A durable text over REST, against pgbench running the same two statements with as many clients. */
export async function send(ground: Ground, options: Options): Promise<Result | undefined> {
  if (!(await hasPgbench())) {
    say('send: pgbench is not installed (it comes with PostgreSQL); skipped.');
    return undefined;
  }
  say(`send: filling ${CONTACTS} contacts, starting the gateway …`);
  const tenant = await addTenant(ground.pool, 'send', CONTACTS);
  const token = await addToken(ground.pool, tenant);
  // Everybody may be written to.
  await ground.pool.query('update contacts set opted_out_at = null where opted_out_at is not null');
  await settle(ground.pool);
  const script = `${ground.directory}/send.sql`;
  await writeFile(script, await pgbenchScript(ground.pool, tenant));
  const server = await startGateway(ground);
  try {
    const headers = { authorization: `Bearer ${token}`, prefer: 'respond-async' };
    const url = `${server.url}/api/v2/messages/text`;
    const request = (n: number) =>
      rawRequest(
        url,
        'POST',
        headers,
        JSON.stringify({ phone: `+${FIRST_PHONE + ((n * 7_919) % CONTACTS)}`, message: TEXT }),
      );
    const gateway = overHttp('Parley', server, ground, { connections: options.connections, request });
    const samples = await compete([gateway, pgbench(ground, script, options.connections)], options);
    const rate = (name: string): number => samples.get(name)?.perSecond ?? Number.NaN;
    return {
      title: `send: POST /api/v2/messages/text with respond-async, durable before it is answered (${options.connections} clients)`,
      samples,
      goals: [atLeast('sends of Parley / of pgbench', rate('Parley') / rate('pgbench'), 0.5)],
      notes: [
        'The load generator, the gateway and PostgreSQL share the machine; pgbench needs neither of the first two.',
      ],
    };
  } finally {
    await server.stop();
  }
}

const hasPgbench = (): Promise<boolean> =>
  new Promise(resolve => {
    spawn('pgbench', ['--version'], { stdio: 'ignore' })
      .once('error', () => resolve(false))
      .once('exit', code => resolve(code === 0));
  });

/** A UUIDv7 made by the server: pgbench cannot. */
const UUID = `(lpad(to_hex((extract(epoch from clock_timestamp()) * 1000)::bigint), 12, '0') || '7' || substr(md5(random()::text), 1, 19))::uuid`;

/** The statements themselves, as the store writes them, with what differs from send to send filled in by pgbench. */
async function pgbenchScript(pool: pg.Pool, tenant: FilledTenant): Promise<string> {
  const captured: { sql: string; parameters: readonly unknown[] }[] = [];
  const db = new Kysely<Schema>({
    dialect: new PostgresDialect({ pool }),
    log: event => void captured.push(event.query),
  }) as Db;
  const phoneKey = String(FIRST_PHONE);
  const { channelId, id } = tenant;
  // Distinct values, so that each parameter is recognised; the statements are only captured, they insert nothing.
  const contactId = tenant.firstContactId + 4_321;
  const conversationId = tenant.firstConversationId + 1_234;
  const counter = { month: monthOf(Date.now()), shard: 777 };
  const message = {
    id: newId(),
    channelId,
    type: 'text',
    priority: PRIORITY.single,
    templateId: null,
    body: TEXT,
    content: { preview_url: false },
    sealed: null,
    counter,
    replyToWamid: null,
    createdAt: new Date().toISOString(),
    eventId: newId(),
    key: undefined,
  };
  await readSendContext(db, id, null, { phoneKey }, null, counter, null);
  await insertOutbound(db, id, message, { contactId, conversationId, isCounted: true, mayBeOptedOut: false });
  const varying = new Map<unknown, string>([
    [phoneKey, `(${FIRST_PHONE} + :n)::text`],
    [message.id, UUID],
    [message.eventId, UUID],
    [contactId, `(${tenant.firstContactId} + :n)`],
    [conversationId, `(${tenant.firstConversationId} + :n)`],
    [counter.shard, ':shard'],
    [message.createdAt, `date_trunc('milliseconds', clock_timestamp())`],
  ]);
  const statements = captured.map(({ sql, parameters }) => {
    const value = (number: string): unknown => parameters[Number(number) - 1];
    const text = sql.replace(/\$(\d+)/g, (_whole, number: string) =>
      // The only list is that of the number's spellings.
      Array.isArray(value(number)) ? SPELLINGS : (varying.get(value(number)) ?? literal(value(number))),
    );
    return text.replace(/--[^\n]*/g, '').replace(/\s+/g, ' ');
  });
  return `\\set n random(0, ${CONTACTS - 1})\n\\set shard random(0, ${SHARDS - 1})\n${statements.map(text => `${text};\n`).join('')}`;
}

/** As `identitySpellings` of the number. */
const SPELLINGS = `array[(${FIRST_PHONE} + :n)::text, '+' || (${FIRST_PHONE} + :n)::text]`;

function literal(value: unknown): string {
  if (value === null || value === undefined) return 'null';
  if (typeof value === 'number') return `${value}`;
  // pgbench would read `:false` as a variable of that name.
  return `'${String(value).replaceAll("'", "''").replaceAll('":', '": ')}'`;
}

async function countMessages(pool: pg.Pool): Promise<number> {
  const { rows } = await pool.query<{ messages: number }>('select count(*)::int as messages from messages');
  return rows[0]?.messages ?? 0;
}

function pgbench(ground: Ground, script: string, clients: number): Contestant {
  return {
    name: 'pgbench',
    async run(durationMs): Promise<Sample> {
      const messages = await countMessages(ground.pool);
      const before = await postgresCpu(ground.pool);
      const args = [
        '--no-vacuum',
        '--protocol=prepared',
        `--client=${clients}`,
        '--jobs=2',
        `--time=${Math.max(1, Math.round(durationMs / 1_000))}`,
        `--file=${script}`,
        ground.url,
      ];
      const output = await new Promise<string>((resolve, reject) => {
        const child = spawn('pgbench', args, { stdio: ['ignore', 'pipe', 'pipe'] });
        let text = '';
        child.stdout.on('data', chunk => (text += String(chunk)));
        child.stderr.on('data', chunk => (text += String(chunk)));
        child.once('error', reject);
        child.once('exit', code =>
          code === 0 ? resolve(text) : reject(new Error(`pgbench failed: ${text.slice(-1_500)}`)),
        );
      });
      const after = await postgresCpu(ground.pool);
      const count = Number(/actually processed: (\d+)/.exec(output)?.[1] ?? 0);
      // A statement that inserts nothing would be fast indeed.
      const inserted = (await countMessages(ground.pool)) - messages;
      if (inserted < count * 0.95)
        throw new Error(`pgbench ran ${count} times and inserted ${inserted} messages: its script is wrong.`);
      const perSecond = Number(/tps = ([\d.]+)/.exec(output)?.[1] ?? 0);
      const latency = Number(/latency average = ([\d.]+)/.exec(output)?.[1] ?? Number.NaN);
      return {
        perSecond,
        serverCpu: undefined,
        databaseCpu: before === undefined || after === undefined || count === 0 ? undefined : (after - before) / count,
        p50: Number.isNaN(latency) ? undefined : latency,
        p99: undefined,
      };
    },
  };
}
