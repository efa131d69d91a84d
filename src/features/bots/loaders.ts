import { rowLoader } from '../../schema/loaders.ts';
import { getBots } from './store.ts';

export const botLoader = rowLoader(getBots);
