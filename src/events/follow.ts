import { CodedError, invalid } from '../core/errors.ts';
import { EVENT_RESOURCES, type EventType, resourceOf, typesMatching } from '../core/events.ts';
import { isUuid, timeOfId } from '../core/ids.ts';
import { type Caller, callerOf } from '../core/principal.ts';
import type { Database, Db } from '../database/database.ts';
import { closable } from '../platform/closable.ts';
import { type EventBus, type EventFilter, type LoggedEvent, type Subscriber, SubscriberOverflow } from './bus.ts';
import { type Cursor, decodeCursor, encodeCursor, isAfter } from './cursor.ts';
import type { Horizon } from './horizon.ts';
import { findPosition, readTenant } from './log.sql.ts';
import { readRetention } from './retention.sql.ts';

const PAGE = 500;

/** The parts of a context needed to follow the log. */
interface FollowContext extends Caller {
  readonly db: Database;
  readonly bus: EventBus;
  readonly horizon: Horizon;
  readonly logGeneration: number;
}

/** Where a subscriber resumes: a cursor, or the id of an event. */
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
  const position = after ? await positionOf(context, tenant.id, after) : undefined;
  const live = context.bus.subscribe(tenant.id, filter);
  return closable(events(context, live, tenant.id, filter, position), () => live.close());
}

/** Like `follow`, by type patterns. @throws INSUFFICIENT_SCOPE for types that the token may not read */
export const followPatterns = (
  context: FollowContext,
  patterns: readonly string[],
  after: After,
): Promise<AsyncGenerator<LoggedEvent>> =>
  follow(context, { types: readableTypes(callerOf(context).scopes, patterns) }, after);

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
        after: position && encodeCursor(position, context.logGeneration),
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
  { types, about }: EventFilter,
  position: Cursor,
): Promise<LoggedEvent[]> {
  const rows = await readTenant(db.read, tenantId, position, horizon.position, [...types], PAGE, about);
  // Checked after the read, so that a removal before the page was read is noticed.
  await requireRetained(db.read, position);
  return rows.map(row => ({ ...row, cursor: { xid: BigInt(row.xid), seq: row.seq } }));
}

/** Restricts patterns to what the token may read. Explicitly named types that it may not read are an error, not silence. */
function readableTypes(scopes: ReadonlySet<string>, patterns: readonly string[]): ReadonlySet<EventType> {
  const wanted = typesMatching(patterns);
  const readable = new Set([...wanted].filter(type => scopes.has(EVENT_RESOURCES[resourceOf(type)])));
  const named = patterns.filter(pattern => pattern !== '*');
  const forbidden = named.length > 0 ? [...wanted].filter(type => !readable.has(type)) : [];
  if (readable.size === 0 || forbidden.length > 0) {
    const required = [
      ...new Set((forbidden.length > 0 ? forbidden : [...wanted]).map(type => EVENT_RESOURCES[resourceOf(type)])),
    ];
    throw new CodedError('INSUFFICIENT_SCOPE', `These events need the scope ${required.join(', ')}.`, {
      required,
      granted: [...scopes],
    });
  }
  return readable;
}

async function positionOf({ db, logGeneration }: FollowContext, tenantId: number, after: string): Promise<Cursor> {
  const decoded = decodeCursor(after);
  if (decoded && decoded.generation !== logGeneration) throw cursorExpired();
  const position = isUuid(after) ? await findPosition(db.read, tenantId, after) : decoded?.cursor;
  // A UUIDv7 contains its creation time: the id of a removed event is expired rather than invalid.
  if (!position && isUuid(after) && (await isPastRetention(db.read, after))) throw cursorExpired();
  if (!position) throw invalid({ after: ['Must be the cursor or the id of an event.'] });
  await requireRetained(db.read, position);
  return position;
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
