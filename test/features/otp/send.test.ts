import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { encodeGlobalId } from '../../../src/core/global-ids.ts';
import { mergeContacts } from '../../../src/features/contacts/merging/merge.ts';
import { COMMAND_LINE } from '../../../src/features/tenancy/audit/author.ts';
import { codeOf, dataOf, faultsOf, userErrorsOf } from '../../support/answers.ts';
import { eventually, type GraphQLAnswer } from '../../support/gateway.ts';
import { newPhone } from '../../support/seed.ts';
import { type Caller, capOf, type Harness, startHarness } from './harness.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

let harness: Harness;
let caller: Caller;
let phone: string;
beforeAll(async () => {
  harness = await startHarness();
  caller = await harness.tenant();
});
beforeEach(() => {
  phone = newPhone();
  harness.gateway.emulator.resetFaults();
});
afterAll(() => harness.gateway.stop());

const sent = async (input: object = {}, again?: 'resend') => {
  const data = dataOf(await caller.send({ phone, ...input }, again));
  return (data.sendOtp ?? data.resendOtp).otp;
};
const verifies = async (code: string, more?: object): Promise<boolean> =>
  dataOf(await caller.verify(phone, code, more)).verifyOtp.verified;
const liveRows = async () =>
  (await caller.rows()).filter(row => row['state'] === 'live' && row['phone_key'] === phone.slice(1));
/** How often a number was counted. */
const counted = async (): Promise<Record<string, number> | undefined> => {
  const [row] = await harness.gateway.database.query<Record<string, number>>(
    'select cardinality(sends) as sends, cardinality(resends) as resends from otp_phones where tenant_id = $1 and phone_key = $2',
    [caller.id, phone.slice(1)],
  );
  return row;
};

test('the message of a code shows that a one-time password sent it', async () => {
  const { message } = await sent();
  const found = await harness.gateway.graphql(
    'query ($id: ID!) { message(id: $id) { sentBy { kind displayName actor { id } } } }',
    {
      id: message.databaseId,
    },
    caller.token,
  );
  expect(dataOf(found).message.sentBy).toEqual({ kind: 'OTP', displayName: 'One-time password', actor: null });
});

test('a code is sent to the person; the response does not contain it', async () => {
  const before = Date.now();
  const otp = await sent({ expiryMinutes: 5, purpose: ' Login ', language: 'de' });
  const code = await caller.codeFor(phone);
  expect(otp).toEqual({
    id: encodeGlobalId('Otp', caller.id, otp.databaseId),
    databaseId: expect.stringMatching(/^[0-9a-f]{8}-/),
    phone,
    contactId: expect.stringMatching(/^\d+$/),
    contact: { phone },
    purpose: 'login',
    templateName: 'login_code',
    language: 'de',
    status: 'LIVE',
    attempts: 0,
    maxAttempts: 5,
    expiryMinutes: 5,
    expiresAt: expect.any(String),
    message: {
      databaseId: expect.any(String),
      text: '*••••••* is your verification code.',
      status: expect.stringMatching(/^(SENT|DELIVERED|READ)$/),
      wamid: expect.stringMatching(/^wamid\./),
    },
  });
  expect(Date.parse(otp.expiresAt) - before).toBeGreaterThan(5 * MINUTE - 1_000);
  expect(JSON.stringify(otp)).not.toContain(code);
  expect(await verifies(code, { purpose: 'login' })).toBe(true);
});

test('a code for a second number of a person is refused: it would reach the first, and prove nothing of the second', async () => {
  const second = newPhone();
  const { emulator, database, resources } = { ...harness.gateway, ...harness.gateway.gateway };
  for (const from of [phone, second]) emulator.inbound({ from, text: 'Hi', phoneNumberId: caller.phoneNumberId });
  const contacts = () =>
    database.query<{ id: number }>(
      'select id::int as id from contacts where tenant_id = $1 and phone = any($2) order by phone <> $3',
      [caller.id, [phone, second], phone],
    );
  await eventually(async () => expect(await contacts()).toHaveLength(2));
  const ids = (await contacts()).map(({ id }) => id);
  await resources.db.transaction(trx =>
    mergeContacts(trx, caller.id, {
      survivorId: ids[0],
      ids,
      reason: 'manual',
      author: COMMAND_LINE,
      nowMs: Date.now(),
    }),
  );
  expect(faultsOf(await caller.send({ phone: second }))).toEqual({
    phone: ['Messages to this contact go to its other number: the code would not prove this one.'],
  });
  expect((await caller.rows()).filter(row => row['phone_key'] === second.slice(1))).toEqual([]);
  expect((await sent()).contactId).toBe(String(ids[0]));
});

