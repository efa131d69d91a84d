import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { codeOf, dataOf } from '../../support/answers.ts';
import { newPhone } from '../../support/seed.ts';
import { type Caller, type Harness, startHarness } from './harness.ts';

let harness: Harness;
let caller: Caller;
let phone: string;
beforeAll(async () => {
  harness = await startHarness();
  caller = await harness.tenant();
});
beforeEach(() => {
  phone = newPhone();
});
afterAll(() => harness.gateway.stop());

const sent = async (input: object = {}) => dataOf(await caller.send({ phone, ...input })).sendOtp.otp;
const verifies = async (code: string, more?: object): Promise<boolean> =>
  dataOf(await caller.verify(phone, code, more)).verifyOtp.verified;

describe('what was sent', () => {
  const ask = async (document: string, variables: object, token = caller.token) =>
    dataOf(await harness.gateway.graphql(document, variables, token));
  const list = async (filter: object, token?: string) =>
    (
      await ask(
        'query ($filter: OtpFilter) { otps(filter: $filter) { totalCount nodes { id purpose status message { databaseId } } } }',
        { filter },
        token,
      )
    ).otps;

  test('is listed, latest first, and filtered by its fields; a code whose message is not accepted yet is not', async () => {
    const first = await sent({ purpose: 'login', code: '424242' });
    const second = await sent({ purpose: 'payment' });
    await verifies('424242', { purpose: 'login' });
    const all = await list({ phone: { eq: phone } });
    expect(all).toEqual({
      totalCount: 2,
      nodes: [
        { id: second.id, purpose: 'payment', status: 'LIVE', message: { databaseId: second.message.databaseId } },
        { id: first.id, purpose: 'login', status: 'VERIFIED', message: { databaseId: first.message.databaseId } },
      ],
    });
    const idsOf = async (filter: object) =>
      (await list({ phone: { eq: phone }, ...filter })).nodes.map((otp: { id: string }) => otp.id);
    expect(await idsOf({ status: { eq: 'LIVE' } })).toEqual([second.id]);
    expect(await idsOf({ or: [{ purpose: { eq: 'login' } }, { id: { eq: second.databaseId } }] })).toHaveLength(2);
    expect(await idsOf({ verifiedAt: { isNull: false } })).toEqual([first.id]);
    expect(await idsOf({ not: { id: { eq: first.id } } })).toEqual([second.id]);
    await harness.gateway.database.query("update otps set state = 'sending' where tenant_id = $1 and id = $2", [
      caller.id,
      second.databaseId,
    ]);
    expect(await idsOf({})).toEqual([first.id]);
    const hidden = await ask('query ($id: ID!) { otp(id: $id) { id } }', { id: second.id });
    expect(hidden).toEqual({ otp: null });
    await harness.gateway.database.query("update otps set state = 'live' where tenant_id = $1 and id = $2", [
      caller.id,
      second.databaseId,
    ]);
  });

  test('is found by global id and databaseId, also as a node, and only in its own account', async () => {
    const { id, databaseId } = await sent();
    const document =
      'query ($id: ID!, $key: ID!) { otp(id: $id) { phone } byKey: otp(id: $key) { phone } node(id: $id) { ... on Otp { phone } } }';
    expect(await ask(document, { id, key: databaseId })).toEqual({
      otp: { phone },
      byKey: { phone },
      node: { phone },
    });
    const other = await harness.tenant({ channel: false });
    expect(await ask(document, { id, key: databaseId }, other.token)).toEqual({ otp: null, byKey: null, node: null });
    expect((await list({}, other.token)).totalCount).toBe(0);
  });

  test('shows the key of its contact without contacts:read, and nothing else of it', async () => {
    const { id, contactId } = await sent();
    const token = await harness.gateway.addToken(caller, { scopes: ['messages:read'] });
    const answer = await harness.gateway.graphql(
      'query ($id: ID!) { otp(id: $id) { contactId contact { phone } } }',
      { id },
      token,
    );
    expect(answer.data.otp).toEqual({ contactId, contact: null });
    expect(codeOf(answer)).toBe('INSUFFICIENT_SCOPE');
  });
});
