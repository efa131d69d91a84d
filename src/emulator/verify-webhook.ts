import { randomInt } from 'node:crypto';
import { request } from 'undici';

/** The verification of a webhook URL: it must respond with 200 and the bare challenge. */
export async function verifyWebhook(url: string, verifyToken: string): Promise<boolean> {
  const challenge = String(randomInt(100_000_000, 2_000_000_000));
  try {
    const target = new URL(url);
    target.searchParams.set('hub.mode', 'subscribe');
    target.searchParams.set('hub.challenge', challenge);
    target.searchParams.set('hub.verify_token', verifyToken);
    const answer = await request(target, { headersTimeout: 5_000, bodyTimeout: 5_000 });
    return (await answer.body.text()) === challenge && answer.statusCode === 200;
  } catch {
    return false;
  }
}
