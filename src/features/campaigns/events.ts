import type { PublicCampaign } from './campaign.ts';

type CampaignPayload = { readonly campaign: PublicCampaign };

declare module '../../core/events.ts' {
  interface EventPayloads {
    'campaign.started': CampaignPayload;
    /** `reason.code` is MANUAL, or what made the campaign pause itself. */
    'campaign.paused': CampaignPayload & { readonly reason: { readonly code: string; readonly details: string } };
    'campaign.resumed': CampaignPayload;
    'campaign.completed': CampaignPayload;
    'campaign.cancelled': CampaignPayload;
    /** It cannot go on, for example because its template was deleted. */
    'campaign.failed': CampaignPayload & { readonly reason: { readonly code: string; readonly details: string } };
  }
}
