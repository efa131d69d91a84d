import { randomBytes } from 'node:crypto';
import { expect } from 'vitest';
import { signatureOf } from '../../../src/features/integrations/intake/signature.ts';
import { dataOf, payloadOf } from '../../support/answers.ts';
import {
  eventually,
  startGateway,
  type TestGateway,
  type TestGatewayOptions,
  type TestTenant,
} from '../../support/gateway.ts';

const SEEDS = [
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
  {
    name: 'order_shipped',
    language: 'en',
    category: 'UTILITY',
    components: [{ type: 'BODY', text: 'Your order {{number}} is on its way.' }],
    parameterFormat: 'NAMED',
  },
  { name: 'plain', language: 'en', category: 'UTILITY', components: [{ type: 'BODY', text: 'Thank you.' }] },
  {
    name: 'paused',
    language: 'en',
    category: 'UTILITY',
    status: 'PAUSED',
    components: [{ type: 'BODY', text: 'Sorry.' }],
  },
  {
    name: 'place',
    language: 'en',
    category: 'UTILITY',
    components: [
      { type: 'HEADER', format: 'LOCATION' },
      { type: 'BODY', text: 'Fetch it here.' },
    ],
  },
  {
    name: 'invoice',
    language: 'en',
    category: 'UTILITY',
    components: [
      { type: 'HEADER', format: 'DOCUMENT' },
      { type: 'BODY', text: 'Your invoice.' },
    ],
  },
] as const;
const TEMPLATES = Array.from({ length: 40 }, (_, index) =>
  SEEDS.map(seed => ({ ...seed, wabaId: `${2_001 + index}` })),
).flat();

/** The mapping that most tests use: all kinds of values in one template. */
export const CONFIRM = {
  name: 'Confirmation',
  template: {
    name: 'order_confirmed',
    language: 'en',
    header: { text: { path: 'number' } },
    body: [{ path: 'billing.first_name', fallback: 'there' }, { path: 'line_items[0].name' }, { path: 'total' }],
    buttons: [{ index: 0, value: { path: 'order_key' } }],
  },
};

export interface Fixture {
  readonly gateway: TestGateway;
  pass(ms: number): Promise<void>;
  tenant(options?: Parameters<TestGateway['addTenant']>[0]): Promise<Caller>;
}

export interface Delivery {
  readonly databaseId: string;
  readonly outcome: string;
  readonly topic: string;
  readonly orderId: string | null;
  readonly orderStatus: string | null;
  readonly attempts: number;
  readonly reason: { code: string; message: string; field: string | null; path: string | null } | null;
  readonly results: readonly {
    readonly mappingName: string;
    readonly outcome: string;
    readonly reason: Delivery['reason'];
    readonly contactId: string | null;
    readonly messageId: string | null;
  }[];
}

export interface Shop {
  readonly id: string;
  readonly databaseId: string;
  readonly url: string;
  readonly secret: string;
  readonly mappings: readonly { databaseId: string; name: string }[];
  /** Posts as WooCommerce does. */
  post(payload: unknown, options?: PostOptions): Promise<Response>;
  /** What was received, oldest first, once none waits. */
  settled(): Promise<Delivery[]>;
}

export interface PostOptions {
  readonly topic?: string;
  readonly deliveryId?: string;
  readonly signature?: string;
  readonly url?: string;
  /** Client address, for a gateway behind a proxy. */
  readonly address?: string;
}

export interface Caller extends TestTenant {
  ask(document: string, variables?: object): ReturnType<TestGateway['graphql']>;
  /** Runs one mutation, which succeeds. */
  // biome-ignore lint/suspicious/noExplicitAny: what a test expects of a payload it says by assertions
  run(name: string, input: object, selection?: string): Promise<any>;
  data(document: string, variables?: object): Promise<NonNullable<Awaited<ReturnType<TestGateway['graphql']>>['data']>>;
  shop(input?: object): Promise<Shop>;
  /** Texts of what was sent to anybody, in order. */
  sent(): Promise<{ body: string; to: string }[]>;
  events(): Promise<{ payload: Record<string, unknown> }[]>;
}

