import { expect } from 'vitest';
import type { InboundInput } from '../../../src/network/emulator/inbound-input.ts';
import { dataOf } from '../../support/answers.ts';
import {
  eventually,
  type GraphQLAnswer,
  startGateway,
  type TestGateway,
  type TestGatewayOptions,
  type TestTenant,
} from '../../support/gateway.ts';

const SEEDS = [
  {
    name: 'order',
    language: 'en',
    category: 'UTILITY',
    components: [{ type: 'BODY', text: 'Hello {{1}}, order {{2}} is on its way.' }],
  },
  { name: 'paused', language: 'en', category: 'UTILITY', status: 'PAUSED', components: [{ type: 'BODY', text: 'Hi' }] },
  {
    name: 'login_code',
    language: 'en',
    category: 'AUTHENTICATION',
    components: [
      { type: 'BODY', add_security_recommendation: true },
      {
        type: 'BUTTONS',
        buttons: [
          {
            type: 'URL',
            text: 'Copy code',
            url: 'https://www.whatsapp.com/otp/code/?otp_type=COPY_CODE&code=otp{{1}}',
          },
        ],
      },
    ],
  },
] as const;
/** Tenants of a test file have accounts of these numbers. */
const TEMPLATES = Array.from({ length: 40 }, (_, index) =>
  SEEDS.map(seed => ({ ...seed, wabaId: `${2_001 + index}` })),
).flat();

/** A gateway whose tenants have bots, and a clock that tests move on. */
export interface Ground {
  readonly gateway: TestGateway;
  pass(ms: number): void;
  /** A tenant of one's own: nobody else's bots answer there. */
  tenant(options?: Parameters<TestGateway['addTenant']>[0] & { templates?: boolean }): Promise<Owner>;
}

export interface Owner extends TestTenant {
  ask(document: string, variables?: object): Promise<GraphQLAnswer>;
  /** Makes a bot that answers with a text unless it is told otherwise. @returns its databaseId */
  bot(input?: object): Promise<number>;
  /** Somebody writes. @returns the network's id of the message */
  hears(from: string, what: string | Words): Promise<string>;
  /** What somebody was sent, once it is as much as that and every message that came in has been looked at. */
  answers(to: string, count: number): Promise<string[]>;
  /** Waits until every message that came in has been looked at and every answer is settled. */
  settled(): Promise<void>;
  replies(): Promise<ReplyRow[]>;
  events(): Promise<{ payload: { bot: { id: number; name: string; reply: unknown }; [key: string]: unknown } }[]>;
}

type WithoutFrom<T> = T extends unknown ? Omit<T, 'from'> : never;
type Words = WithoutFrom<InboundInput>;

export interface ReplyRow {
  readonly message_id: string;
  readonly bot_id: string;
  readonly reply_message_id: string;
  readonly state: string;
  readonly refusal: { readonly code: string } | null;
  readonly attempts: number;
  readonly rule: { readonly trigger: string; readonly keyword: string | null };
}

let last = 0;
/** Somebody whom nobody knows. */
export function somebody(): string {
  last += 1;
  return `+4915${String(700_000_000 + last)}`;
}

export const CREATE = 'mutation ($input: CreateBotInput!) { createBot(input: $input) { databaseId } }';

export async function startGround(options: TestGatewayOptions = {}): Promise<Ground> {
  let passed = 0;
  const clock = { now: () => Date.now() + passed };
  const gateway = await startGateway({
    clock,
    ...options,
    emulator: { templates: TEMPLATES, clock, ...options.emulator },
  });
  const { query } = gateway.database;
  return {
    gateway,
    pass(ms) {
      passed += ms;
    },
    async tenant({ templates = false, ...of } = {}) {
      const tenant = await gateway.addTenant(of);
      const ask: Owner['ask'] = (document, variables = {}) => gateway.graphql(document, variables, tenant.token);
      if (templates) dataOf(await ask('mutation { syncTemplates { total } }'));
      const heard: string[] = [];
      const owner: Owner = {
        ...tenant,
        ask,
        async bot(input = {}) {
          const answer = await ask(CREATE, {
            input: { name: 'Bot', trigger: 'ANY', reply: { text: { text: 'Hello!' } }, ...input },
          });
          return dataOf(answer).createBot.databaseId;
        },
        async hears(from, what) {
          const input = typeof what === 'string' ? { text: what } : what;
          const wamid = gateway.emulator.inbound({
            ...input,
            from,
            phoneNumberId: tenant.phoneNumberId,
          } as InboundInput);
          heard.push(wamid);
          return wamid;
        },
        async settled() {
          await eventually(async () => {
            const [row] = await query<{ open: number }>(
              `select cardinality($2::text[]) - (select count(*) from messages where tenant_id = $1 and direction = 'inbound' and wamid = any($2::text[]))
                 + (select count(*) from bot_inbox where tenant_id = $1)
                 + (select count(*) from bot_replies where tenant_id = $1 and state = 'sending')
                 + (select count(*) from events e, log_readers l where l.name = 'bots' and e.tenant_id = $1
                    and e.type = 'message.received' and (e.xid, e.seq) > (l.xid, l.seq)) as open`,
              [tenant.id, heard],
            );
            expect(Number(row?.open)).toBe(0);
          });
        },
        async answers(to, count) {
          await eventually(() => expect(sentTo(gateway, to).length).toBeGreaterThanOrEqual(count));
          await owner.settled();
          return sentTo(gateway, to);
        },
        replies: () =>
          query('select * from bot_replies where tenant_id = $1 order by created_at, reply_message_id', [tenant.id]),
        events: () =>
          query("select payload from events where tenant_id = $1 and type = 'bot.replied' order by xid, seq", [
            tenant.id,
          ]),
      };
      return owner;
    },
  };
}

/** What the network took for somebody, in order; of a template its name. */
const sentTo = (gateway: TestGateway, to: string): string[] =>
  gateway.emulator
    .sent({ to, limit: 1_000 })
    .messages.map(({ body, type, content }) =>
      type === 'template' ? String((content as { name: unknown }).name) : (body ?? type),
    );
