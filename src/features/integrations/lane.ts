/** The queue of integrations with payloads that wait. */
export const INTEGRATIONS = 'integrations';

/** One lane per integration: its orders keep their order, and no shop waits for another. */
export const laneOf = (tenantId: number, integrationId: number): string => `${tenantId}:${integrationId}`;

export function parseLane(key: string): { tenantId: number; integrationId: number } {
  const [tenantId = Number.NaN, integrationId = Number.NaN] = key.split(':').map(Number);
  return { tenantId, integrationId };
}
