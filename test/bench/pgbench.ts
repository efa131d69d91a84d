import { spawn } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import type { Contestant, Sample } from './contest.ts';
import { FIRST_PHONE } from './fill.ts';
import type { Fixture } from './fixture.ts';
import { postgresCpu } from './postgres-cpu.ts';

/** The statements of a send at commit 46c4cd9, with what differs from send to send filled in by pgbench. */
const SCRIPT = fileURLToPath(new URL('statements-46c4cd9.sql', import.meta.url));
/** The last migration of that commit. */
const LAST_MIGRATION = '0017';
const MIGRATIONS = new URL('../../migrations/', import.meta.url);

export const hasPgbench = (): Promise<boolean> =>
  new Promise(resolve => {
    spawn('pgbench', ['--version'], { stdio: 'ignore' })
      .once('error', () => resolve(false))
      .once('exit', code => resolve(code === 0));
  });

/** A database with the tables of commit 46c4cd9, on the server of the fixture, with as many contacts and their conversations. */
export async function oldFixture(
  fixture: Fixture,
  contacts: number,
): Promise<{ variables: string[]; pool: pg.Pool; url: string }> {
  const address = new URL(fixture.url);
  address.pathname += '_46c4cd9';
  await fixture.pool.query(`create database ${address.pathname.slice(1)}`);
  const pool = new pg.Pool({ connectionString: address.href, max: 2 });
  pool.on('error', () => undefined);
  const files = (await readdir(MIGRATIONS)).filter(file => file.endsWith('.sql') && file.slice(0, 4) <= LAST_MIGRATION);
  for (const file of files.sort()) await pool.query(await readFile(new URL(file, MIGRATIONS), 'utf8'));
  const [row] = (
    await pool.query<Record<'tenant' | 'channel' | 'contact' | 'conversation', string>>(
      `with plan as (
         insert into plans (name, calls_per_minute) values ('bench', 6000) returning id
       ), t as (
         insert into tenants (slug, name, plan_id) select 'bench', 'Bench', id from plan returning tenant_id
       ), u as (
         insert into tenant_usage (tenant_id) select tenant_id from t
       ), m as (
         insert into monthly_usage (tenant_id, month, shard) select tenant_id, date_trunc('month', now()), n from t, generate_series(0, 63) n
       ), ch as (
         insert into channels (tenant_id, name, phone_number_id, waba_id, display_phone_number, access_token_sealed, app_secret_sealed,
                               verify_token_hash, is_default)
         select tenant_id, 'Bench', 'bench', 'bench-waba', '+1 555 078 0000', '', '', '', true from t returning id
       ), c as (
         insert into contacts (tenant_id, firstname, phone, phone_key)
         select tenant_id, 'Person ' || n, '+' || $2::bigint + n, ($2::bigint + n)::text from t, generate_series(0, $1::int - 1) n returning tenant_id, id
       ), v as (
         insert into conversations (tenant_id, contact_id, channel_id, counted_month)
         select c.tenant_id, c.id, ch.id, date_trunc('month', now()) from c, ch order by c.id returning id
       )
       select (select tenant_id from t)::text as tenant, (select id from ch)::text as channel, (select min(id) from c)::text as contact,
         (select min(id) from v)::text as conversation`,
      [contacts, FIRST_PHONE],
    )
  ).rows;
  await pool.query('vacuum analyze');
  const values = { ...row, contacts: String(contacts), phone: String(FIRST_PHONE) };
  return {
    url: address.href,
    pool,
    variables: Object.entries(values).map(([name, value]) => `--define=${name}=${value}`),
  };
}

/** pgbench with the statements of commit 46c4cd9. */
export function pgbench({ url, pool, variables }: Awaited<ReturnType<typeof oldFixture>>, clients: number): Contestant {
  return {
    name: 'pgbench, statements of 46c4cd9',
    async run(durationMs): Promise<Sample> {
      const messages = await countMessages(pool);
      const before = await postgresCpu(pool);
      const output = await runPgbench([
        '--no-vacuum',
        '--protocol=prepared',
        `--client=${clients}`,
        '--jobs=2',
        `--time=${Math.max(1, Math.round(durationMs / 1_000))}`,
        `--file=${SCRIPT}`,
        ...variables,
        url,
      ]);
      const after = await postgresCpu(pool);
      const count = Number(/actually processed: (\d+)/.exec(output)?.[1] ?? 0);
      // A statement that inserts nothing would be fast indeed.
      const inserted = (await countMessages(pool)) - messages;
      if (inserted < count * 0.95)
        throw new Error(`pgbench ran ${count} times and inserted ${inserted} messages: its script is wrong.`);
      const latency = Number(/latency average = ([\d.]+)/.exec(output)?.[1] ?? Number.NaN);
      return {
        perSecond: Number(/tps = ([\d.]+)/.exec(output)?.[1] ?? 0),
        serverCpu: undefined,
        databaseCpu: before === undefined || after === undefined || count === 0 ? undefined : (after - before) / count,
        p50: Number.isNaN(latency) ? undefined : latency,
        p99: undefined,
      };
    },
  };
}

const runPgbench = (args: readonly string[]): Promise<string> =>
  new Promise((resolve, reject) => {
    const child = spawn('pgbench', args, { stdio: ['ignore', 'pipe', 'pipe'] });
    let text = '';
    child.stdout.on('data', chunk => (text += String(chunk)));
    child.stderr.on('data', chunk => (text += String(chunk)));
    child.once('error', reject);
    child.once('exit', code =>
      code === 0 ? resolve(text) : reject(new Error(`pgbench failed: ${text.slice(-1_500)}`)),
    );
  });

async function countMessages(pool: pg.Pool): Promise<number> {
  const { rows } = await pool.query<{ messages: number }>('select count(*)::int as messages from messages');
  return rows[0]?.messages ?? 0;
}
