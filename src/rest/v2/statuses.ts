import {
  CreateStatusDocument,
  DeleteStatusDocument,
  GetStatusDocument,
  ListStatusesDocument,
  UpdateStatusDocument,
} from '../documents.generated.ts';
import type { Route } from '../route.ts';
import { type LabelKind, labelRoutes } from './labels.ts';

export const STATUSES: LabelKind = {
  path: '/statuses',
  type: 'Status',
  plural: 'Statuses',
  documents: {
    list: ListStatusesDocument,
    get: GetStatusDocument,
    create: CreateStatusDocument,
    update: UpdateStatusDocument,
    remove: DeleteStatusDocument,
  },
  example: { name: 'Won', color: '#2E7D32' },
  input: body => ({ color: body.text('color') }),
};

export const statusRoutes: readonly Route[] = labelRoutes(STATUSES);
