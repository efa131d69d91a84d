import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { run } from '../../cli/program.ts';
import { dataOf } from '../../support/answers.ts';
import { startSecondGateway } from '../../support/second-gateway.ts';
import { newPhone } from '../../support/seed.ts';
import { type Caller, type Harness, otherThan, SEND, startHarness, VERIFY } from './harness.ts';

const OLD = randomBytes(32);
const NEW = randomBytes(32);

let harness: Harness;
let caller: Caller;
let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'parley-otp-keys-'));
  harness = await startHarness({ env: { PARLEY_SECRET_KEY: OLD.toString('base64') } });
  caller = await harness.tenant();
});
afterAll(async () => {
  await harness.gateway.stop();
  await rm(directory, { recursive: true, force: true });
});

test('codes that were sent before and after a rotation of the secret key verify', async () => {
  const { gateway } = harness;
  const { url } = gateway.database;
  const [before, wrong, during] = [newPhone(), newPhone(), newPhone()];
  for (const phone of [before, wrong]) dataOf(await caller.send({ phone }));
  const [code, other] = [await caller.codeFor(before), await caller.codeFor(wrong)];

  const next = await startSecondGateway(gateway, url, {}, { secretKey: NEW, previousSecretKey: OLD });
  const verify = async (phone: string, given: string) =>
    dataOf(await next.graphql(VERIFY, { input: { phone, code: given } }, caller.token)).verifyOtp;
  try {
    const rotated = await run(directory, ['rotate-secrets'], {
      DATABASE_URL: url,
      PARLEY_SECRET_KEY: NEW.toString('base64'),
      PARLEY_PREVIOUS_SECRET_KEY: OLD.toString('base64'),
    });
    expect(rotated).toMatchObject({ code: 0, output: expect.stringMatching(/Encrypted \d+ secrets/) });
    expect(await verify(before, code)).toMatchObject({ verified: true, reason: null });
    expect(await verify(wrong, otherThan(other))).toMatchObject({ verified: false, reason: 'INVALID_CODE' });
    expect(await verify(wrong, other)).toMatchObject({ verified: true });
    const input = { templateName: 'login_code', phone: during, code: '424242' };
    dataOf(await next.graphql(SEND, { input }, caller.token));
    expect(await verify(during, '424242')).toMatchObject({ verified: true });
  } finally {
    await next.stop();
  }
});
