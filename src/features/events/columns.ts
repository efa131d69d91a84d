import { type RawBuilder, sql } from 'kysely';
import type { Cursor } from './cursor.ts';

/** A part of the log: behind `after`, up to and with `until`. */
export interface Stretch {
  readonly after: Cursor;
  readonly until: Cursor;
}

const place = ({ xid, seq }: Cursor): RawBuilder<unknown> => sql`(${String(xid)}::xid8, ${seq}::bigint)`;

/** The events (`e`) behind a place. Stands in every statement that reads the log in its order, so that all use the same index. */
export const behind = (after: Cursor): RawBuilder<boolean> => sql`(e.xid, e.seq) > ${place(after)}`;

/** The events (`e`) of a stretch, in the same words. */
export const within = ({ after, until }: Stretch): RawBuilder<boolean> =>
  sql`${behind(after)} and (e.xid, e.seq) <= ${place(until)}`;
