import { type CountryCode, getCountryCallingCode } from 'libphonenumber-js/min';
import examples from 'libphonenumber-js/mobile/examples';
import { FieldErrorList } from '../core/errors.ts';
import { SCOPES } from '../core/scopes.ts';
import type { Database, Db } from '../database/database.ts';
import type { EmulatorNumber } from '../emulator/options.ts';
import type { BotKind } from '../features/bots/bot.ts';
import type { BotReply } from '../features/bots/reply/reply.ts';
import { insertBot } from '../features/bots/store.ts';
import { connectChannel } from '../features/channels/connect.ts';
import { parseContact } from '../features/contacts/contact.ts';
import { insertContacts, setGroups } from '../features/contacts/contacts.sql.ts';
import { newContact } from '../features/contacts/create.ts';
import { insertLabels } from '../features/contacts/labels/labels.sql.ts';
import { updateSettings } from '../features/tenancy/account/store.ts';
import { COMMAND_LINE } from '../features/tenancy/audit/author.ts';
import { createTenant } from '../features/tenancy/tenants/create.ts';
import { findTenant } from '../features/tenancy/tenants/store.ts';
import { createToken } from '../features/tenancy/tokens/create.ts';
import { revokeToken } from '../features/tenancy/tokens/revoke.ts';
import { listTokens } from '../features/tenancy/tokens/store.ts';
import type { Network } from '../network/network.ts';
import { DAY, systemClock } from '../platform/clock.ts';
import { countryOf } from '../platform/countries.ts';
import type { SecretBox } from '../platform/crypto.ts';
import type { DemoPerson } from './demo-threads.ts';

/** The tenant for first experiments. */
export const DEMO_TENANT = 'demo';
const CALLS_PER_MINUTE = 6_000;
const CONTACTS_PER_COUNTRY = 5;
const WRITERS = 3;
const CONVERSATIONS = 36;
const LINK_NAME = 'Sign-in link';
/** Also the maximum lifetime of the token for which the browser exchanges it. */
const LINK_LIFETIME_MS = 30 * DAY;

/** Fixed, so that examples can use them: these credentials are valid only for the emulator. */
export const DEMO_NETWORK = {
  number: {
    phoneNumberId: '106540352242922',
    wabaId: '102290129340398',
    displayPhoneNumber: '+1 555 078 3881',
    verifiedName: 'Parley Demo',
    accessToken: 'emulated-access-token',
    messagesPerSecond: 1_000,
  },
  appSecret: 'emulated-app-secret',
  verifyToken: 'emulated-verify-token',
} as const satisfies { number: EmulatorNumber; appSecret: string; verifyToken: string };

/** One bot of each kind, with keywords that the demo's inbound messages do not contain. */
const BOTS = [
  {
    name: 'Opening hours',
    kind: 'message',
    keywords: ['opening hours', 'open today'],
    reply: { text: { text: 'Hello @{contact_first_name|there}, we are open from 9 to 17, Monday to Friday.' } },
  },
  {
    name: 'Where is my order?',
    kind: 'template',
    keywords: ['my order'],
    reply: {
      template: {
        name: 'order_shipped',
        language: 'en_US',
        body: ['@{contact_first_name|there}', '4711'],
        buttons: [{ index: 0, value: '4711' }],
      },
    },
  },
] as const satisfies readonly { name: string; kind: BotKind; keywords: readonly string[]; reply: BotReply }[];

