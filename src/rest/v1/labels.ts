import type { Route } from '../route.ts';
import { GROUPS } from '../v2/groups.ts';
import { type LabelStyle, labelRoutes } from '../v2/labels.ts';
import { SOURCES } from '../v2/sources.ts';
import { STATUSES } from '../v2/statuses.ts';
import { legacyTime } from '../wire-time.ts';

const STYLE: LabelStyle = { update: 'PUT', time: legacyTime, sparse: false };

/** Groups, sources and statuses. */
export const legacyLabelRoutes: readonly Route[] = [GROUPS, SOURCES, STATUSES].flatMap(kind =>
  labelRoutes(kind, STYLE),
);
