import type { Context } from '../../context.ts';
import { CodedError, invalid } from '../../errors.ts';
import { EVENT_RESOURCES, type EventType, resourceOf, typesMatching } from '../../events.ts';
import { closable } from '../../platform/closable.ts';
import { isUuid } from '../../platform/ids.ts';
import { callerOf } from '../caller.ts';
import { isBehind, type LoggedEvent, type Subscriber, SubscriberOverflow, type Wanted } from './bus.ts';
import { type Cursor, decodeCursor, encodeCursor } from './cursor.ts';
import { expired, isForgotten, requireKept } from './kept.ts';
import { findPosition, readTenant } from './log-store.ts';

const PAGE = 500;

/** Where a subscriber goes on: a cursor, or the id of an event. */
type After = string | null | undefined;

/**
 * The tenant's events in order, first those of the log after the cursor, then live, without a gap and without repeating
 * one: the live queue is opened before the log is read, and what both have is given once.
 *
 * @throws VALIDATION_ERROR for a cursor that is none, CURSOR_EXPIRED for one of before the time that is kept
 */
export async function follow(context: Context, wanted: Wanted, after: After): Promise<AsyncGenerator<LoggedEvent>> {
  const { tenant } = callerOf(context);
  const place = after ? await placeOf(context, tenant.id, after) : undefined;
  const live = context.bus.subscribe(tenant.id, wanted);
  return closable(events(context, live, tenant.id, wanted, place), () => live.close());
}

/** As `follow`, by patterns of types. @throws INSUFFICIENT_SCOPE for types that the token may not read */
export const followPatterns = (
  context: Context,
  patterns: readonly string[],
  after: After,
): Promise<AsyncGenerator<LoggedEvent>> =>
  follow(context, { types: readableTypes(callerOf(context).scopes, patterns) }, after);

async function* events(
  context: Context,
  live: Subscriber,
  tenantId: number,
  wanted: Wanted,
  after: Cursor | undefined,
): AsyncGenerator<LoggedEvent> {
  let place = after;
  try {
    while (place) {
      const remembered = context.bus.since(tenantId, wanted, place);
      const page = remembered ?? (await readPage(context, tenantId, wanted, place));
      for (const event of page) {
        place = event.cursor;
        yield event;
      }
      if (remembered || page.length < PAGE) break;
    }
    for await (const event of live) {
      if (place && !isBehind(event, place)) continue;
      place = event.cursor;
      yield event;
    }
  } catch (error) {
    if (!(error instanceof SubscriberOverflow)) throw error;
    throw new CodedError(
      'SERVICE_UNAVAILABLE',
      'Events come faster than this client reads them. Go on after the cursor.',
      {
        after: place && encodeCursor(place),
      },
    );
  } finally {
    live.close();
  }
}

/** @throws CURSOR_EXPIRED when some of what was to come has been removed meanwhile */
async function readPage(
  { db }: Context,
  tenantId: number,
  { types, about }: Wanted,
  place: Cursor,
): Promise<LoggedEvent[]> {
  const rows = await readTenant(db.read, tenantId, place, [...types], PAGE, about);
  // Afterwards: what was removed before the page was read is known by now.
  await requireKept(db.read, place);
  return rows.map(row => ({ ...row, cursor: { xid: BigInt(row.xid), seq: row.seq } }));
}

/** Of what is asked for, what the token may read. Asking for nothing but the forbidden is refused, not answered with silence. */
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

async function placeOf({ db }: Context, tenantId: number, after: string): Promise<Cursor> {
  const place = isUuid(after) ? await findPosition(db.read, tenantId, after) : decodeCursor(after);
  // An id says when it was made: that of an event which is no longer kept is old rather than wrong.
  if (!place && isUuid(after) && (await isForgotten(db.read, after))) throw expired();
  if (!place) throw invalid({ after: ['Is neither the cursor nor the id of an event.'] });
  await requireKept(db.read, place);
  return place;
}