test('a code of the caller is sent unchanged; a generated code has six digits', async () => {
  await sent({ code: ' Zx-9 81k ' });
  expect(await caller.codeFor(phone)).toBe('Zx-981k');
  expect(await verifies('Zx-981k')).toBe(true);
  await sent({}, 'resend');
  expect(await caller.codeFor(phone)).toMatch(/^\d{6}$/);
});

test('errors are reported by field, and nothing is sent, counted or replaced', async () => {
  const cases: [object, Record<string, RegExp>][] = [
    [{ phone: '12' }, { phone: /international/ }],
    [
      { code: '123', purpose: 'two words', expiryMinutes: 61 },
      { code: /4 to 15/, expiryMinutes: /1 to 60/, purpose: /at most 50/ },
    ],
    [{ code: '@{contact_email}' }, { code: /4 to 15/ }],
    [
      { code: '@{contact}', expiryMinutes: 0 },
      { code: /4 to 15/, expiryMinutes: /1 to 60/ },
    ],
    [{ templateName: '' }, { templateName: /required/ }],
    [{ templateName: 'nobody' }, { templateName: /no template with this name/ }],
    [{ templateName: 'order' }, { templateName: /UTILITY.*AUTHENTICATION/ }],
    [{ templateName: 'paused_code' }, { templateName: /PAUSED.*APPROVED/ }],
    [{ language: 'fr' }, { language: /de, en/ }],
  ];
  await sent();
  const [code, rows, use] = [await caller.codeFor(phone), await caller.rows(), await counted()];
  for (const [input, faults] of cases) {
    const told = faultsOf(await caller.send({ phone, ...input }));
    expect(Object.keys(told).sort()).toEqual(Object.keys(faults).sort());
    for (const [field, words] of Object.entries(faults)) expect(told[field]?.join()).toMatch(words);
  }
  expect([await caller.rows(), await counted()]).toEqual([rows, use]);
  expect(await verifies(code)).toBe(true);
});

test('a send replaces the live code of its purpose, and no other', async () => {
  await sent();
  const first = await caller.codeFor(phone);
  await sent({ purpose: 'payment' });
  const other = await caller.codeFor(phone);
  await sent();
  const second = await caller.codeFor(phone);
  expect(await liveRows()).toHaveLength(2);
  if (first !== second) expect(await verifies(first)).toBe(false);
  expect(await verifies(second)).toBe(true);
  expect(await verifies(other, { purpose: 'payment' })).toBe(true);
});

describe('a rejected send leaves the live code unchanged', () => {
  beforeEach(async () => {
    await sent({ code: '424242', waitForAcceptance: false });
  });
  const stays = async (refused: GraphQLAnswer, code: string): Promise<void> => {
    expect(codeOf(refused)).toBe(code);
    expect(await liveRows()).toHaveLength(1);
    expect(await verifies('424242')).toBe(true);
  };

  test('if the network refuses the message', async () => {
    // The first message is not waited for: it must be gone, or the fault would meet it instead.
    await eventually(async () =>
      expect(await harness.gateway.database.query('select message_id from outbox')).toEqual([]),
    );
    harness.gateway.emulator.setFaults({ next: [{ errorCode: 131_026 }] });
    const refused = await caller.send({ phone }, 'resend');
    expect(userErrorsOf(refused)).toMatchObject([{ provider: { code: 131_026 } }]);
    await stays(refused, 'MESSAGE_SEND_FAILED');
    expect((await caller.rows()).filter(row => row['state'] === 'failed')).toHaveLength(1);
  });

  test('if the network accepts the message and reports its failure later', async () => {
    await eventually(async () =>
      expect(await harness.gateway.database.query('select message_id from outbox')).toEqual([]),
    );
    harness.gateway.emulator.setFaults({ next: [{ asyncErrorCode: 131_026 }] });
    // A failure that comes together with the acceptance is the answer to a send that waits for it.
    dataOf(await caller.send({ phone, code: '535353', waitForAcceptance: false }));
    await eventually(async () =>
      expect((await caller.rows()).find(row => row['phone'] === phone && row['state'] === 'failed')).toBeDefined(),
    );
    expect(await verifies('535353')).toBe(false);
    expect(await liveRows()).toHaveLength(1);
    expect(await verifies('424242')).toBe(true);
  });

  test('if the channel is paused or does not exist', async () => {
    const { query } = harness.gateway.database;
    expect(codeOf(await caller.send({ phone, channelId: '999999' }))).toBe('NOT_FOUND');
    await query("update channels set status = 'paused' where tenant_id = $1", [caller.id]);
    try {
      await stays(await caller.send({ phone }), 'MESSAGING_NOT_CONFIGURED');
    } finally {
      await query("update channels set status = 'active' where tenant_id = $1", [caller.id]);
    }
  });

  test('if it exceeds three resends in five minutes', async () => {
    const since = Date.now();
    for (let count = 0; count < 3; count += 1) await sent({}, 'resend');
    const code = await caller.codeFor(phone);
    const refused = await caller.send({ phone }, 'resend');
    const elapsed = (Date.now() - since) / 1_000;
    const { seconds, limit } = capOf(refused);
    expect(limit).toBe(3);
    expect(seconds).toBeGreaterThan(299 - elapsed);
    expect(seconds).toBeLessThanOrEqual(300);
    expect(await liveRows()).toHaveLength(1);
    expect(await caller.codeFor(phone)).toBe(code);
    expect(await verifies(code)).toBe(true);
    await harness.pass(seconds * 1_000);
    await sent({}, 'resend');
  });
});