const SOURCES = ['Web form', 'Shop', 'Trade fair', 'Referral'];
const STATUSES = [
  { name: 'New', color: '#2F80ED' },
  { name: 'In talks', color: '#F2994A' },
  { name: 'Won', color: '#27AE60' },
  { name: 'Lost', color: '#828282' },
];
const GROUPS = ['Newsletter', 'VIP', 'Beta testers'];
const STAFF = [
  { name: 'Ines Ferreira', email: 'ines@example.com', role: 'agent' },
  { name: 'Tom Becker', email: 'tom@example.com', role: 'agent' },
  { name: 'Amara Okafor', email: 'amara@example.com', role: 'admin' },
  { name: 'Vera Novak', email: 'vera@example.com', role: 'viewer' },
];
const FIRST_NAMES = [
  'Ana',
  'Bilal',
  'Chen',
  'Diego',
  'Eva',
  'Farah',
  'Goran',
  'Hana',
  'Igor',
  'Jana',
  'Kofi',
  'Lucía',
  'Mei',
  'Nadia',
  'Omar',
  'Priya',
  'Quentin',
  'Rosa',
  'Sven',
  'Thandi',
  'Uma',
  'Vera',
  'Wanjiru',
  'Ximena',
  'Yusuf',
  'Zoë',
];
const LAST_NAMES = [
  'Almeida',
  'Bianchi',
  'Costa',
  'Dubois',
  'Eriksson',
  'Fischer',
  'García',
  'Haddad',
  'Ivanova',
  'Jensen',
  'Kimura',
  'Lopes',
  'Müller',
  'Nguyen',
  'Okafor',
  'Petrov',
  'Rossi',
  'Silva',
  'Tanaka',
  'Weber',
];
/** ISO 3166-1 numeric country codes. */
const COUNTRIES = [
  840, 76, 484, 32, 276, 250, 724, 380, 826, 528, 56, 752, 578, 208, 246, 616, 203, 40, 756, 620, 372, 300, 642, 348,
  804, 792, 376, 784, 682, 818, 504, 566, 288, 404, 710, 356, 586, 50, 144, 392, 410, 458, 360, 764, 704, 608, 702, 344,
  36, 554, 124, 170, 604, 152, 858, 188, 591, 214, 862, 218,
];

export interface DemoAccess {
  readonly token: string;
  /** Contacts who will write in, so that their service windows are open. */
  readonly writers: readonly DemoPerson[];
  /** Contacts with a conversation in the past two weeks. */
  readonly people: readonly DemoPerson[];
}

interface SeedResources {
  readonly db: Database;
  readonly network: Network;
  readonly secrets: SecretBox;
}

/** Creates the demo tenant with its data. @returns its access; undefined if the tenant already existed */
export async function seedDemo(resources: SeedResources, nowMs: number): Promise<DemoAccess | undefined> {
  const { db } = resources;
  if (await findTenant(db.write, DEMO_TENANT)) return undefined;
  const { tenantId, people } = await db.transaction(async trx => {
    const tenant = await createTenant(trx, {
      slug: DEMO_TENANT,
      name: 'Demo',
      plan: 'unlimited',
      windowPolicy: 'network',
    });
    await insertBots(trx, tenant.tenant_id);
    return { tenantId: tenant.tenant_id, people: await fill(trx, tenant.tenant_id) };
  });
  await connectChannel({ ...resources, clock: systemClock }, tenantId, {
    ...DEMO_NETWORK.number,
    name: 'Demo number',
    appSecret: DEMO_NETWORK.appSecret,
    verifyToken: DEMO_NETWORK.verifyToken,
    isSandbox: true,
  });
  return {
    token: await newDemoToken(db.write, tenantId, nowMs),
    writers: people.slice(0, WRITERS),
    people: people.slice(WRITERS),
  };
}

export const newDemoToken = (db: Db, tenantId: number, nowMs: number): Promise<string> =>
  newToken(db, tenantId, 'Demo', undefined, nowMs);

/** Creates the token of the dashboard's sign-in link. The page exchanges it for a new token and revokes it. */
export async function newLinkToken(db: Db, tenantId: number, nowMs: number): Promise<string> {
  // Unused links of earlier starts.
  for (const token of await listTokens(db, tenantId))
    if (token.name === LINK_NAME && token.revoked_at === null) await revokeToken(db, tenantId, token.id, COMMAND_LINE);
  return newToken(db, tenantId, LINK_NAME, new Date(nowMs + LINK_LIFETIME_MS).toISOString(), nowMs);
}

