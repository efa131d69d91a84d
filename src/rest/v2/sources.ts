import { rowFields } from '../query.ts';
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
  fields: rowFields(['id', 'name', 'created_at', 'updated_at']),
  documents: {
    list: ListSourcesDocument,
    get: GetSourceDocument,
    create: CreateSourceDocument,
    update: UpdateSourceDocument,
    remove: DeleteSourceDocument,
  },
  extra: () => ({}),
  input: () => ({}),
});
