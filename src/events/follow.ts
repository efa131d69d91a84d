import { CodedError, invalid } from '../core/errors.ts';
import { decodeGlobalId } from '../core/global-ids.ts';
import { isUuid, timeOfId } from '../core/ids.ts';
import { callerOf, type WithPrincipal } from '../core/principal.ts';
import type { Database, Db } from '../database/database.ts';
import { closable } from '../platform/closable.ts';
import { type EventBus, type EventFilter, type LoggedEvent, type Subscriber, SubscriberOverflow } from './bus.ts';
import { type Cursor, decodeCursor, encodeCursor, isAfter } from './cursor.ts';
import type { Horizon } from './horizon.ts';
import { type EventRow, findPosition, readTenant } from './log.sql.ts';
import { readRetention } from './retention.sql.ts';

const PAGE = 500;

/** The parts of a context needed to read and follow the log. */
export interface FollowContext extends WithPrincipal {
  readonly db: Database;
  readonly bus: EventBus;
  readonly horizon: Horizon;
  readonly logGeneration: number;
  /** Where the connection resumes; a stream starts at the later of it and its own `after`. */
  readonly resumeAfter?: string | undefined;
}

/** The position at which a subscriber resumes: a cursor, or the id of an event. */
type After = string | null | undefined;

/**
 * Yields the tenant's events in order: first those in the log after the cursor, then live ones, without gaps or duplicates. The
 * live queue is opened before the log is read, and events in both are yielded once.
 *
 * @throws VALIDATION_ERROR for a malformed cursor, CURSOR_EXPIRED for one older than the retained events
 */
export async function follow(
  context: FollowContext,
  filter: EventFilter,
  after: After,
): Promise<AsyncGenerator<LoggedEvent>> {
  const { tenant } = callerOf(context);
  const position = await startOf(context, tenant.id, [context.resumeAfter, after]);
  const live = context.bus.subscribe(tenant.id, filter);
  return closable(events(context, live, tenant.id, filter, position), () => live.close());
}

async function* events(
  context: FollowContext,
  live: Subscriber,
  tenantId: number,
  filter: EventFilter,
  after: Cursor | undefined,
): AsyncGenerator<LoggedEvent> {
  let position = after;
  try {
    while (position) {
      const buffered = context.bus.since(tenantId, filter, position);
      const page = buffered ?? (await readPage(context, tenantId, filter, position));
      for (const event of page) {
        position = event.cursor;
        yield event;
      }
      if (buffered || page.length < PAGE) break;
    }
    for await (const event of live) {
      if (position && !isAfter(event.cursor, position)) continue;
      position = event.cursor;
      yield event;
    }
  } catch (error) {
    if (!(error instanceof SubscriberOverflow)) throw error;
    throw new CodedError(
      'SERVICE_UNAVAILABLE',
      'This client reads events more slowly than they arrive. Resume after the cursor.',
      {
        details: {
          after: position && encodeCursor(position, context.logGeneration),
        },
      },
    );
  } finally {
    live.close();
  }
}

/** @throws CURSOR_EXPIRED if events after the position have been removed */
async function readPage(
  { db, horizon }: FollowContext,
  tenantId: number,
  { types, facets = [] }: EventFilter,
  position: Cursor,
): Promise<LoggedEvent[]> {
  const selection = { types: [...types], facets, after: position, before: horizon.position };
  const rows = await readTenant(db.read, tenantId, selection, PAGE);
  // Checked after the read, so that a removal before the page was read is noticed.
  await requireRetained(db.read, position);
  return rows.map(withCursor);
}

export const withCursor = (row: EventRow): LoggedEvent => ({ ...row, cursor: { xid: BigInt(row.xid), seq: row.seq } });

/** Returns the latest of the positions of these cursors and event ids. @throws CURSOR_EXPIRED if the events after it have been removed */
async function startOf(
  context: FollowContext,
  tenantId: number,
  starts: readonly After[],
): Promise<Cursor | undefined> {
  const given = starts.filter(after => typeof after === 'string' && after !== '') as string[];
  const positions = await Promise.all(given.map(after => positionOf(context, tenantId, after)));
  const known = positions.filter(position => position !== 'expired');
  const [first, ...others] = known;
  if (!first && positions.length > 0) throw cursorExpired();
  const latest = others.reduce((one, other) => (one && isAfter(one, other) ? one : other), first);
  if (latest) await requireRetained(context.db.read, latest);
  return latest;
}

/**
 * The position of a cursor or event.
 * @throws VALIDATION_ERROR for text that is neither, CURSOR_EXPIRED if events after it have been removed
 */
export async function requirePosition(context: FollowContext, tenantId: number, after: string): Promise<Cursor> {
  const position = await startOf(context, tenantId, [after]);
  if (!position) throw invalid({ after: ['Must be the cursor or the id of an event.'] });
  return position;
}

/** @returns `expired` for a cursor of another generation of the log, or the id of an event that was removed */
async function positionOf(
  { db, logGeneration }: FollowContext,
  tenantId: number,
  after: string,
): Promise<Cursor | 'expired'> {
  const decoded = decodeCursor(after);
  if (decoded && decoded.generation !== logGeneration) return 'expired';
  const id = eventIdOf(tenantId, after);
  const position = id !== undefined ? await findPosition(db.read, tenantId, id) : decoded?.cursor;
  // A UUIDv7 contains its creation time: the id of a removed event is expired rather than invalid.
  if (!position && id !== undefined && (await isPastRetention(db.read, id))) return 'expired';
  if (!position) throw invalid({ after: ['Must be the cursor or the id of an event.'] });
  return position;
}

/** The UUID of an event, given as that or as a global id. */
function eventIdOf(tenantId: number, text: string): string | undefined {
  if (isUuid(text)) return text;
  const decoded = decodeGlobalId(text);
  return decoded?.typename.endsWith('Event') && decoded.tenantId === tenantId && isUuid(decoded.id)
    ? decoded.id
    : undefined;
}

const cursorExpired = (): CodedError =>
  new CodedError(
    'CURSOR_EXPIRED',
    'This cursor is older than the retained events. Query the current state, then subscribe without a cursor.',
  );

/** @throws CURSOR_EXPIRED for a position after which events have been removed, or a position of another cluster */
async function requireRetained(db: Db, position: Cursor): Promise<void> {
  const removed = await readRetention(db);
  if (isAfter(removed, position) || position.xid > removed.endXid) throw cursorExpired();
}

/** Whether an event with this id (a UUIDv7) is older than the retained events. */
async function isPastRetention(db: Db, id: string): Promise<boolean> {
  return timeOfId(id) < (await readRetention(db)).instantMs;
}
