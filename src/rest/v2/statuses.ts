import { rowFields } from '../query.ts';
import type { Route } from '../route.ts';
import {
  CreateStatusDocument,
  DeleteStatusDocument,
  GetStatusDocument,
  ListStatusesDocument,
  UpdateStatusDocument,
} from './documents.generated.ts';
import { labelRoutes } from './labels.ts';

export const statusRoutes: readonly Route[] = labelRoutes({
  path: '/statuses',
  type: 'Status',
  plural: 'Statuses',
  fields: rowFields(['id', 'name', 'color', 'created_at', 'updated_at']),
  documents: {
    list: ListStatusesDocument,
    get: GetStatusDocument,
    create: CreateStatusDocument,
    update: UpdateStatusDocument,
    remove: DeleteStatusDocument,
  },
  extra: () => ({}),
  input: body => ({ color: body.text('color') }),
});
