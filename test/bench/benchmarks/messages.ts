import { type Contestant, compete, type Options, overHttp } from '../contest.ts';
import { addMessages, addTenant, addToken, settle } from '../fill.ts';
import type { Fixture } from '../fixture.ts';
import { startGateway } from '../gateway.ts';
import { rawRequest } from '../load.ts';
import { printProgress } from '../output.ts';
import { atMost, type Result } from '../report.ts';

const MESSAGES = 1_000_000;
const PER_PAGE = 100;
const LAST_PAGE = MESSAGES / PER_PAGE;

const PAGE = `query Messages($first: Int!, $after: String, $offset: Int) {
  messages(first: $first, after: $after, offset: $offset) {
    nodes { id direction type: networkType text status sentAt deliveredAt readAt createdAt contactId }
    pageInfo { hasNextPage endCursor }
  }
}`;

interface Answer {
  readonly data: {
    readonly messages: { readonly nodes: unknown[]; readonly pageInfo: { hasNextPage: boolean; endCursor: string } };
  };
}

/** The first page of a million messages and the ten-thousandth, both by cursor: a list must not get slower the further one goes. */
export async function messages(fixture: Fixture, options: Options): Promise<Result> {
  printProgress(`messages: filling ${MESSAGES} messages, starting the gateway …`);
  const tenant = await addTenant(fixture.pool, 'messages', 10_000);
  await addMessages(fixture.pool, tenant, MESSAGES, { events: false });
  const token = await addToken(fixture.pool, tenant);
  await settle(fixture.pool);
  const server = await startGateway(fixture);
  try {
    const request = (variables: object) =>
      rawRequest(
        `${server.url}/graphql`,
        'POST',
        { authorization: `Bearer ${token}` },
        JSON.stringify({ query: PAGE, variables: { first: PER_PAGE, ...variables } }),
      );
    const ask = async (variables: object): Promise<Answer['data']['messages']> => {
      const answer = await fetch(`${server.url}/graphql`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ query: PAGE, variables: { first: PER_PAGE, ...variables } }),
      });
      return ((await answer.json()) as Answer).data.messages;
    };
    // Where the ten-thousandth page begins: found once by counting rows, asked for by cursor.
    const { endCursor } = (await ask({ offset: (LAST_PAGE - 2) * PER_PAGE })).pageInfo;
    const last = await ask({ after: endCursor });
    if (last.nodes.length !== PER_PAGE || last.pageInfo.hasNextPage) throw new Error('This is not the last page.');
    const contestant = (name: string, variables: object): Contestant => {
      const asked = request(variables);
      return overHttp(name, server, fixture, { connections: options.connections, request: () => asked });
    };
    const samples = await compete([contestant('page 1', {}), contestant('page 10,000', { after: endCursor })], options);
    const cpu = (name: string): number => {
      const sample = samples.get(name);
      return (sample?.serverCpu ?? Number.NaN) + (sample?.databaseCpu ?? 0);
    };
    const p50 = (name: string): number => samples.get(name)?.p50 ?? Number.NaN;
    return {
      title: `messages: pages of ${PER_PAGE} of ${MESSAGES} by cursor (${options.connections} connections)`,
      samples,
      goals: [
        atMost('CPU of page 10,000 / of page 1, database included', cpu('page 10,000') / cpu('page 1'), 1.2),
        atMost('median time of page 10,000 / of page 1', p50('page 10,000') / p50('page 1'), 1.2),
      ],
    };
  } finally {
    await server.stop();
  }
}
