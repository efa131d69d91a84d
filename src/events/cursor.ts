/** A position in the event log: the writing transaction and the sequence number. */
export interface Cursor {
  readonly xid: bigint;
  readonly seq: number;
}

export const isAfter = (a: Cursor, b: Cursor): boolean => a.xid > b.xid || (a.xid === b.xid && a.seq > b.seq);

export const isSame = (a: Cursor, b: Cursor): boolean => a.xid === b.xid && a.seq === b.seq;

/** The position immediately before: a read after it starts with the given one. Sequence numbers start at 1. */
export const positionBefore = ({ xid, seq }: Cursor): Cursor => ({ xid, seq: Math.max(0, seq - 1) });

/** Encodes a position for clients. @param generation of the log; a restore starts a new one and expires older cursors */
export const encodeCursor = (cursor: Cursor, generation: number): string =>
  Buffer.from(`e:${cursor.xid}:${cursor.seq}${generation === 0 ? '' : `:${generation}`}`).toString('base64url');

/** @returns undefined if the text is not a cursor of the log */
export function decodeCursor(text: string): { readonly cursor: Cursor; readonly generation: number } | undefined {
  const [, xid, seq, generation = '0'] =
    /^e:(\d{1,20}):(\d{1,16})(?::([1-9]\d{0,9}))?$/.exec(Buffer.from(text, 'base64url').toString('utf8')) ?? [];
  if (xid === undefined || seq === undefined || BigInt(xid) >= 2n ** 64n) return undefined;
  return { cursor: { xid: BigInt(xid), seq: Number(seq) }, generation: Number(generation) };
}
