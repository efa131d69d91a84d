import { type Contestant, compete, type Options, overHttp } from '../contest.ts';
import { addTemplate, addTenant, addToken, FIRST_PHONE, settle } from '../fill.ts';
import type { Fixture } from '../fixture.ts';
import { startGateway } from '../gateway.ts';
import { rawRequest } from '../load.ts';
import { printProgress } from '../output.ts';
import { atMost, type Result } from '../report.ts';

const CONTACTS = 10_000;

/** A template with two parameters, compared with a plain text: it takes one more query, and validation of the parameters. */
export async function template(fixture: Fixture, options: Options): Promise<Result> {
  printProgress(`template: filling ${CONTACTS} contacts, starting the gateway …`);
  const tenant = await addTenant(fixture.pool, 'template', CONTACTS);
  await addTemplate(fixture.pool, tenant, 'order_shipped', 'Hello {{1}}, your order {{2}} is on its way.');
  const token = await addToken(fixture.pool, tenant);
  // Everybody may be written to.
  await fixture.pool.query('update contacts set opted_out_at = null where opted_out_at is not null');
  await settle(fixture.pool);
  const server = await startGateway(fixture);
  try {
    const headers = { authorization: `Bearer ${token}`, prefer: 'respond-async' };
    const contestant = (name: string, path: string, content: object): Contestant =>
      overHttp(name, server, fixture, {
        connections: options.connections,
        request: n =>
          rawRequest(
            `${server.url}/api/v2/messages/${path}`,
            'POST',
            headers,
            JSON.stringify({ phone: `+${FIRST_PHONE + ((n * 7_919) % CONTACTS)}`, ...content }),
          ),
      });
    const samples = await compete(
      [
        contestant('text', 'text', { message: 'Hello @{contact_first_name}, your order 4711 is on its way.' }),
        contestant('template', 'template', {
          template_name: 'order_shipped',
          language: 'en',
          field_1: '@{contact_first_name}',
          field_2: '4711',
        }),
      ],
      options,
    );
    const cpu = (name: string): number => {
      const sample = samples.get(name);
      return (sample?.serverCpu ?? Number.NaN) + (sample?.databaseCpu ?? 0);
    };
    return {
      title: `template: POST /api/v2/messages/template and /messages/text, both with respond-async (${options.connections} clients)`,
      samples,
      goals: [atMost('CPU of a template / of a text, database included', cpu('template') / cpu('text'), 1.5)],
    };
  } finally {
    await server.stop();
  }
}
