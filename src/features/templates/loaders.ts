import { rowLoader } from '../../schema/loaders.ts';
import { getTemplates } from './store.ts';

export const templateLoader = rowLoader(getTemplates);
