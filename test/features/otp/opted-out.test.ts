import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { codeOf, dataOf } from '../../support/answers.ts';
import { newPhone } from '../../support/seed.ts';
import { type Harness, startHarness } from './harness.ts';

const AS_TEMPLATE = `mutation ($to: String!) {
  sendMessage(input: { to: { phone: $to }, content: { template: { name: "login_code", language: "en", body: ["424242"] } }, waitForAcceptance: true }) { message { status } userErrors { code message path } }
}`;
const AS_TEXT =
  'mutation ($to: String!) { sendMessage(input: { to: { phone: $to }, content: { text: { body: "Hello" } } }) { message { status } userErrors { code message path } } }';

for (const [setting, reaches] of [
  ['true', true],
  ['false', false],
] as const)
  describe(`a contact who opted out, with PARLEY_OTP_TO_OPTED_OUT=${setting}`, () => {
    let harness: Harness;
    beforeAll(async () => {
      harness = await startHarness({ env: { PARLEY_OTP_TO_OPTED_OUT: setting } });
    });
    afterAll(() => harness.gateway.stop());

    const optedOut = async () => {
      const caller = await harness.tenant();
      const phone = newPhone();
      dataOf(await caller.send({ phone }));
      await harness.gateway.database.query(
        'update contacts set opted_out_at = now() where tenant_id = $1 and phone = $2',
        [caller.id, phone],
      );
      return { caller, phone, before: harness.gateway.emulator.sent({ to: phone }).matched };
    };

    test(`${reaches ? 'receives' : 'does not receive'} the one-time code that they ask for`, async () => {
      const { caller, phone, before } = await optedOut();
      const sent = await caller.send({ phone, code: '424242' });
      const after = harness.gateway.emulator.sent({ to: phone }).matched;
      if (!reaches) {
        expect(codeOf(sent)).toBe('CONTACT_OPTED_OUT');
        expect(after).toBe(before);
        return;
      }
      expect(dataOf(sent).sendOtp.otp.message.wamid).toMatch(/^wamid\./);
      expect(after).toBe(before + 1);
      expect(dataOf(await caller.verify(phone, '424242')).verifyOtp.verified).toBe(true);
    });

    test('an authentication template counts as a one-time code, other messages do not', async () => {
      const { caller, phone } = await optedOut();
      const ask = (document: string) => harness.gateway.graphql(document, { to: phone }, caller.token);
      expect(codeOf(await ask(AS_TEMPLATE))).toBe(reaches ? undefined : 'CONTACT_OPTED_OUT');
      expect(codeOf(await ask(AS_TEXT))).toBe('CONTACT_OPTED_OUT');
    });
  });
