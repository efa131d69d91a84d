import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import { Webhook } from 'standardwebhooks';
import { expect, test } from 'vitest';
import {
  newSecret,
  plainSignatureOf,
  signatureOf,
  signingKey,
} from '../../../../src/features/webhooks/delivery/signature.ts';
import { SECOND } from '../../../../src/platform/clock.ts';

test('the signature of the test vector is correct', () => {
  const signature = signatureOf(
    [signingKey('whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw')],
    'msg_p5jXN8AQM9LWM0D4loKWxJek',
    1614265330,
    '{"test": 2432232314}',
  );
  expect(signature).toBe('v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=');
});

test('the standard library verifies signatures of either valid secret for any body, and rejects modified ones', () => {
  const [now, before] = [newSecret(), newSecret()];
  const timestamp = Math.floor(Date.now() / SECOND);
  fc.assert(
    fc.property(fc.uuid({ version: 7 }), fc.json({ stringUnit: 'grapheme' }), (id, body) => {
      const headers = {
        'webhook-id': id,
        'webhook-timestamp': String(timestamp),
        'webhook-signature': signatureOf([signingKey(now), signingKey(before)], id, timestamp, body),
      };
      expect(headers['webhook-signature'].split(' ')).toHaveLength(2);
      for (const secret of [now, before]) expect(new Webhook(secret).verify(body, headers)).toEqual(JSON.parse(body));
      expect(() => new Webhook(newSecret()).verify(body, headers)).toThrow();
      expect(() => new Webhook(now).verify(`${body} `, headers)).toThrow();
    }),
  );
});

test('a secret is whsec_ and 32 random bytes; older receivers use its text', () => {
  const secrets = Array.from({ length: 100 }, newSecret);
  expect(new Set(secrets).size).toBe(100);
  for (const secret of secrets) {
    expect(secret).toMatch(/^whsec_/);
    expect(Buffer.from(secret.slice(6), 'base64')).toHaveLength(32);
    expect(plainSignatureOf(signingKey(secret), 'é')).toBe(createHmac('sha256', secret).update('é').digest('hex'));
  }
});
