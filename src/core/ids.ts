import { createHash } from 'node:crypto';
import { v7 } from 'uuid';

/** A new time-ordered id (UUIDv7, RFC 9562 §5.7). */
export const newId = (): string => v7();

let sequence = 0;

/** Creates an id for an instant (milliseconds). Ids that one process creates for the same instant sort in call order. */
export function newIdAt(atMs: number): string {
  sequence = (sequence + 1) % 2 ** 31;
  return v7({ msecs: atMs, seq: sequence });
}

/**
 * Derives a UUIDv7 from an instant and a name: 48 bits of time, the rest from SHA-256 of the name. A network message therefore
 * gets the same id however often it is delivered.
 */
export function idFor(atMs: number, name: string): string {
  const bytes = createHash('sha256').update(name).digest().subarray(0, 16);
  bytes.writeUIntBE(Math.max(0, Math.floor(atMs)), 0, 6);
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x70;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = bytes.toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
export const isUuid = (value: string): boolean => UUID.test(value);

/** Precedes every other id: where the first page of a list by id begins. */
export const NIL_UUID = '00000000-0000-0000-0000-000000000000';

/** Returns the creation time of a UUIDv7 in milliseconds since the epoch; meaningless for other UUID versions. */
export const timeOfId = (id: string): number => Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16);
