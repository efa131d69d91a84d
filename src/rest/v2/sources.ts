import {
  CreateSourceDocument,
  DeleteSourceDocument,
  GetSourceDocument,
  ListSourcesDocument,
  UpdateSourceDocument,
} from '../documents.generated.ts';
import type { Route } from '../route.ts';
import { type LabelKind, labelRoutes } from './labels.ts';

export const SOURCES: LabelKind = {
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
};

export const sourceRoutes: readonly Route[] = labelRoutes(SOURCES);
