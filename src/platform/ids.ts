import { createHash } from 'node:crypto';
import { v7 } from 'uuid';

/** A new time-ordered id (UUIDv7, RFC 9562 §5.7). */
export const newId = (): string => v7();

/**
 * The UUIDv7 that an instant and a name always give: 48 bits of time, the rest from SHA-256 of the name. What carries a
 * name of its own (a message of the network) gets the same id however often it is delivered.
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

/** When a UUIDv7 was made, in milliseconds since the epoch; of another kind of UUID, no time that means anything. */
export const timeOfId = (id: string): number => Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16);
