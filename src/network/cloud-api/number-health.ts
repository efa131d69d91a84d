import { asList, asNumber, asObject, asText, type JsonObject } from '../../platform/json.ts';
import type { HealthPatch, NumberHealth } from '../health.ts';
import { readLimit } from './webhook/health.ts';

/** The limit of messages is that of the portfolio since October 2025; `messaging_limit_tier` is its former name (cloud-api §8). */
export const HEALTH_QUERY =
  'quality_rating,throughput,name_status,whatsapp_business_manager_messaging_limit,health_status';

/** Reads the answer to `HEALTH_QUERY`. Fields that the network leaves out stay as they are. */
export function readNumberHealth(fields: JsonObject): NumberHealth {
  const status = asObject(fields['health_status']);
  const quality = asText(fields['quality_rating']);
  const throughput = asText(asObject(fields['throughput'])?.['level']);
  const nameStatus = asText(fields['name_status']);
  const canSend = asText(status?.['can_send_message']);
  const limit = readLimit(fields['whatsapp_business_manager_messaging_limit']);
  const patch: HealthPatch = {
    ...(quality !== undefined && { quality }),
    ...(throughput !== undefined && { throughput }),
    ...(nameStatus !== undefined && { nameStatus }),
    ...(limit !== undefined && { messagingLimit: limit }),
    ...(canSend !== undefined && { canSend, lastError: blockingError(status) }),
  };
  return { patch, details: fields };
}

/** The first error of the entity that blocks the number: the number itself, its account, portfolio or app. Null without an error. */
function blockingError(status: JsonObject | undefined): NonNullable<HealthPatch['lastError']> | null {
  const errors = asList(status?.['entities']).flatMap(entity => asList(asObject(entity)?.['errors']));
  const error = asObject(errors[0]);
  if (!error) return null;
  return {
    code: asNumber(error['error_code']) ?? 0,
    title: asText(error['error_description']) ?? 'Blocked by the network',
    details: asText(error['possible_solution']) ?? '',
  };
}
