/** Where an example is run: the address of the gateway, and the account in the command line. */
export interface ExampleContext {
  readonly origin: string;
  readonly tenant: string;
  /** An approved template of the account that needs no values. */
  readonly template: { readonly name: string; readonly language: string };
  /** The network's id of the default number. */
  readonly phoneNumberId: string | undefined;
}

export type ExampleKind = 'curl' | 'graphql' | 'cli';
export type Variants = Readonly<Partial<Record<ExampleKind, string>>>;

const rest =
  (path: string, body: object) =>
  ({ origin }: ExampleContext): string =>
    `curl ${origin}/api/v2${path} \\\n  -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' \\\n  -d '${JSON.stringify(body)}'`;

const overGraphql =
  (query: string) =>
  ({ origin }: ExampleContext): string =>
    `curl ${origin}/graphql \\\n  -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' \\\n  -d '${JSON.stringify({ query: query.replaceAll(/\s+/g, ' ') })}'`;

const message = ({ template: { name, language } }: ExampleContext): string => `mutation {
  sendMessage(input: {
    to: { phone: "+14155550123" }
    content: { template: { name: "${name}", language: "${language}" } }
  }) {
    message { id status }
    userErrors { path message }
  }
}`;

const TEMPLATE = `mutation {
  createTemplate(input: {
    name: "order_ready"
    language: "en_US"
    category: UTILITY
    components: [{
      type: "BODY"
      text: "Hi {{1}}, your order is ready."
      example: { body_text: [["Ana"]] }
    }]
  }) {
    template { id status }
    userErrors { path message }
  }
}`;

const CONTACT = `mutation {
  createContact(input: { phone: "+14155550124", firstName: "Ben" }) {
    contact { id displayName }
    userErrors { path message }
  }
}`;

const STAFF = `mutation {
  createStaffMember(input: { name: "Ana Sánchez", email: "ana@example.com", role: AGENT }) {
    staffMember { id }
    userErrors { path message }
  }
}`;

const SHOP = `mutation {
  createIntegration(input: { name: "My shop", kind: WOOCOMMERCE }) {
    integration { path }
    secret
    userErrors { path message }
  }
}`;

/**
 * First steps on a page without data, for each available interface. Each works as it is printed, with a token in $TOKEN; a test
 * runs them.
 */
export const EXAMPLES = {
  message: context => ({ curl: overGraphql(message(context))(context), graphql: message(context) }),
  contact: context => ({
    curl: rest('/contacts', { phone: '+14155550123', firstname: 'Ana', company: 'Acme' })(context),
    graphql: CONTACT,
  }),
  campaign: context => ({
    curl: rest('/campaigns', {
      name: 'Hello',
      template: context.template,
      audience: { phones: ['+14155550123'] },
    })(context),
    graphql: `mutation {
  createCampaign(input: {
    name: "Hello again"
    template: { name: "${context.template.name}", language: "${context.template.language}" }
    audience: { filter: { type: { eq: LEAD } } }
  }) {
    campaign { id status }
    userErrors { path message }
  }
}`,
    cli: `parley campaign list ${context.tenant}`,
  }),
  template: context => ({
    curl: overGraphql(TEMPLATE.replace('order_ready', 'order_shipped'))(context),
    graphql: TEMPLATE,
  }),
  bot: context => ({
    curl: rest('/bots', {
      name: 'Opening hours',
      trigger: 'contains',
      keywords: ['open', 'hours'],
      reply: { text: { text: 'We are open from 9 to 17.' } },
    })(context),
    graphql: `mutation {
  createBot(input: {
    name: "Prices"
    trigger: CONTAINS
    keywords: ["price", "cost"]
    reply: { text: { text: "Our prices: https://example.com/prices" } }
  }) {
    bot { id }
    userErrors { path message }
  }
}`,
  }),
  webhook: context => ({
    curl: rest('/webhooks', { url: 'https://example.com/hook', events: ['message.*'] })(context),
    graphql: `mutation {
  createWebhookEndpoint(input: { url: "https://example.com/other", events: ["contact.created"] }) {
    webhookEndpoint { id }
    secret
    userErrors { path message }
  }
}`,
  }),
  shop: context => ({
    curl: overGraphql(SHOP.replace('My shop', 'My other shop').replace('WOOCOMMERCE', 'GENERIC'))(context),
    graphql: SHOP,
  }),
  staff: context => ({
    curl: overGraphql(STAFF.replace('Ana Sánchez', 'Ben Okafor').replace('ana@', 'ben@'))(context),
    graphql: STAFF,
    cli: `parley tenant staff add ${context.tenant} \\\n  --name "Chen Wei" --email chen@example.com --role agent`,
  }),
  // A customer who writes to the number of the emulated network, and one who has not yet.
  phone: ({ origin, phoneNumberId }) => ({
    curl: `curl ${origin}/_emulator/inbound \\\n  -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' \\\n  -d '${JSON.stringify({ type: 'text', from: '+14155550123', profileName: 'Ana', text: 'Hello!', phoneNumberId })}'`,
    graphql: CONTACT,
  }),
  channel: ({ tenant }) => ({
    cli: `parley channel connect --tenant ${tenant} \\\n  --phone-number-id 106540352242922 --waba-id 102290129340398 \\\n  --access-token "$ACCESS_TOKEN" --app-secret "$APP_SECRET" --verify-token "$VERIFY_TOKEN"`,
  }),
} as const satisfies Record<string, (context: ExampleContext) => Variants>;

export type ExampleName = keyof typeof EXAMPLES;
