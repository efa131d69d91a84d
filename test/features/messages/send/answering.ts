import { expect } from 'vitest';
import { dataOf, payloadOf } from '../../../support/answers.ts';
import { eventually, type GraphQLAnswer, type TestGateway } from '../../../support/gateway.ts';
import { newPhone } from '../../../support/seed.ts';

/** A person who writes to a tenant, for messages that answer them. */
export interface Person {
  readonly phone: string;
  /** The person writes. @returns the id of the message */
  writes(text: string): Promise<string>;
  send(input?: object, selection?: string): Promise<GraphQLAnswer>;
  /** Sends a message, which the network then has. @returns its id */
  sent(input?: object): Promise<string>;
  /** Reads a message, until it has these fields. */
  // biome-ignore lint/suspicious/noExplicitAny: what a test expects of a message it says by assertions
  shown(id: string, selection: string, expected?: object): Promise<any>;
  /** What the network took for the person, in order. */
  taken(): ReturnType<TestGateway['emulator']['sent']>['messages'];
}

export function personOf(gateway: TestGateway, phone = newPhone()): Person {
  const shown: Person['shown'] = (id, selection, expected = {}) =>
    eventually(async () => {
      const answer = await gateway.graphql(`query ($id: ID!) { message(id: $id) { ${selection} } }`, { id });
      expect(dataOf(answer).message).toMatchObject(expected);
      return dataOf(answer).message;
    });
  const send: Person['send'] = (input = {}, selection = 'id databaseId') =>
    gateway.mutate(
      'sendMessage',
      { to: { phone }, content: { text: { body: 'Hello' } }, waitForAcceptance: true, ...input },
      `message { ${selection} }`,
    );
  return {
    phone,
    async writes(text) {
      const { phoneNumberId } = gateway.tenant;
      const wamid = gateway.emulator.inbound({ phoneNumberId, from: phone.slice(1), text });
      return eventually(async () => {
        const { messages } = dataOf(
          await gateway.graphql('query ($w: String!) { messages(filter: { wamid: { eq: $w } }) { nodes { id } } }', {
            w: wamid,
          }),
        );
        expect(messages.nodes).toHaveLength(1);
        return messages.nodes[0].id;
      });
    },
    send,
    sent: async input => payloadOf(await send(input)).message.id,
    shown,
    taken: () => gateway.emulator.sent({ to: phone, limit: 1_000 }).messages,
  };
}
