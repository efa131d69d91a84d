/** The queue of business accounts whose templates are to be read anew. */
export const TEMPLATE_SYNCS = 'template-syncs';

/** One lane per business account of a tenant. */
export const laneOf = (tenantId: number, wabaId: string): string => `${tenantId}:${wabaId}`;

export function parseLane(key: string): { tenantId: number; wabaId: string } {
  const [tenantId = '', wabaId = ''] = key.split(/:(.*)/s);
  return { tenantId: Number(tenantId), wabaId };
}