test('a number gets ten codes a day for all purposes, and another one when the first is a day old', async () => {
  const purposes = Array.from({ length: 10 }, (_, index) => `purpose-${index}`);
  for (const purpose of purposes) {
    await sent({ purpose, waitForAcceptance: false });
    await harness.pass(HOUR);
  }
  const { seconds, limit } = capOf(await caller.send({ phone }));
  expect(limit).toBe(10);
  expect(Math.round((seconds * 1_000) / HOUR)).toBe(14);
  await harness.pass(seconds * 1_000);
  await sent();
  expect(codeOf(await caller.send({ phone }))).toBe('RATE_LIMIT_EXCEEDED');
});

test('of 30 concurrent sends ten are accepted, and only the last code that the person received is live', async () => {
  const answers = await Promise.all(Array.from({ length: 30 }, () => caller.send({ phone, waitForAcceptance: false })));
  const refused = answers.map(codeOf).filter(code => code !== undefined);
  expect(refused).toEqual(Array.from({ length: 20 }, () => 'RATE_LIMIT_EXCEEDED'));
  const { emulator } = harness.gateway;
  await eventually(() => expect(emulator.sent({ to: phone }).matched).toBe(10));
  expect(await liveRows()).toHaveLength(1);
  expect(await verifies(await caller.codeFor(phone))).toBe(true);
});

test('of concurrent resends at most three are accepted', async () => {
  const answers = await Promise.all(Array.from({ length: 12 }, () => caller.send({ phone }, 'resend')));
  expect(answers.filter(answer => codeOf(answer) === undefined)).toHaveLength(3);
  expect(await counted()).toEqual({ sends: 3, resends: 3 });
});

test('tenants have separate caps', async () => {
  const other = await harness.tenant();
  for (let count = 0; count < 3; count += 1) await sent({}, 'resend');
  expect(codeOf(await caller.send({ phone }, 'resend'))).toBe('RATE_LIMIT_EXCEEDED');
  dataOf(await other.send({ phone, code: '777777' }, undefined));
  expect(dataOf(await other.verify(phone, '777777')).verifyOtp.verified).toBe(true);
  expect(await liveRows()).toHaveLength(1);
});

describe('with an idempotency key', () => {
  const key = () => ({ idempotencyKey: crypto.randomUUID() });

  test('a repetition gets the same password, and nothing is sent or counted again', async () => {
    const keyed = key();
    const first = await sent(keyed);
    const [code, use] = [await caller.codeFor(phone), await counted()];
    const again = await sent(keyed);
    expect(again).toMatchObject({
      id: first.id,
      expiresAt: first.expiresAt,
      message: { databaseId: first.message.databaseId },
    });
    expect([harness.gateway.emulator.sent({ to: phone }).matched, await counted()]).toEqual([1, use]);
    expect(codeOf(await caller.send({ phone, ...keyed, expiryMinutes: 20 }))).toBe('IDEMPOTENCY_MISMATCH');
    expect(codeOf(await caller.send({ phone, ...keyed, code: '123456' }))).toBe('IDEMPOTENCY_MISMATCH');
    expect(codeOf(await caller.send({ phone, ...keyed }, 'resend'))).toBe('IDEMPOTENCY_MISMATCH');
    expect(await verifies(code)).toBe(true);
    expect(await sent(keyed)).toMatchObject({ id: first.id, status: 'VERIFIED' });
  });

  test('of concurrent requests one sends', async () => {
    const keyed = key();
    const answers = await Promise.all(Array.from({ length: 20 }, () => caller.send({ phone, ...keyed })));
    const ids = answers.flatMap(answer => (codeOf(answer) ? [] : [answer.data.sendOtp.otp.id]));
    expect(new Set(ids).size).toBe(1);
    expect(new Set(answers.map(codeOf))).not.toContain('INTERNAL_ERROR');
    expect([harness.gateway.emulator.sent({ to: phone }).matched, await counted()]).toEqual([
      1,
      { sends: 1, resends: 0 },
    ]);
  });

  test('a rejected send does not use up the key', async () => {
    const keyed = key();
    expect(Object.keys(faultsOf(await caller.send({ phone, ...keyed, templateName: 'order' })))).toEqual([
      'templateName',
    ]);
    await sent(keyed);
  });

  test('a repetition of a send that the network refused is refused', async () => {
    harness.gateway.emulator.setFaults({ next: [{ errorCode: 131_026 }] });
    const keyed = key();
    for (let count = 0; count < 2; count += 1)
      expect(codeOf(await caller.send({ phone, ...keyed }))).toBe('MESSAGE_SEND_FAILED');
    expect(await liveRows()).toHaveLength(0);
  });
});

