import { rowLoader } from '../../schema/loaders.ts';
import { getIntegrations, getMappings } from './integrations.sql.ts';

export const integrationLoader = rowLoader(getIntegrations);
export const mappingLoader = rowLoader(getMappings);
