import { readWebhook } from '../../src/network/cloud-api/webhook.ts';
import type { NetworkUpdate } from '../../src/network/updates.ts';

export const ARRIVED_AT = new Date(1_790_000_000_000);

/** All updates of a body, in its order. */
export const parseWebhook = (body: unknown): NetworkUpdate[] =>
  readWebhook(body, ARRIVED_AT).flatMap(({ updates }) => updates);
