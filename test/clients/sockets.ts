import { createClient } from 'graphql-ws';
import { expect } from 'vitest';
import { dataOf } from '../support/answers.ts';
import { eventually, type TestGateway } from '../support/gateway.ts';

/** What every client of these tests subscribes to. */
export const GROUPS =
  'subscription Groups { events(filter: { types: [GROUP_CREATED] }) { cursor ... on ContactGroupEvent { contactGroup { name } } } }';

export interface GroupEvent {
  readonly events: { readonly cursor: string; readonly contactGroup: { readonly name: string } };
}

/** A graphql-ws client as docs/front-ends.md sets it up: it resumes after the last cursor that was seen. */
export function resumingSockets({ url, tenant }: TestGateway) {
  let after: string | undefined;
  const client = createClient({
    url: `${url.replace('http', 'ws')}/graphql`,
    retryWait: async () => undefined,
    connectionParams: () => ({ Authorization: `Bearer ${tenant.token}`, after }),
  });
  return {
    client,
    seen(cursor: string): void {
      after = cursor;
    },
  };
}

/**
 * Checks that a subscription goes on without a gap or a repetition after its connection was lost.
 * @param names what the client has seen so far
 * @param cut loses the connection
 */
export async function expectResumption(gateway: TestGateway, names: readonly string[], cut: () => void): Promise<void> {
  const create = async (name: string): Promise<void> => {
    dataOf(await gateway.mutate('createContactGroup', { name }, 'contactGroup { id }'));
  };
  await eventually(async () => {
    await create(crypto.randomUUID());
    expect(names).not.toEqual([]);
  });
  const [before, during, last] = ['before', 'during', 'after'].map(
    when => `${when} the cut ${crypto.randomUUID()}`,
  ) as [string, string, string];
  await create(before);
  await eventually(() => expect(names).toContain(before));
  cut();
  await create(during);
  await create(last);
  await eventually(() => expect(names).toContain(last));
  const rows = await gateway.database.query<{ name: string }>(
    "select payload->'group'->>'name' as name from events where tenant_id = $1 and type = 'group.created' order by xid, seq",
    [gateway.tenant.id],
  );
  expect(names).toEqual(rows.map(({ name }) => name).slice(-names.length));
}

/** Times a document is executed: beyond 32 uses it is compiled, which must not change its results. */
export const HOT_USES = 40;

/** Documents whose variables may be left out. */
export const LIST =
  'query List($first: Int, $search: String) { contactGroups(first: $first, search: $search) { nodes { name } } }';
export const CREATE =
  'mutation Create($name: String!) { createContactGroup(input: { name: $name }) { contactGroup { id name } userErrors { message } } }';
export const CREATE_STATUS =
  'mutation CreateStatus($input: CreateContactStatusInput!) { createContactStatus(input: $input) { contactStatus { id name color } } }';
export const UPDATE_STATUS =
  'mutation UpdateStatus($id: ID!, $name: String, $color: String) { updateContactStatus(input: { id: $id, name: $name, color: $color }) { contactStatus { id name color } userErrors { message } } }';