export const CREATE = `mutation ($input: CreateIntegrationInput!) { createIntegration(input: $input) {
  secret integration { id databaseId path hasSecret mappings { databaseId name } } userErrors { code path message }
} }`;
export const DELIVERY =
  'databaseId outcome topic orderId orderStatus attempts reason { code message field path } results { mappingName outcome reason { code message field path } contactId messageId }';
export const DELIVERIES = `query ($filter: IntegrationDeliveryFilter) {
  integrationDeliveries(first: 100, filter: $filter, orderBy: [{ field: ID, direction: ASC }]) { nodes { ${DELIVERY} } }
}`;

export async function startFixture(options: TestGatewayOptions = {}): Promise<Fixture> {
  const gateway = await startGateway({
    ...options,
    emulator: { templates: TEMPLATES, ...options.emulator } as NonNullable<TestGatewayOptions['emulator']>,
  });
  const { query } = gateway.database;
  let shops = 0;
  return {
    gateway,
    async pass(ms) {
      // What waits falls due by the clock of the database.
      await query(`update integration_deliveries set due_at = due_at - $1 * interval '1 ms' where claim is null`, [ms]);
      await query(`update integrations set previous_secret_until = previous_secret_until - $1 * interval '1 ms'`, [ms]);
    },
    async tenant(of) {
      const tenant = await gateway.addTenant(of);
      if (of?.channel !== false) dataOf(await gateway.mutate('syncTemplates', {}, '', tenant.token));
      const ask: Caller['ask'] = (document, variables = {}) => gateway.graphql(document, variables, tenant.token);
      const data: Caller['data'] = async (document, variables) => dataOf(await ask(document, variables));
      return {
        ...tenant,
        ask,
        data,
        run: async (name, input, selection) => payloadOf(await gateway.mutate(name, input, selection, tenant.token)),
        async shop(input = {}) {
          shops += 1;
          const made = { kind: 'WOOCOMMERCE', name: `Shop ${shops}`, mappings: [CONFIRM], ...input };
          const { secret, integration } = (await data(CREATE, { input: made })).createIntegration;
          const url = `${gateway.url}${integration.path}`;
          return {
            ...integration,
            secret,
            url,
            post: (payload, of = {}) => postWoo(of.url ?? url, secret, payload, of),
            settled: () =>
              eventually(async () => {
                const { integrationDeliveries } = await data(DELIVERIES, {
                  filter: { integrationId: { eq: integration.id } },
                });
                expect(integrationDeliveries.nodes.map((node: Delivery) => node.outcome)).not.toContain('WAITING');
                return integrationDeliveries.nodes;
              }),
          };
        },
        sent: () =>
          query(
            `select m.body, c.phone as to from messages m join contacts c on c.tenant_id = m.tenant_id and c.id = m.contact_id
             where m.tenant_id = $1 and m.direction = 'outbound' order by m.id`,
            [tenant.id],
          ),
        events: () =>
          query("select payload from events where tenant_id = $1 and type = 'order.received' order by xid, seq", [
            tenant.id,
          ]),
      };
    },
  };
}

export const bodyOf = (payload: unknown): string => (typeof payload === 'string' ? payload : JSON.stringify(payload));

export function postWoo(
  url: string,
  secret: string,
  payload: unknown,
  { topic = 'order.updated', deliveryId = randomBytes(16).toString('hex'), signature, address }: PostOptions = {},
): Promise<Response> {
  const body = bodyOf(payload);
  const [resource = '', event = ''] = topic.split('.');
  return fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(address !== undefined && { 'x-forwarded-for': address }),
      'user-agent': 'WooCommerce/9.4.1 Hookshot (WordPress/6.7)',
      'x-wc-webhook-source': 'https://shop.example/',
      'x-wc-webhook-topic': topic,
      'x-wc-webhook-resource': resource,
      'x-wc-webhook-event': event,
      'x-wc-webhook-signature': signature ?? signatureOf(Buffer.from(body), secret),
      'x-wc-webhook-id': '5',
      'x-wc-webhook-delivery-id': deliveryId,
    },
    body,
  });
}
