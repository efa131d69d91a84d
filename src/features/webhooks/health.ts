import type { Attempted } from './attempt.ts';
import type { EndpointPlace, HealthChange } from './endpoints-store.ts';
import { FAILING_FOR_MS } from './schedule.ts';

/**
 * What an attempt changes about the health of its endpoint; undefined: nothing. Samples say nothing about it.
 * @param endpoint with the first failure since its last success
 */
export function changeOfHealth(
  { tenantId, endpointId, failingSince }: EndpointPlace & { readonly failingSince: string | null },
  { delivery, attempt, verdict }: Attempted,
): HealthChange | undefined {
  if (delivery.is_test) return undefined;
  if (delivery.status === 'delivered')
    return failingSince === null ? undefined : { tenantId, endpointId, failingSince: null, disable: null };
  const since = failingSince ?? attempt.at;
  if (verdict.gone) return { tenantId, endpointId, failingSince: since, disable: 'gone' };
  if (Date.parse(attempt.at) - Date.parse(since) >= FAILING_FOR_MS)
    return { tenantId, endpointId, failingSince: since, disable: 'failing' };
  return failingSince === null ? { tenantId, endpointId, failingSince: since, disable: null } : undefined;
}
