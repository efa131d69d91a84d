import { dataOf } from '../../support/answers.ts';
import { type GraphQLAnswer, startGateway, type TestGateway } from '../../support/gateway.ts';
import { newPhone } from '../../support/seed.ts';
import { sendAs } from '../../support/sending.ts';
import { TEMPLATES } from './seeds.ts';

/** A gateway that has templates of every make, and sends of them. */
export interface Sending {
  readonly gateway: TestGateway;
  /** To somebody new, unless the input says to whom. */
  send(input: object, token?: string): Promise<GraphQLAnswer>;
}

export const ORDER = {
  name: 'order',
  header: { text: '77' },
  body: ['Ana', '1042'],
  buttons: [{ index: 1, value: 'a b' }],
};

const SHOWN = `databaseId status text type: networkType content: raw
  shown: content { ... on TemplateContent { rendered { header { format text link filename } body footer buttons { type text url phoneNumber } } } }`;

export async function startSending(): Promise<Sending> {
  const gateway = await startGateway({ templates: TEMPLATES });
  dataOf(await gateway.mutate('syncTemplates', {}));
  return {
    gateway,
    send: (input, token) =>
      sendAs(
        gateway,
        'template',
        { to: newPhone(), language: 'en_US', waitForAcceptance: true, ...input },
        SHOWN,
        token,
      ),
  };
}
