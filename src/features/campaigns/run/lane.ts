/** The queue of campaigns that send; one lane per campaign. */
export const CAMPAIGNS = 'campaigns';

export const laneOf = (tenantId: number, campaignId: number): string => `${tenantId}:${campaignId}`;

export function parseLane(key: string): { readonly tenantId: number; readonly campaignId: number } {
  const [tenantId = Number.NaN, campaignId = Number.NaN] = key.split(':').map(Number);
  return { tenantId, campaignId };
}
