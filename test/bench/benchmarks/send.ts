import { compete, type Options, overHttp } from '../contest.ts';
import { addTenant, addToken, FIRST_PHONE, settle } from '../fill.ts';
import type { Fixture } from '../fixture.ts';
import { startGateway } from '../gateway.ts';
import { rawRequest } from '../load.ts';
import { printProgress } from '../output.ts';
import { hasPgbench, oldFixture, pgbench } from '../pgbench.ts';
import { atLeast, type Result } from '../report.ts';

const CONTACTS = 10_000;
const TEXT = 'Your order is on its way.';

/** A durable text over REST, against pgbench running the statements of commit 46c4cd9 with as many clients. */
export async function send(fixture: Fixture, options: Options): Promise<Result | undefined> {
  if (!(await hasPgbench())) {
    printProgress('send: pgbench is not installed (it comes with PostgreSQL); skipped.');
    return undefined;
  }
  printProgress(`send: filling ${CONTACTS} contacts, starting the gateway …`);
  const tenant = await addTenant(fixture.pool, 'send', CONTACTS);
  const token = await addToken(fixture.pool, tenant);
  // Everybody may be written to.
  await fixture.pool.query('update contacts set opted_out_at = null where opted_out_at is not null');
  await settle(fixture.pool);
  const old = await oldFixture(fixture, CONTACTS);
  const server = await startGateway(fixture);
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
    const gateway = overHttp('Parley', server, fixture, { connections: options.connections, request });
    const samples = await compete([gateway, pgbench(old, options.connections)], options);
    const [parley = Number.NaN, peer = Number.NaN] = [...samples.values()].map(({ perSecond }) => perSecond);
    return {
      title: `send: POST /api/v2/messages/text with respond-async, durable before it is answered (${options.connections} clients)`,
      samples,
      goals: [atLeast('sends of Parley / of pgbench', parley / peer, 0.7)],
      notes: [
        'The load generator, the gateway and PostgreSQL share the machine; pgbench needs neither of the first two.',
      ],
    };
  } finally {
    await old.pool.end();
    await server.stop();
  }
}
