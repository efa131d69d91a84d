import { type Contestant, compete, type Options, overHttp, type Sample } from '../contest.ts';
import { addTenant, addToken, FIRST_PHONE, type FilledTenant, settle } from '../fill.ts';
import type { Fixture } from '../fixture.ts';
import { startGateway } from '../gateway.ts';
import { rawRequest } from '../load.ts';
import { printProgress } from '../output.ts';
import { atLeast, atMost, type Result } from '../report.ts';
import type { Server } from '../server.ts';

const CONTACTS = 10_000;
const CLIENTS = [1, 16, 64];
/** Numbers that no contact has: behind those of the filled ones. */
const UNKNOWN_PHONE = FIRST_PHONE + 1_000_000;

interface Counted {
  readonly commits: number;
  readonly messages: number;
}

/** Commits of the database, and messages stored. The statistics of a backend are a second late at most. */
async function countOf({ pool }: Fixture): Promise<Counted> {
  const { rows } = await pool.query<Counted>(
    `select (select xact_commit::float8 from pg_stat_database where datname = current_database()) as commits,
       (select count(*)::float8 from messages) as messages`,
  );
  return rows[0] ?? { commits: 0, messages: 0 };
}

/** @param phoneOf the number of the n-th send */
function sends(
  server: Server,
  fixture: Fixture,
  token: string,
  clients: number,
  name: string,
  phoneOf: (n: number) => number,
): Contestant {
  const headers = { authorization: `Bearer ${token}`, prefer: 'respond-async' };
  const url = `${server.url}/api/v2/messages/text`;
  const request = (n: number) =>
    rawRequest(url, 'POST', headers, JSON.stringify({ phone: `+${phoneOf(n)}`, message: 'Your order is on its way.' }));
  return overHttp(name, server, fixture, { connections: clients, request });
}

async function prepare(
  fixture: Fixture,
  slug: string,
): Promise<{ tenant: FilledTenant; token: string; server: Server }> {
  printProgress(`${slug}: filling ${CONTACTS} contacts, starting the gateway …`);
  const tenant = await addTenant(fixture.pool, slug, CONTACTS);
  const token = await addToken(fixture.pool, tenant);
  await fixture.pool.query('update contacts set opted_out_at = null where opted_out_at is not null');
  await settle(fixture.pool);
  return { tenant, token, server: await startGateway(fixture) };
}

/** Texts to known contacts with 1, 16 and 64 clients: CPU of each process and commits, for one message. */
export async function accept(fixture: Fixture, options: Options): Promise<Result> {
  const { token, server } = await prepare(fixture, 'accept');
  try {
    const samples = new Map<string, Sample>();
    const commits = new Map<number, number>();
    for (const clients of CLIENTS) {
      const known = sends(
        server,
        fixture,
        token,
        clients,
        `${clients} clients`,
        n => FIRST_PHONE + ((n * 7_919) % CONTACTS),
      );
      const before = await countOf(fixture);
      for (const [name, sample] of await compete([known], options)) samples.set(name, sample);
      const after = await countOf(fixture);
      commits.set(clients, (after.commits - before.commits) / (after.messages - before.messages));
    }
    const many = samples.get('64 clients');
    return {
      title: 'accept: POST /api/v2/messages/text to known contacts, durable before it is answered',
      samples,
      goals: [
        atMost('gateway CPU of a message with 64 clients, ms', (many?.serverCpu ?? Number.NaN) / 1_000, 0.2),
        atMost('PostgreSQL CPU of a message with 64 clients, ms', (many?.databaseCpu ?? Number.NaN) / 1_000, 0.2),
        atMost('commits a message with 64 clients', commits.get(64) ?? Number.NaN, 0.1),
      ],
      notes: [
        `Commits a message: ${[...commits].map(([clients, count]) => `${count.toFixed(2)} with ${clients}`).join(', ')}.`,
      ],
    };
  } finally {
    await server.stop();
  }
}

/** Texts to new numbers, compared with texts to known contacts. */
export async function newContacts(fixture: Fixture, options: Options): Promise<Result> {
  const { token, server } = await prepare(fixture, 'new-contacts');
  let next = 0;
  const unknown = (): number => {
    next += 1;
    return UNKNOWN_PHONE + next;
  };
  try {
    const known = sends(
      server,
      fixture,
      token,
      options.connections,
      'known contacts',
      n => FIRST_PHONE + ((n * 7_919) % CONTACTS),
    );
    const fresh = sends(server, fixture, token, options.connections, 'new numbers', unknown);
    const samples = await compete([known, fresh], options);
    const rate = (name: string): number => samples.get(name)?.perSecond ?? Number.NaN;
    return {
      title: `new-contacts: POST /api/v2/messages/text to numbers not seen before (${options.connections} clients)`,
      samples,
      goals: [atLeast('sends to new numbers / to known contacts', rate('new numbers') / rate('known contacts'), 0.7)],
    };
  } finally {
    await server.stop();
  }
}