test('a sandbox channel returns the code, only in the first response', async () => {
  const sandbox = await harness.tenant();
  await harness.gateway.database.query('update channels set is_sandbox = true where tenant_id = $1', [sandbox.id]);
  const idempotencyKey = crypto.randomUUID();
  const send = async () => dataOf(await sandbox.send({ phone, idempotencyKey })).sendOtp.sandboxCode;
  expect(await send()).toBe(await sandbox.codeFor(phone));
  expect(await send()).toBeNull();
});

test('a requested code is returned in the first response only', async () => {
  const asked = { phone, code: '424242', tellCode: true, idempotencyKey: crypto.randomUUID() };
  expect(dataOf(await caller.send(asked)).sendOtp.code).toBe('424242');
  expect(dataOf(await caller.send(asked)).sendOtp.code).toBeNull();
  expect(dataOf(await caller.send({ phone })).sendOtp.code).toBeNull();
});

test('a plan without one-time passwords rejects all operations', async () => {
  const starter = await harness.tenant({ plan: 'starter' });
  const { query } = harness.gateway.database;
  await query("update plans set features = array_remove(features, 'otp') where name = 'starter'");
  try {
    const token = await harness.gateway.addToken(starter, {});
    const ask = (document: string) => harness.gateway.graphql(document, {}, token);
    for (const document of [
      `mutation { sendOtp(input: { phone: "${phone}", templateName: "login_code" }) { userErrors { code } } }`,
      `mutation { verifyOtp(input: { phone: "${phone}", code: "123456" }) { userErrors { code } } }`,
      `{ otpStatus(phone: "${phone}") { hasActiveOtp } }`,
      '{ authenticationTemplates { totalCount } }',
    ])
      expect(codeOf(await ask(document))).toBe('FEATURE_NOT_AVAILABLE');
  } finally {
    await query("update plans set features = features || '{otp}' where name = 'starter'");
  }
});

test('authenticationTemplates returns the tenant’s approved authentication templates', async () => {
  const list = async (token: string) =>
    dataOf(
      await harness.gateway.graphql(
        '{ authenticationTemplates { totalCount nodes { name language status category } } }',
        {},
        token,
      ),
    ).authenticationTemplates;
  const word = { name: 'login_code', status: 'APPROVED', category: 'AUTHENTICATION' };
  expect(await list(caller.token)).toEqual({
    totalCount: 2,
    nodes: expect.arrayContaining([
      { ...word, language: 'en' },
      { ...word, language: 'de' },
    ]),
  });
  const silent = await harness.tenant({ channel: false });
  expect(await list(silent.token)).toEqual({ totalCount: 0, nodes: [] });
});

test('the hourly cap of a tenant holds for concurrent sends to many numbers, and restarts with the hour', async () => {
  const small = await startHarness({ env: { PARLEY_OTP_TENANT_SENDS_PER_HOUR: '5' } });
  try {
    const pumped = await small.tenant();
    // An hour that ends between the sends would allow five more.
    const [left] = await small.gateway.database.query<{ ms: number }>(
      "select extract(epoch from date_trunc('hour', now()) + interval '1 hour' - now())::float8 * 1000 as ms",
    );
    if (left && left.ms < MINUTE) await setTimeout(left.ms + 100);
    const pump = () =>
      Promise.all(Array.from({ length: 20 }, () => pumped.send({ phone: newPhone(), waitForAcceptance: false })));
    const answers = await pump();
    const refusals = answers.filter(answer => codeOf(answer) !== undefined);
    expect(refusals).toHaveLength(15);
    for (const refusal of refusals) expect(capOf(refusal).limit).toBe(5);
    const phones = await small.gateway.database.query('select phone_key from otp_phones where tenant_id = $1', [
      pumped.id,
    ]);
    expect(phones).toHaveLength(5);
    await small.pass(HOUR);
    expect((await pump()).filter(answer => codeOf(answer) === undefined)).toHaveLength(5);
  } finally {
    await small.gateway.stop();
  }
});
