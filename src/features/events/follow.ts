import type { Context } from '../../context.ts';
import { CodedError, invalid } from '../../errors.ts';
import { EVENT_RESOURCES, type EventType, resourceOf, typesMatching } from '../../events.ts';
import { closable } from '../../platform/closable.ts';
import { isUuid } from '../../platform/ids.ts';
import { callerOf } from '../caller.ts';
import { isBehind, type LoggedEvent, type Subscriber, SubscriberOverflow } from './bus.ts';
import { type Cursor, decodeCursor, encodeCursor } from './cursor.ts';
import { findPosition, readTenant } from './log-store.ts';

const PAGE = 500;

export interface FollowArgs {
  readonly types?: readonly string[] | null | undefined;
  readonly after?: string | null | undefined;
}

/**
 * The tenant's events in order, first those of the log after the cursor, then live, without a gap and without repeating
 * one: the live queue is opened before the log is read, and what both have is given once.
 *
 * @throws VALIDATION_ERROR for a cursor that is none; INSUFFICIENT_SCOPE for types that the token may not read
 */
export async function follow(context: Context, args: FollowArgs): Promise<AsyncGenerator<LoggedEvent>> {
  const { tenant, scopes } = callerOf(context);
  const types = readableTypes(scopes, args.types ?? []);
  const after = args.after ? await placeOf(context, tenant.id, args.after) : undefined;
  const live = context.bus.subscribe(tenant.id, types);
  return closable(events(context, live, tenant.id, types, after), () => live.close());
}

async function* events(
  context: Context,
  live: Subscriber,
  tenantId: number,
  types: ReadonlySet<EventType>,
  after: Cursor | undefined,
): AsyncGenerator<LoggedEvent> {
  let place = after;
  try {
    while (place) {
      const page = await readTenant(context.db.read, tenantId, place, [...types], PAGE);
      for (const row of page) {
        place = { xid: BigInt(row.xid), seq: row.seq };
        yield { ...row, cursor: place };
      }
      if (page.length < PAGE) break;
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

async function placeOf(context: Context, tenantId: number, after: string): Promise<Cursor> {
  const place = isUuid(after) ? await findPosition(context.db.read, tenantId, after) : decodeCursor(after);
  if (!place) throw invalid({ after: ['Is neither the cursor nor the id of an event.'] });
  return place;
}