async function newToken(
  db: Db,
  tenantId: number,
  name: string,
  expiresAt: string | undefined,
  nowMs: number,
): Promise<string> {
  const grant = { scopes: new Set<string>(SCOPES), callsPerMinute: CALLS_PER_MINUTE, expiresAtMs: undefined };
  const given = { name, scopes: ['*'], callsPerMinute: CALLS_PER_MINUTE, expiresAt };
  return (await createToken(db, tenantId, given, grant, nowMs)).token;
}

/** @returns the first contacts */
async function fill(trx: Db, tenantId: number): Promise<DemoPerson[]> {
  const sources = await insertLabels(
    trx,
    tenantId,
    'source',
    SOURCES.map(name => ({ name })),
  );
  const statuses = await insertLabels(trx, tenantId, 'status', STATUSES);
  const groups = await insertLabels(
    trx,
    tenantId,
    'group',
    GROUPS.map(name => ({ name })),
  );
  const staff = await insertStaff(trx, tenantId);
  await updateSettings(trx, tenantId, {
    default_source_id: sources[0]?.id ?? null,
    default_status_id: statuses[0]?.id ?? null,
  });
  const pick = <T>(items: readonly T[], index: number): T | undefined => items[index % items.length];
  const people = demoPeople();
  const contacts = await insertContacts(
    trx,
    tenantId,
    people.map((fields, index) => ({
      ...newContact({ defaultSourceId: null, defaultStatusId: null }, fields, {}),
      source_id: pick(sources, index)?.id ?? null,
      status_id: pick(statuses, index * 7)?.id ?? null,
      assigned_id: index % 3 === 0 ? (pick(staff, index) ?? null) : null,
    })),
  );
  for (const [index, contact] of contacts.entries()) {
    const chosen = groups.filter((_, group) => (index + group) % 4 === 0).map(group => group.id);
    if (chosen.length > 0) await setGroups(trx, tenantId, contact.id, chosen);
  }
  return contacts
    .slice(0, WRITERS + CONVERSATIONS)
    .flatMap(({ phone, firstname, lastname }) => (phone === null ? [] : [{ phone, name: `${firstname} ${lastname}` }]));
}

async function insertBots(trx: Db, tenantId: number): Promise<void> {
  for (const { name, kind, keywords, reply } of BOTS) {
    const fields = {
      name,
      keywords,
      trigger: 'contains',
      pattern: null,
      is_enabled: true,
      priority: 0,
      others_may_answer: false,
      cooldown_seconds: 0,
      hand_over_minutes: 0,
    } as const;
    await insertBot(trx, tenantId, fields, kind, reply);
  }
}

/** @returns the ids of the agents */
async function insertStaff(trx: Db, tenantId: number): Promise<number[]> {
  const rows = await trx
    .insertInto('staff')
    .values(STAFF.map(member => ({ tenant_id: tenantId, ...member })))
    .returning(['id', 'role'])
    .execute();
  return rows.filter(({ role }) => role === 'agent').map(({ id }) => id);
}

/** Example mobile numbers by country, from the phone library's own test data; the last digits vary. */
function demoPeople() {
  const people = [];
  for (const [position, id] of COUNTRIES.entries()) {
    const country = countryOf(id);
    const example = country && examples[country.alpha2 as CountryCode];
    if (!country || !example) continue;
    for (let index = 0; index < CONTACTS_PER_COUNTRY; index += 1) {
      const number = `+${getCountryCallingCode(country.alpha2 as CountryCode)}${example.slice(0, -2)}${String(10 + index * 13).slice(-2)}`;
      const errors = new FieldErrorList();
      const firstName = FIRST_NAMES[(position * 3 + index * 5) % FIRST_NAMES.length] ?? '';
      const lastName = LAST_NAMES[(position * 7 + index * 3) % LAST_NAMES.length] ?? '';
      const email = `${firstName}.${lastName}.${country.alpha2}${index}@example.com`
        .toLowerCase()
        .normalize('NFD')
        .replace(/[^a-z0-9.@]/g, '');
      const fields = parseContact(
        { phone: number, firstName, lastName, email, country: String(id), type: index === 0 ? 'customer' : 'lead' },
        errors,
      );
      if (errors.isEmpty) people.push(fields);
    }
  }
  return people;
}
