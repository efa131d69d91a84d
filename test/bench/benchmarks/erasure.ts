import { type CompiledQuery, type KyselyPlugin, PostgresQueryCompiler, type QueryId } from 'kysely';
import { createDatabase, type Database } from '../../../src/database/database.ts';
import { eraseContacts } from '../../../src/features/contacts/erasure/erase.ts';
import { COMMAND_LINE } from '../../../src/features/tenancy/audit/author.ts';
import { systemClock } from '../../../src/platform/clock.ts';
import { createSecretBox } from '../../../src/platform/crypto.ts';
import { createLog } from '../../../src/platform/log.ts';
import { addTenant } from '../fill.ts';
import { addPersonsMessages } from '../fill-person.ts';
import type { Fixture } from '../fixture.ts';
import { SECRET_KEY } from '../gateway.ts';
import { printLine, printProgress } from '../output.ts';
import { accesses, type Plan } from '../plan.ts';
import { atMost, type Result, table } from '../report.ts';

const MESSAGES = 1_000_000;
const EVERY = 100;

interface Timing {
  calls: number;
  ms: number;
  longest: number;
  readonly text: string;
  readonly parameters: readonly unknown[];
}

/**
 * One person of 10,000 messages among a million, without statistics of the tables: seconds, which statements take them, and what each
 * reads. Idempotency keys without a person, and changes of numbers that no tenant has connected, are read completely: a hundred thousand of each.
 */
export async function erasure(fixture: Fixture): Promise<Result> {
  printProgress(`erasure: filling ${MESSAGES} messages …`);
  const begin = performance.now();
  const tenant = await addTenant(fixture.pool, 'erasure', 10_000);
  const client = await fixture.pool.connect();
  try {
    await addPersonsMessages(client, tenant, { messages: MESSAGES, every: EVERY });
  } finally {
    client.release();
  }
  printProgress(`erasure: filled in ${((performance.now() - begin) / 1_000).toFixed(0)} s; erasing …`);
  const log = createLog('silent');
  const db = createDatabase({ url: fixture.url, poolSize: 4, readers: 1, log });
  const timings = new Map<string, Timing>();
  const key = Buffer.from(SECRET_KEY, 'base64');
  try {
    const from = performance.now();
    const { receipts } = await eraseContacts(
      {
        db: timed(db, timings),
        clock: systemClock,
        secrets: createSecretBox({ current: key, permanent: key }),
        log,
        signals: { send: () => undefined },
      },
      tenant.id,
      { contactIds: [tenant.firstContactId], reason: 'subject_request', author: COMMAND_LINE },
    );
    const seconds = (performance.now() - from) / 1_000;
    const rows: string[][] = [];
    for (const [name, timing] of [...timings].sort(([, a], [, b]) => b.ms - a.ms)) {
      const { calls, ms, longest } = timing;
      rows.push([name, String(calls), ms.toFixed(0), longest.toFixed(0), await readsOf(fixture.pool, timing)]);
    }
    printLine('');
    table(['statement', 'calls', 'ms in all', 'longest ms', 'reads'], rows);
    return {
      title: `erasure: a person of ${MESSAGES / EVERY} messages among ${MESSAGES}`,
      samples: new Map(),
      goals: [atMost('seconds', seconds, 60)],
      notes: [`Erased: ${JSON.stringify(receipts[0]?.erased)}`],
    };
  } finally {
    await db.close();
  }
}

/** Indexes and whole tables that a statement reads, with the parameters of its first call. */
async function readsOf(pool: Fixture['pool'], { text, parameters }: Timing): Promise<string> {
  const { rows } = await pool.query<{ 'QUERY PLAN': [{ Plan: Plan }] }>(`explain (format json) ${text}`, [
    ...parameters,
  ]);
  return [...new Set(rows.flatMap(row => row['QUERY PLAN'].flatMap(({ Plan: plan }) => [...accesses(plan)])))].join(
    ', ',
  );
}

/** The database, whose statements in transactions are timed by the beginning of their texts. */
function timed(db: Database, timings: Map<string, Timing>): Database {
  const compiler = new PostgresQueryCompiler();
  const open = new WeakMap<QueryId, { readonly query: CompiledQuery; readonly from: number }>();
  const plugin: KyselyPlugin = {
    transformQuery({ node, queryId }) {
      open.set(queryId, { query: compiler.compileQuery(node, queryId), from: performance.now() });
      return node;
    },
    async transformResult({ queryId, result }) {
      const statement = open.get(queryId);
      if (statement) {
        const ms = performance.now() - statement.from;
        const { sql: text, parameters } = statement.query;
        const name = text.replace(/\s+/g, ' ').trim().slice(0, 90);
        const sum = timings.get(name) ?? { calls: 0, ms: 0, longest: 0, text, parameters };
        sum.calls += 1;
        sum.ms += ms;
        sum.longest = Math.max(sum.longest, ms);
        timings.set(name, sum);
      }
      return result;
    },
  };
  return { ...db, transaction: work => db.transaction(trx => work(trx.withPlugin(plugin))) };
}
