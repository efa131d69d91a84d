import type { LoggedEvent } from '../../events/bus.ts';
import { withCursor } from '../../events/follow.ts';
import { readEvents } from '../../events/log.sql.ts';
import { loader } from '../../schema/loaders.ts';
import type { LabelKind } from '../contacts/labels/label.ts';
import { groupLoader, sourceLoader, statusLoader } from '../contacts/loaders.ts';

/** Events by id; undefined where they are no longer in the log. */
export const eventOf = loader<string, LoggedEvent | undefined>(async (db, tenantId, ids) => {
  const byId = new Map((await readEvents(db, tenantId, ids)).map(event => [event.id, withCursor(event)]));
  return ids.map(id => byId.get(id));
});

/** Groups, sources and statuses, as they are when an event is delivered. */
export const labelOf = { group: groupLoader, source: sourceLoader, status: statusLoader } satisfies Record<
  LabelKind,
  unknown
>;
