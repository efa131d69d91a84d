/** A place in the event log: the writing transaction, and the event's number. */
export interface Cursor {
  readonly xid: bigint;
  readonly seq: number;
}

export const isAfter = (a: Cursor, b: Cursor): boolean => a.xid > b.xid || (a.xid === b.xid && a.seq > b.seq);

export const encodeCursor = (cursor: Cursor): string =>
  Buffer.from(`e:${cursor.xid}:${cursor.seq}`).toString('base64url');

/** @returns undefined when the text is no cursor of the log */
export function decodeCursor(text: string): Cursor | undefined {
  const [, xid, seq] = /^e:(\d{1,20}):(\d{1,16})$/.exec(Buffer.from(text, 'base64url').toString('utf8')) ?? [];
  if (xid === undefined || seq === undefined || BigInt(xid) >= 2n ** 64n) return undefined;
  return { xid: BigInt(xid), seq: Number(seq) };
}
