import { rowLoader } from '../../schema/loaders.ts';
import { getCampaigns } from './store.ts';

export const campaignLoader = rowLoader(getCampaigns);
