import type { Context } from '../../context.ts';
import { invalid, notFound } from '../../errors.ts';
import { HOUR } from '../../platform/clock.ts';
import { tenantOf } from '../caller.ts';
import type { EndpointRow } from './endpoint.ts';
import { replaceSecret } from './endpoints-store.ts';
import { tellOfChange } from './lane.ts';
import { newSecret } from './signature.ts';

export interface RotatedSecret {
  readonly endpoint: EndpointRow;
  readonly secret: string;
}

export const OVERLAP_HOURS = 24;
const MAX_OVERLAP_HOURS = 7 * 24;

/**
 * Gives an endpoint a new secret. For `overlapHours` every delivery is signed by both, so that the receiver can change to the
 * new one at any time of these; with 0 the old one ends at once. @throws NOT_FOUND, VALIDATION_ERROR
 */
export async function rotateSecret(context: Context, id: number, overlapHours: number): Promise<RotatedSecret> {
  const tenantId = tenantOf(context);
  if (overlapHours < 0 || overlapHours > MAX_OVERLAP_HOURS)
    throw invalid({ overlapHours: [`Must be from 0 to ${MAX_OVERLAP_HOURS}.`] });
  const nowMs = context.clock.now();
  const until = overlapHours === 0 ? null : new Date(nowMs + overlapHours * HOUR).toISOString();
  const secret = newSecret();
  const sealed = context.secrets.seal(secret);
  const endpoint = await replaceSecret(context.db.write, tenantId, id, sealed, until, new Date(nowMs).toISOString());
  if (!endpoint) throw notFound('WebhookEndpoint');
  tellOfChange(context, tenantId, id);
  return { endpoint, secret };
}
