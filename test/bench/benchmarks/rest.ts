import { type Contestant, compete, type Options, overHttp } from '../contest.ts';
import { PAGE_SIZE } from '../documents.ts';
import { addTenant, addToken, FIRST_PHONE, settle } from '../fill.ts';
import type { Fixture } from '../fixture.ts';
import { startGateway } from '../gateway.ts';
import { type RawRequest, rawRequest } from '../load.ts';
import { printProgress } from '../output.ts';
import { atMost, type Result } from '../report.ts';

const CONTACTS = 10_000;

/** The selection of the REST route, as a GraphQL query: the same fields under the same names. */
const LIST = `query ($first: Int!, $offset: Int!) {
  contacts(first: $first, offset: $offset) {
    totalCount
    nodes {
      id: databaseId firstname: firstName lastname: lastName company type email phone status_id: status { databaseId } source_id: source { databaseId } description
      city state zip address country { numericCode } assigned_id: assignee { databaseId } is_opted_out: isOptedOut created_at: createdAt updated_at: updatedAt
      groups { id: databaseId name created_at: createdAt updated_at: updatedAt }
      service_window: serviceWindow { open: isOpen expires_at: expiresAt }
    }
  }
}`;
const SEND = `mutation ($input: SendMessageInput!) {
  result: sendMessage(input: $input) {
    message {
      message_id: wamid contact_id: contactId phone status sent_at: sentAt chat_id: conversationId chat_message_id: databaseId message: text
      service_window: serviceWindow { open: isOpen expires_at: expiresAt }
    }
    userErrors { code message path }
  }
}`;

/** Each operation over REST and over GraphQL, on one gateway. */
export async function rest(fixture: Fixture, options: Options): Promise<Result> {
  printProgress(`rest: filling ${CONTACTS} contacts, starting the gateway …`);
  const tenant = await addTenant(fixture.pool, 'rest', CONTACTS);
  const headers = { authorization: `Bearer ${await addToken(fixture.pool, tenant)}` };
  // Everybody may be written to.
  await fixture.pool.query('update contacts set opted_out_at = null where opted_out_at is not null');
  await settle(fixture.pool);
  const server = await startGateway(fixture);
  try {
    const graphql = (query: string, variables: object): RawRequest =>
      rawRequest(`${server.url}/graphql`, 'POST', headers, JSON.stringify({ query, variables }));
    const listOverRest = rawRequest(
      `${server.url}/api/v2/contacts?per_page=${PAGE_SIZE}&include=groups`,
      'GET',
      headers,
    );
    const listOverGraphql = graphql(LIST, { first: PAGE_SIZE, offset: 0 });
    const phone = (n: number): string => `+${FIRST_PHONE + (n % CONTACTS)}`;
    const sendOverRest = (n: number): RawRequest =>
      rawRequest(
        `${server.url}/api/v2/messages/text`,
        'POST',
        { ...headers, prefer: 'respond-async' },
        JSON.stringify({ phone: phone(n), message: 'Your order is on its way.' }),
      );
    const sendOverGraphql = (n: number): RawRequest =>
      graphql(SEND, {
        input: { to: { phone: phone(n) }, content: { text: { body: 'Your order is on its way.' } } },
      });
    const contestant = (name: string, request: (n: number) => RawRequest): Contestant =>
      overHttp(name, server, fixture, { connections: options.connections, request });
    const samples = await compete(
      [
        contestant('list, REST', () => listOverRest),
        contestant('list, GraphQL', () => listOverGraphql),
        contestant('send, REST', sendOverRest),
        contestant('send, GraphQL', sendOverGraphql),
      ],
      options,
    );
    const ratio = (operation: string): number =>
      (samples.get(`${operation}, REST`)?.serverCpu ?? Number.NaN) /
      (samples.get(`${operation}, GraphQL`)?.serverCpu ?? Number.NaN);
    return {
      title: `rest: one gateway, the same operation over both (${options.connections} connections)`,
      samples,
      goals: [
        atMost('CPU of a list over REST / over GraphQL', ratio('list'), 1.1),
        atMost('CPU of a send over REST / over GraphQL', ratio('send'), 1.1),
      ],
    };
  } finally {
    await server.stop();
  }
}
