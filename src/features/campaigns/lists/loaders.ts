import { rowLoader } from '../../../schema/loaders.ts';
import { getLists } from './store.ts';

export const recipientListLoader = rowLoader(getLists);
