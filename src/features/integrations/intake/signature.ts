import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { Webhook } from 'standardwebhooks';
import { MINUTE, SECOND } from '../../../platform/clock.ts';
import { sha256 } from '../../../platform/crypto.ts';
import type { Kind } from '../mappings/paths.ts';

/** Maximum clock difference for Standard Webhooks timestamps, against replay of recorded requests. */
export const TOLERANCE_MS = 5 * MINUTE;

/** Compares two texts in constant time. */
function isEqual(given: string, wanted: string): boolean {
  const [one, other] = [sha256(given), sha256(wanted)];
  return timingSafeEqual(one, other);
}

/** base64 HMAC-SHA-256 of the raw bytes: the signature of WooCommerce and Shopify. */
export const signatureOf = (body: Uint8Array, secret: string): string =>
  createHmac('sha256', secret).update(body).digest('base64');

const headerOf = (headers: IncomingHttpHeaders, name: string): string | undefined => {
  const value = headers[name];
  return typeof value === 'string' && value !== '' ? value : undefined;
};

/** The verifier for a secret: after `whsec_` base64, otherwise the raw key. @throws if the base64 is malformed */
export const standardWebhook = (secret: string): Webhook =>
  secret.startsWith('whsec_') ? new Webhook(secret) : new Webhook(Buffer.from(secret), { format: 'raw' });

/** Whether the raw bytes are signed with one of the secrets. Does not parse them. */
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

/** https://www.standardwebhooks.com. Uses the library to sign only: the time comes from our clock, and several secrets may be valid. */
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

/** WooCommerce posts this, unsigned, when a webhook is saved, and enables it only if the response is exactly 200. */
export const isPing = (kind: Kind, body: Uint8Array): boolean =>
  kind === 'woocommerce' && body.length < 64 && /^webhook_id=\d+$/.test(Buffer.from(body).toString('latin1'));

/** Identifiers that the sender gave a delivery. */
export interface DeliveryName {
  readonly topic: string;
  readonly deliveryId: string | null;
  /** Equal for repetitions of a delivery. */
  readonly dedupeKey: Buffer;
}

const MAX_HEADER = 200;

/**
 * Identifies a delivery, by kind:
 * - WooCommerce never repeats a delivery, and its id is a hash of webhook and second, so two deliveries may share it. The body is
 *   included in the key, or orders would be lost.
 * - Shopify repeats a delivery under the same X-Shopify-Webhook-Id. (X-Shopify-Event-Id is shared by all subscriptions and topics of
 *   an event, which are separate deliveries; order id and status ensure that an order is processed once.)
 * - Standard Webhooks: webhook-id. Without an id: topic and body.
 */
export function nameDelivery(kind: Kind, headers: IncomingHttpHeaders, body: Uint8Array): DeliveryName {
  const named = (topic: string | undefined, id: string | undefined, withBody: boolean): DeliveryName => {
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
