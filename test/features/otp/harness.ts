import { expect } from 'vitest';
import { codeOf, dataOf, userErrorsOf } from '../../support/answers.ts';
import {
  type GraphQLAnswer,
  startGateway,
  type TestGateway,
  type TestGatewayOptions,
  type TestTenant,
} from '../../support/gateway.ts';

const BODY = { type: 'BODY', add_security_recommendation: true };
const BUTTONS = {
  type: 'BUTTONS',
  buttons: [
    { type: 'URL', text: 'Copy code', url: 'https://www.whatsapp.com/otp/code/?otp_type=COPY_CODE&code=otp{{1}}' },
  ],
};
const FOOTER = { type: 'FOOTER', code_expiration_minutes: 10 };

const SEEDS = [
  { name: 'login_code', language: 'en', category: 'AUTHENTICATION', components: [BODY, FOOTER, BUTTONS] },
  { name: 'login_code', language: 'de', category: 'AUTHENTICATION', components: [BODY, FOOTER, BUTTONS] },
  { name: 'paused_code', language: 'en', category: 'AUTHENTICATION', status: 'PAUSED', components: [BODY, BUTTONS] },
  {
    name: 'order',
    language: 'en',
    category: 'UTILITY',
    components: [{ type: 'BODY', text: 'Order {{1}} is on its way.' }],
  },
] as const;
/** Tenants of a test file have accounts of these numbers. */
const TEMPLATES = Array.from({ length: 24 }, (_, index) =>
  SEEDS.map(seed => ({ ...seed, wabaId: `${2_001 + index}` })),
).flat();

const ERRORS =
  'userErrors { code message path ... on RetryError { retryAfterSeconds limit } ... on NetworkError { provider { code } } }';
const TOLD = `otp {
  id databaseId phone contactId contact { phone } purpose templateName language status attempts maxAttempts expiryMinutes expiresAt
  message { databaseId text status wamid }
} code sandboxCode ${ERRORS}`;
export const SEND = `mutation ($input: SendOtpInput!) { sendOtp(input: $input) { ${TOLD} } }`;
export const RESEND = `mutation ($input: ResendOtpInput!) { resendOtp(input: $input) { ${TOLD} } }`;
export const VERIFY = `mutation ($input: VerifyOtpInput!) {
  verifyOtp(input: $input) { verified reason attemptsRemaining phone purpose verifiedAt ${ERRORS} }
}`;
const STATUS = `query ($phone: String!, $purpose: String! = "authentication") {
  otpStatus(phone: $phone, purpose: $purpose) {
    hasActiveOtp expiresAt expiresInSeconds isExpired verificationAttempts maxAttempts attemptsRemaining createdAt
  }
}`;

/** A gateway with templates of one-time codes, whose times tests can move into the past. */
export interface Harness {
  readonly gateway: TestGateway;
  /** Makes everything about one-time passwords older by so many milliseconds: the clock that counts is the database's. */
  pass(ms: number): Promise<void>;
  /** A tenant of one's own: its caps are nobody else's. */
  tenant(options?: Parameters<TestGateway['addTenant']>[0]): Promise<Caller>;
}

export interface Caller extends TestTenant {
  send(input: object, again?: 'resend'): ReturnType<TestGateway['graphql']>;
  verify(phone: string, code: string, more?: object): ReturnType<TestGateway['graphql']>;
  status(phone: string, purpose?: string): Promise<Record<string, unknown>>;
  /** The code that the network was last given for a number. */
  codeFor(phone: string): Promise<string>;
  /** Types of the events of one-time passwords, in order, with their payloads. */
  events(): Promise<{ type: string; payload: { otp: Record<string, unknown>; reason?: string } }[]>;
  rows(): Promise<Record<string, unknown>[]>;
}

export async function startHarness(options: TestGatewayOptions = {}): Promise<Harness> {
  const gateway = await startGateway({
    ...options,
    emulator: { templates: TEMPLATES, ...options.emulator },
  });
  const { query } = gateway.database;
  return {
    gateway,
    async pass(ms) {
      const older = (column: string) => `${column} = ${column} - $1::float8 * interval '1 millisecond'`;
      const each = (column: string) =>
        `${column} = array(select x - $1::float8 * interval '1 millisecond' from unnest(${column}) as x)`;
      await query(`update otps set ${['created_at', 'expires_at', 'verified_at', 'hour'].map(older).join(', ')}`, [ms]);
      await query(
        `update otp_phones set ${older('touched_at')}, ${['sends', 'resends', 'verifications', 'failures'].map(each).join(', ')}`,
        [ms],
      );
      await query(
        `with gone as (delete from otp_hours returning *)
         insert into otp_hours as h select tenant_id, hour - $1::float8 * interval '1 millisecond', sends from gone
         on conflict (tenant_id, hour) do update set sends = h.sends + excluded.sends`,
        [ms],
      );
    },
    async tenant(of) {
      const tenant = await gateway.addTenant(of);
      if (of?.channel !== false) dataOf(await gateway.mutate('syncTemplates', {}, '', tenant.token));
      const ask = (document: string, variables: object) => gateway.graphql(document, variables, tenant.token);
      return {
        ...tenant,
        send: (input, again) =>
          ask(again ? RESEND : SEND, { input: { templateName: 'login_code', waitForAcceptance: true, ...input } }),
        verify: (phone, code, more) => ask(VERIFY, { input: { phone, code, ...more } }),
        status: async (phone, purpose) =>
          dataOf(await ask(STATUS, { phone, ...(purpose !== undefined && { purpose }) })).otpStatus,
        codeFor: async phone => {
          const { messages } = gateway.emulator.sent({ to: phone, limit: 1 });
          const [message] = messages;
          expect(message, `a message to ${phone}`).toBeDefined();
          return codeIn(message?.content);
        },
        events: () =>
          query("select type, payload from events where tenant_id = $1 and type like 'otp.%' order by xid, seq", [
            tenant.id,
          ]),
        rows: () => query('select * from otps where tenant_id = $1 order by message_id nulls last, id', [tenant.id]),
      };
    },
  };
}

interface Sent {
  readonly components: readonly { readonly type: string; readonly parameters: readonly { readonly text: string }[] }[];
}

/** The code that a message of the network carries: once in its text, once in its button. */
function codeIn(content: unknown): string {
  const { components } = content as Sent;
  const texts = components.map(component => component.parameters[0]?.text);
  expect(components.map(component => component.type)).toEqual(['body', 'button']);
  expect(texts[0]).toBe(texts[1]);
  return texts[0] ?? '';
}

/** A code that differs from another one. */
export const otherThan = (code: string): string => `${(Number(code[0]) + 1) % 10}${code.slice(1)}`;

/** What a cap tells that has refused. */
export function capOf(answer: GraphQLAnswer): { readonly seconds: number; readonly limit: number } {
  expect(codeOf(answer)).toBe('RATE_LIMIT_EXCEEDED');
  const [refusal] = userErrorsOf(answer);
  expect(refusal).toMatchObject({ path: [], retryAfterSeconds: expect.any(Number), limit: expect.any(Number) });
  const { retryAfterSeconds: seconds, limit } = refusal as unknown as { retryAfterSeconds: number; limit: number };
  return { seconds, limit };
}
