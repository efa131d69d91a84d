import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { Webhook } from 'standardwebhooks';
import { MINUTE, SECOND } from '../../platform/clock.ts';
import { sha256 } from '../../platform/crypto.ts';
import type { Kind } from './integration.ts';

/** How old or new a signature of the Standard Webhooks may be: what is recorded cannot be sent again later. */
export const TOLERANCE_MS = 5 * MINUTE;

/** Whether two texts are the same, in a time that says nothing of where they differ. */
function isEqual(given: string, wanted: string): boolean {
  const [one, other] = [sha256(given), sha256(wanted)];
  return timingSafeEqual(one, other);
}

/** base64 HMAC-SHA-256 of the raw bytes, as WooCommerce and Shopify sign. */
export const signatureOf = (body: Uint8Array, secret: string): string =>
  createHmac('sha256', secret).update(body).digest('base64');

const headerOf = (headers: IncomingHttpHeaders, name: string): string | undefined => {
  const value = headers[name];
  return typeof value === 'string' && value !== '' ? value : undefined;
};

/** The key of a secret: what begins with `whsec_` holds it in base64, anything else is the key itself. @throws where it is neither */
export const standardWebhook = (secret: string): Webhook =>
  secret.startsWith('whsec_') ? new Webhook(secret) : new Webhook(Buffer.from(secret), { format: 'raw' });

/** Whether the raw bytes come from somebody who has one of the secrets. Nothing of them is read. */
export function isAuthentic(
  kind: Kind,
  headers: IncomingHttpHeaders,
  body: Buffer,
  secrets: readonly string[],
  nowMs: number,
): boolean {
  switch (kind) {
    case 'woocommerce':
      return isSigned(headerOf(headers, 'x-wc-webhook-signature'), body, secrets);
    case 'shopify':
      return isSigned(headerOf(headers, 'x-shopify-hmac-sha256'), body, secrets);
    case 'generic': {
      const secret = headerOf(headers, 'x-parley-secret');
      if (secret !== undefined) return secrets.some(one => isEqual(secret, one));
      return isStandard(headers, body, secrets, nowMs);
    }
  }
}

const isSigned = (signature: string | undefined, body: Buffer, secrets: readonly string[]): boolean =>
  signature !== undefined && secrets.some(secret => isEqual(signature, signatureOf(body, secret)));

/** https://www.standardwebhooks.com: the library signs; time comes from our clock, and several secrets may live. */
function isStandard(headers: IncomingHttpHeaders, body: Buffer, secrets: readonly string[], nowMs: number): boolean {
  const [id, signatures] = [headerOf(headers, 'webhook-id'), headerOf(headers, 'webhook-signature')];
  const timestamp = headerOf(headers, 'webhook-timestamp') ?? '';
  if (id === undefined || signatures === undefined || !/^\d{1,12}$/.test(timestamp)) return false;
  const sentAt = new Date(Number(timestamp) * SECOND);
  if (Math.abs(nowMs - sentAt.getTime()) > TOLERANCE_MS) return false;
  const given = signatures.split(' ').slice(0, 10);
  return secrets.some(secret => {
    const wanted = standardWebhook(secret).sign(id, sentAt, body);
    return given.some(signature => isEqual(signature, wanted));
  });
}

/** WooCommerce posts this, unsigned, when a webhook is saved, and keeps it off unless the answer is exactly 200. */
export const isPing = (kind: Kind, body: Uint8Array): boolean =>
  kind === 'woocommerce' && body.length < 64 && /^webhook_id=\d+$/.test(Buffer.from(body).toString('latin1'));

/** What a delivery is called by whoever sent it. */
export interface Named {
  readonly topic: string;
  readonly deliveryId: string | null;
  /** Equal for a delivery that is repeated. */
  readonly dedupeKey: Buffer;
}

const MAX_HEADER = 200;

/**
 * Names a delivery. What makes one the same as another differs by kind:
 * - WooCommerce never repeats one, and gives two of one second the same id (it is a hash of the webhook and of the second):
 *   the id alone would lose orders, so the body counts as well.
 * - Shopify repeats one under the same X-Shopify-Webhook-Id. (X-Shopify-Event-Id is the same over several subscriptions and
 *   topics of one event, which are different deliveries with different mappings; that an order is acted on once is held
 *   by its id and status.)
 * - Standard Webhooks: webhook-id. Whoever gives no id: topic and body.
 */
export function nameDelivery(kind: Kind, headers: IncomingHttpHeaders, body: Uint8Array): Named {
  const named = (topic: string | undefined, id: string | undefined, withBody: boolean): Named => {
    const parts = [topic ?? '', id ?? '', withBody || id === undefined ? sha256(body).toString('hex') : ''];
    return {
      topic: (topic ?? '').slice(0, MAX_HEADER),
      deliveryId: id?.slice(0, MAX_HEADER) ?? null,
      dedupeKey: sha256(JSON.stringify(parts)),
    };
  };
  const header = (name: string): string | undefined => headerOf(headers, name);
  switch (kind) {
    case 'woocommerce':
      return named(header('x-wc-webhook-topic'), header('x-wc-webhook-delivery-id'), true);
    case 'shopify':
      return named(header('x-shopify-topic'), header('x-shopify-webhook-id'), false);
    case 'generic':
      return named(undefined, header('webhook-id'), false);
  }
}
