import { rowLoader } from '../../schema/loaders.ts';
import { getIntegrations } from './integrations.sql.ts';

export const integrationLoader = rowLoader(getIntegrations);
