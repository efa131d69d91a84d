import { rowLoader } from '../../schema/loaders.ts';
import { getChannels } from './store.ts';

export const channelLoader = rowLoader(getChannels);
