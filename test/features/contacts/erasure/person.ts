import { expect } from 'vitest';
import { dataOf } from '../../../support/answers.ts';
import { eventually, startGateway, type TestGateway } from '../../../support/gateway.ts';
import { postWebhook } from '../../../support/network-webhook.ts';
import { type Receiver, startReceiver } from '../../webhooks/receiver.ts';
import { LOOPBACK } from '../../webhooks/setup.ts';

/** A person with unique data, so that a scan of the database finds only this person. */
export interface Person {
  readonly phone: string;
  readonly digits: string;
  /** Of the time before: of a contact that is merged into the person's. */
  readonly formerPhone: string;
  readonly firstName: string;
  readonly lastName: string;
  readonly email: string;
  readonly userId: string;
  /** Occurs in every text written to or by the person. */
  readonly word: string;
}

export const WILHELMINE: Person = {
  phone: '+4915199988877',
  digits: '4915199988877',
  formerPhone: '+4915188877766',
  firstName: 'Wilhelmine',
  lastName: 'Zaunkönigin',
  email: 'wilhelmine@zaun.example',
  userId: 'DE.WilhelmineZ77ab',
  word: 'Pfefferminzgeheimnis',
};

export const markersOf = (person: Person): Record<string, string> => ({
  number: person.digits,
  'national number': person.digits.slice(2),
  'former number': person.formerPhone.slice(3),
  'first name': person.firstName,
  'last name': person.lastName,
  'e-mail': person.email,
  'user id': person.userId,
  texts: person.word,
});

const OTP_COMPONENTS = [
  { type: 'BODY', add_security_recommendation: true },
  {
    type: 'BUTTONS',
    buttons: [
      { type: 'URL', text: 'Copy', url: 'https://www.whatsapp.com/otp/code/?otp_type=COPY_CODE&code=otp{{1}}' },
    ],
  },
];
const TEMPLATES = [
  {
    name: 'order_confirmed',
    language: 'en',
    category: 'UTILITY',
    components: [
      { type: 'HEADER', format: 'TEXT', text: 'Order {{1}}' },
      { type: 'BODY', text: 'Hello {{1}}, we have your order {{2}} of {{3}}.' },
      { type: 'BUTTONS', buttons: [{ type: 'URL', text: 'See it', url: 'https://shop.example/orders/{{1}}' }] },
    ],
  },
  { name: 'login_code', language: 'en', category: 'AUTHENTICATION', components: OTP_COMPONENTS },
] as const;

export interface PrivacyFixture {
  readonly gateway: TestGateway;
  readonly receiver: Receiver;
  ask(document: string, variables?: object): Promise<NonNullable<Awaited<ReturnType<TestGateway['graphql']>>['data']>>;
  /** Posts a raw webhook of the network. */
  webhook(value: object, field?: string): Promise<void>;
  /** Waits until all pending work is done. */
  settled(): Promise<void>;
  stop(): Promise<void>;
}

/** A gateway with a bot, a shop, templates, and an endpoint that answers with what it was sent. */
export async function startPrivacyFixture(): Promise<PrivacyFixture> {
  const [gateway, receiver] = await Promise.all([
    // People show the user ids that a test gives them: others, from the answers to sends, would make two people of one.
    startGateway({ env: LOOPBACK, templates: TEMPLATES, emulator: { faults: { window: 'open', userIds: false } } }),
    startReceiver(),
  ]);
  receiver.answer((got, response) => {
    response.writeHead(got.path === '/failing' ? 503 : 200).end(got.text.slice(0, 1_000));
  });
  const ask: PrivacyFixture['ask'] = async (document, variables = {}) =>
    dataOf(await gateway.graphql(document, variables));
  await ask('mutation { syncTemplates(input: {}) { totalCount } }');
  for (const path of ['all', 'failing'])
    await ask(
      'mutation ($input: CreateWebhookEndpointInput!) { createWebhookEndpoint(input: $input) { isNew userErrors { message } } }',
      {
        input: { url: `${receiver.url}/${path}`, events: ['*'] },
      },
    );
  await ask(
    'mutation ($input: CreateBotInput!) { createBot(input: $input) { bot { databaseId } userErrors { message } } }',
    {
      input: {
        name: 'Echo',
        trigger: 'CONTAINS',
        keywords: ['price'],
        reply: { text: { text: 'Dear @{contact_first_name} of @{contact_phone}' } },
      },
    },
  );
  return {
    gateway,
    receiver,
    ask,
    webhook: (value, field = 'messages') => postWebhook(gateway, gateway.tenant, value, field),
    settled: () => settled(gateway),
    async stop() {
      await gateway.stop();
      await receiver.stop();
    },
  };
}

/** Nothing waits: neither at the network, nor for a reader of the log, nor at an endpoint that works. */
async function settled({ database, emulator, tenant }: TestGateway): Promise<void> {
  await emulator.settled();
  await eventually(async () => {
    const [row] = await database.query<Record<string, string>>(
      `select (select count(*) from outbox where tenant_id = $1) as queued,
         (select count(*) from waiting_webhooks where tenant_id = $1) as unread,
         (select count(*) from bot_inbox where tenant_id = $1) as unanswered,
         (select count(*) from integration_deliveries where tenant_id = $1 and due_at is not null) as orders,
         (select count(*) from webhook_deliveries d join webhook_endpoints e on e.tenant_id = d.tenant_id and e.id = d.endpoint_id
          where d.tenant_id = $1 and d.status = 'pending' and d.attempts = 0) as undelivered`,
      [tenant.id],
    );
    expect(row).toEqual({ queued: '0', unread: '0', unanswered: '0', orders: '0', undelivered: '0' });
  });
}
