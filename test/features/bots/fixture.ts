import { sql } from 'kysely';
import { expect } from 'vitest';
import type { InboundInput } from '../../../src/emulator/inbound-input.ts';
import type { PublicBotSkip } from '../../../src/features/bots/events.ts';
import { dataOf, payloadOf } from '../../support/answers.ts';
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

/** A gateway whose tenants have bots. */
export interface Fixture {
  readonly gateway: TestGateway;
  /** Lets time pass for what bots and people have sent: by the clock of the database, which tests cannot move. */
  pass(ms: number): Promise<void>;
  /** Sets the clock of the network, so much beside ours. */
  setNetworkClock(offsetMs: number): void;
  /** Keeps the log from being read for bots. @returns to be called in order to read on */
  holdReader(): Promise<() => Promise<void>>;
  /** A tenant of one's own: nobody else's bots answer there. */
  tenant(options?: Parameters<TestGateway['addTenant']>[0] & { templates?: boolean }): Promise<Owner>;
}

export interface Owner extends TestTenant {
  ask(document: string, variables?: object): Promise<GraphQLAnswer>;
  /** Makes a bot that answers with a text unless it is told otherwise. @returns its databaseId */
  bot(input?: object): Promise<number>;
  /** Somebody writes. @returns the network's id of the message */
  hears(from: string, what: string | Words): Promise<string>;
  /** What newPhone was sent, once it is as much as that and every message that came in has been looked at. */
  answers(to: string, count: number): Promise<string[]>;
  /**
   * Puts a reply that could not be sent off for a minute, once the outcome of an attempt is written: that sets the time of the next one.
   * During an attempt, this time is the end of its lease.
   */
  postponed(): Promise<void>;
  /** Waits until every message that came in has been looked at and every answer is settled. */
  settled(): Promise<void>;
  replies(): Promise<ReplyRow[]>;
  /** How many messages the tenant has sent. */
  outbound(): Promise<number>;
  /** What bots gave up on. */
  skips(): Promise<PublicBotSkip[]>;
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

export async function startFixture(options: TestGatewayOptions = {}): Promise<Fixture> {
  let offset = 0;
  const clock = { now: () => Date.now() + offset };
  const gateway = await startGateway({
    ...options,
    emulator: { templates: TEMPLATES, clock, ...options.emulator },
  });
  const { query } = gateway.database;
  return {
    gateway,
    async pass(ms) {
      await query(
        `update bot_replies set created_at = created_at - $1 * interval '1 ms', next_attempt_at = next_attempt_at - $1 * interval '1 ms',
           give_up_at = give_up_at - $1 * interval '1 ms'`,
        [ms],
      );
      await query(`update messages set created_at = created_at - $1 * interval '1 ms' where direction = 'outbound'`, [
        ms,
      ]);
    },
    setNetworkClock(offsetMs) {
      offset = offsetMs;
    },
    async holdReader() {
      const held = Promise.withResolvers<void>();
      const released = Promise.withResolvers<void>();
      const transaction = gateway.gateway.resources.db.transaction(async trx => {
        await sql`select from log_readers where name = 'bots' for update`.execute(trx);
        held.resolve();
        await released.promise;
      });
      await held.promise;
      return () => {
        released.resolve();
        return transaction;
      };
    },
    async tenant({ templates = false, ...of } = {}) {
      const tenant = await gateway.addTenant(of);
      const ask: Owner['ask'] = (document, variables = {}) => gateway.graphql(document, variables, tenant.token);
      if (templates) dataOf(await ask('mutation { syncTemplates(input: {}) { totalCount } }'));
      const heard: string[] = [];
      const owner: Owner = {
        ...tenant,
        ask,
        async bot(input = {}) {
          const given = { name: 'Bot', trigger: 'ANY', reply: { text: { text: 'Hello!' } }, ...input };
          const answer = await gateway.mutate('createBot', given, 'bot { databaseId }', tenant.token);
          return Number(payloadOf(answer).bot.databaseId);
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
        async outbound() {
          const [row] = await query<{ count: number }>(
            "select count(*)::int as count from messages where tenant_id = $1 and direction = 'outbound'",
            [tenant.id],
          );
          return row?.count ?? 0;
        },
        async settled() {
          await eventually(async () => {
            const [row] = await query<{ open: number }>(
              `select cardinality($2::text[]) - (select count(*) from message_wamids where tenant_id = $1 and wamid = any($2::text[]))
                 + (select count(*) from bot_inbox where tenant_id = $1)
                 + (select count(*) from bot_replies where tenant_id = $1 and state = 'sending')
                 + (select count(*) from events e, log_readers l where l.name = 'bots' and e.tenant_id = $1
                    and e.type = 'message.received' and (e.xid, e.seq) > (l.xid, l.seq)) as open`,
              [tenant.id, heard],
            );
            expect(Number(row?.open)).toBe(0);
          });
        },
        async postponed() {
          await eventually(async () =>
            expect(
              await query(
                `update bot_replies set next_attempt_at = clock_timestamp() + interval '1 minute'
                 where tenant_id = $1 and attempts > 0 and next_attempt_at < clock_timestamp() + interval '5 seconds' returning state`,
                [tenant.id],
              ),
            ).toEqual([{ state: 'sending' }]),
          );
        },
        async answers(to, count) {
          await eventually(() => expect(sentTo(gateway, to).length).toBeGreaterThanOrEqual(count));
          await owner.settled();
          return sentTo(gateway, to);
        },
        replies: () =>
          query('select * from bot_replies where tenant_id = $1 order by created_at, reply_message_id', [tenant.id]),
        skips: async () =>
          (
            await query<{ payload: PublicBotSkip }>(
              "select payload from events where tenant_id = $1 and type = 'bot.skipped' order by xid, seq",
              [tenant.id],
            )
          ).map(({ payload }) => payload),
        events: () =>
          query("select payload from events where tenant_id = $1 and type = 'bot.replied' order by xid, seq", [
            tenant.id,
          ]),
      };
      return owner;
    },
  };
}

/** What the network took for newPhone, in order; of a template its name. */
const sentTo = (gateway: TestGateway, to: string): string[] =>
  gateway.emulator
    .sent({ to, limit: 1_000 })
    .messages.map(({ body, type, content }) =>
      type === 'template' ? String((content as { name: unknown }).name) : (body ?? type),
    );
