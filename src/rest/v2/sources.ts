import type { Route } from '../route.ts';
import {
  CreateSourceDocument,
  DeleteSourceDocument,
  GetSourceDocument,
  ListSourcesDocument,
  UpdateSourceDocument,
} from './documents.generated.ts';
import { labelRoutes } from './labels.ts';

export const sourceRoutes: readonly Route[] = labelRoutes({
  path: '/sources',
  type: 'Source',
  plural: 'Sources',
  documents: {
    list: ListSourcesDocument,
    get: GetSourceDocument,
    create: CreateSourceDocument,
    update: UpdateSourceDocument,
    remove: DeleteSourceDocument,
  },
  example: { name: 'Trade fair' },
  input: () => ({}),
});
