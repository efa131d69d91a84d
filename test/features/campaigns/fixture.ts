import { dataOf, payloadOf } from '../../support/answers.ts';
import { startGateway, type TestGateway, type TestGatewayOptions, type TestTenant } from '../../support/gateway.ts';
import { newPhone } from '../../support/seed.ts';

const SEEDS = [
  {
    name: 'sale',
    language: 'en',
    category: 'MARKETING',
    components: [{ type: 'BODY', text: 'Hello {{1}}, your code is {{2}}.' }],
  },
  { name: 'notice', language: 'en', category: 'UTILITY', components: [{ type: 'BODY', text: 'We have moved.' }] },
  {
    name: 'photo',
    language: 'en',
    category: 'UTILITY',
    components: [
      { type: 'HEADER', format: 'IMAGE' },
      { type: 'BODY', text: 'We have moved here.' },
    ],
  },
  {
    name: 'stopped',
    language: 'en',
    category: 'UTILITY',
    status: 'PAUSED',
    components: [{ type: 'BODY', text: 'Hi' }],
  },
] as const;

/** Tenants of a test file have accounts of these numbers. */
const TEMPLATES = Array.from({ length: 40 }, (_, index) =>
  SEEDS.map(seed => ({ ...seed, wabaId: `${2_001 + index}` })),
).flat();

export interface Sender extends TestTenant {
  ask(document: string, variables?: object): ReturnType<TestGateway['graphql']>;
  mutate(name: string, input: object, selection?: string): ReturnType<TestGateway['mutate']>;
  /** Creates contacts with new numbers in a group of their own. */
  people(count: number, fields?: object): Promise<People>;
  /** Creates a campaign of the template `notice` unless told otherwise. @returns its databaseId */
  campaign(input: object): Promise<string>;
}

export interface People {
  readonly groupId: string;
  readonly ids: readonly string[];
  readonly phones: readonly string[];
}

export interface CampaignFixture {
  readonly gateway: TestGateway;
  /** A tenant with templates and nobody else's campaigns. */
  sender(options?: Parameters<TestGateway['addTenant']>[0]): Promise<Sender>;
}

export async function startCampaignFixture(options: TestGatewayOptions = {}): Promise<CampaignFixture> {
  const gateway = await startGateway({ ...options, emulator: { templates: TEMPLATES, ...options.emulator } });
  return {
    gateway,
    async sender(of = {}) {
      const tenant = await gateway.addTenant(of);
      const ask: Sender['ask'] = (document, variables = {}) => gateway.graphql(document, variables, tenant.token);
      const mutate: Sender['mutate'] = (name, input, selection) => gateway.mutate(name, input, selection, tenant.token);
      dataOf(await ask('mutation { syncTemplates(input: {}) { totalCount } }'));
      return {
        ...tenant,
        ask,
        mutate,
        async people(count, fields = {}) {
          const group = await mutate(
            'createContactGroup',
            { name: `Group ${newPhone()}` },
            'contactGroup { databaseId }',
          );
          const groupId = String(payloadOf(group).contactGroup.databaseId);
          const phones = Array.from({ length: count }, newPhone);
          const contacts = phones.map(phone => ({ phone, groupIds: [groupId], ...fields }));
          const made = await mutate('createContacts', { contacts }, 'results { contact { databaseId } }');
          const results: { contact: { databaseId: string } }[] = payloadOf(made).results;
          return { groupId, phones, ids: results.map(({ contact }) => contact.databaseId) };
        },
        async campaign(input) {
          const base = { name: 'News', template: { name: 'notice', language: 'en' } };
          const answer = await mutate('createCampaign', { ...base, ...input }, 'campaign { databaseId }');
          return payloadOf(answer).campaign.databaseId;
        },
      };
    },
  };
}
