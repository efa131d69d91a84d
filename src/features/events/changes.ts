import { resolveNodes } from '@pothos/plugin-relay';
import type { GraphQLResolveInfo } from 'graphql';
import { invalid } from '../../core/errors.ts';
import type { EventType } from '../../core/events.ts';
import { encodeGlobalId } from '../../core/global-ids.ts';
import { callerOf } from '../../core/principal.ts';
import { type Cursor, encodeCursor, isAfter, positionBefore } from '../../events/cursor.ts';
import { requirePosition } from '../../events/follow.ts';
import { readSubjects, type SubjectRow } from '../../events/log.sql.ts';
import { builder, isNode } from '../../schema/builder.ts';
import type { Context } from '../../schema/context.ts';
import { readableTypes } from './filter.ts';
import { CHANGES, subjectOf } from './subjects.ts';

/** Events that one page reads at most: their objects alone, without the payloads. */
const MAX_EVENTS = 5_000;
export const MAX_CHANGES = 100;

export interface ChangePage {
  readonly nodes: readonly object[];
  readonly deletedIds: readonly string[];
  readonly endCursor: string;
  readonly hasNextPage: boolean;
}

interface Key {
  readonly typename: string;
  readonly id: string;
}

/**
 * The objects that changed after a cursor, each once and as it is now. A client that was away reads these instead of every event,
 * and then subscribes after `endCursor`.
 * @param first at most this many objects, 1 to 100
 * @throws VALIDATION_ERROR, CURSOR_EXPIRED, INSUFFICIENT_SCOPE
 */
export async function changesAfter(
  context: Context,
  { after, first }: { readonly after: string; readonly first: number },
  info: GraphQLResolveInfo,
): Promise<ChangePage> {
  if (first < 1 || first > MAX_CHANGES) throw invalid({ first: [`Must be from 1 to ${MAX_CHANGES}.`] }, 'OUT_OF_RANGE');
  const { tenant, scopes } = callerOf(context);
  const start = await requirePosition(context, tenant.id, after);
  const { position: horizon } = await context.horizon.advance();
  const rows = await readSubjects(context.db.read, tenant.id, pathsOf(scopes, info), start, horizon, MAX_EVENTS);
  const { keys, end } = distinct(rows, first);
  const isComplete = end === undefined && rows.length < MAX_EVENTS;
  const last = end ?? (isComplete ? latest(start, positionBefore(horizon)) : placeOf(rows.at(-1), start));
  const found = await resolveNodes(builder, context, info, [...keys]);
  const rowsOf = await Promise.all(found);
  const isPresent = (row: unknown, { id }: Key): row is object =>
    // The former id of a merged object finds the one that is kept, which has its own place among the changes.
    typeof row === 'object' && row !== null && 'id' in row && String(row.id) === id;
  return {
    nodes: rowsOf.filter((row, index) => isPresent(row, keys[index] as Key)) as object[],
    deletedIds: keys
      .filter((key, index) => !isPresent(rowsOf[index], key))
      .map(({ typename, id }) => encodeGlobalId(typename, tenant.id, id)),
    endCursor: encodeCursor(last, context.logGeneration),
    hasNextPage: !isComplete,
  };
}

/** Where the key is, for each type of event that the token may read and that is about a Node. */
function pathsOf(scopes: ReadonlySet<string>, { schema }: GraphQLResolveInfo): Map<EventType, string> {
  const types = [...readableTypes(scopes, undefined)].filter(
    type => CHANGES.has(type) && isNode(schema.getType(subjectOf(type).node)),
  );
  return new Map(types.map(type => [type, `{${subjectOf(type).path.join(',')}}`]));
}

/** @returns `end`: the place of the last event of the page, if others follow that are about further objects */
function distinct(rows: readonly SubjectRow[], limit: number) {
  const keys = new Map<string, Key>();
  let end: Cursor | undefined;
  let previous: SubjectRow | undefined;
  for (const row of rows) {
    const { node } = subjectOf(row.type);
    const name = `${node}:${row.subject}`;
    if (row.subject !== null && !keys.has(name)) {
      if (keys.size >= limit) {
        end = placeOf(previous, { xid: 0n, seq: 0 });
        break;
      }
      keys.set(name, { typename: node, id: row.subject });
    }
    if (row.former_id !== null) keys.set(`${node}:${row.former_id}`, { typename: node, id: row.former_id });
    previous = row;
  }
  return { keys: [...keys.values()], end };
}

const placeOf = (row: SubjectRow | undefined, otherwise: Cursor): Cursor =>
  row ? { xid: BigInt(row.xid), seq: row.seq } : otherwise;

const latest = (one: Cursor, other: Cursor): Cursor => (isAfter(one, other) ? one : other);
