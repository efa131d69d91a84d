import { asId, asList, asObject, asText, type JsonObject } from '../../../platform/json.ts';
import type { ChangeAddress } from '../../updates.ts';
import { addressOf } from './address.ts';

/** An unread change of a webhook's body. */
export interface RawChange {
  /** Empty if the body does not have the structure of a webhook. */
  readonly field: string;
  readonly entryId: string | undefined;
  /** The time of its entry, unread; undefined in most fields with a list. */
  readonly time: unknown;
  readonly value: unknown;
  readonly address: ChangeAddress;
  /** The form in which it is stored: a webhook entry with only this change, or the malformed part. */
  readonly raw: unknown;
}

/** Keys of an entry that are part of its structure. */
const ENTRY_FRAME: ReadonlySet<string> = new Set(['id', 'time', 'changes']);

/** All changes of a body, in order. A malformed part becomes a change with an empty field, so that nothing is lost. */
export function changesOf(body: unknown): RawChange[] {
  const entries = asObject(body)?.['entry'];
  if (!Array.isArray(entries) || entries.length === 0) return [malformed(undefined, body)];
  return entries.flatMap(changesOfEntry);
}

function changesOfEntry(entry: unknown): RawChange[] {
  const fields = asObject(entry);
  const entryId = asId(fields?.['id']);
  if (!fields || !Array.isArray(fields['changes'])) return [malformed(entryId, entry)];
  const changes = asList(fields['changes']).map(change => readChange(entryId, fields['time'], change));
  const others = Object.keys(fields).filter(key => !ENTRY_FRAME.has(key));
  if (others.length === 0) return changes;
  const { changes: _read, ...rest } = fields;
  return [...changes, malformed(entryId, rest)];
}

function readChange(entryId: string | undefined, time: unknown, change: unknown): RawChange {
  const fields = asObject(change);
  const field = asText(fields?.['field']);
  const raw = entryOf(entryId, time, change);
  if (!fields || field === undefined) return malformed(entryId, raw);
  const value = fields['value'];
  return { field, entryId, time, value, address: addressOf(entryId, asObject(value)), raw };
}

const entryOf = (entryId: string | undefined, time: unknown, change: unknown): JsonObject => ({
  ...(entryId !== undefined && { id: entryId }),
  ...(time !== undefined && { time }),
  changes: [change],
});

const malformed = (entryId: string | undefined, raw: unknown): RawChange => ({
  field: '',
  entryId,
  time: undefined,
  value: undefined,
  address: addressOf(entryId, undefined),
  raw,
});
