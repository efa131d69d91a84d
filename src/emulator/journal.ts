import {
  closeSync,
  fstatSync,
  ftruncateSync,
  openSync,
  readFileSync,
  renameSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { asObject, parseJson } from '../platform/json.ts';
import { UserError } from '../platform/user-error.ts';
import type { EmulatorNumber } from './options.ts';
import type { PhoneChange } from './phones.ts';
import type { TemplateRecord } from './template-store.ts';
import type { AcceptedMessage, StatusWord, Update, WebhookError } from './update.ts';

/** A pending status: sequence number, status, time (ms), error. */
export type PlannedStatus = readonly [seq: number, status: StatusWord, at: number, error?: WebhookError];

/** Events that must survive `kill -9`, one per line. */
export type JournalEvent =
  /** A message was accepted, with its planned statuses. Compaction adds `told` (acknowledged statuses) and `cleared` (removed from the log). */
  | {
      readonly e: 'taken';
      readonly m: AcceptedMessage;
      readonly plan: readonly PlannedStatus[];
      readonly told?: readonly StatusWord[];
      readonly cleared?: true;
    }
  /** An inbound message, the time at which it opens the person's window, and `told` if the receiver has acknowledged it. */
  | { readonly e: 'inbound'; readonly u: Update & { kind: 'message' }; readonly at: number; readonly told?: true }
  | { readonly e: 'change'; readonly u: Update & { kind: 'change' } }
  /** A service window, open until `until` (ms); 0 closes it. */
  | { readonly e: 'window'; readonly key: string; readonly until: number }
  /** Updates that were acknowledged, or dropped if `lost`. */
  | { readonly e: 'done'; readonly seqs: readonly number[]; readonly lost?: true }
  | { readonly e: 'template'; readonly t: TemplateRecord }
  | { readonly e: 'template-gone'; readonly id: string }
  | { readonly e: 'webhook-url'; readonly url: string | undefined }
  | { readonly e: 'number'; readonly n: EmulatorNumber }
  /** The phone of a message that was held is back. */
  | { readonly e: 'arrived'; readonly wamid: string; readonly plan: readonly PlannedStatus[] }
  | { readonly e: 'phone'; readonly p: PhoneChange }
  | { readonly e: 'sent-cleared' };

export interface Journal {
  /**
   * Appends one event synchronously, with one `write(2)` and no `fsync`: data written by a killed process stays in the page cache;
   * only a power failure loses it, which is acceptable for development.
   */
  append(event: JournalEvent): void;
  close(): void;
}

export const NO_JOURNAL: Journal = { append: () => {}, close: () => {} };

/** Reads the events of a journal, in order. Ignores a truncated last line and a missing file. */
export function readJournal(path: string): { events: JournalEvent[]; bytes: number } {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return { events: [], bytes: 0 };
    throw unusable(path, error);
  }
  const lines = text.split('\n');
  lines.pop(); // Empty after a whole line, else the line that was being written.
  return { events: lines.map((line, i) => readLine(path, line, i + 1)), bytes: text.length };
}

function readLine(path: string, line: string, number: number): JournalEvent {
  const event = asObject(parseJson(line));
  if (typeof event?.['e'] === 'string') return event as unknown as JournalEvent;
  throw new UserError(
    `The emulator's journal ${path} is corrupt at line ${number}. Remove the file to start with an empty network.`,
  );
}

/** The user's path is a directory, lacks a permission, or is below a directory that does not exist. */
const unusable = (path: string, cause: unknown): UserError =>
  new UserError(
    `The emulator's journal ${path} cannot be used: ${cause instanceof Error ? cause.message : String(cause)}. Use the path of a file in an existing directory.`,
    { cause },
  );

/**
 * Opens a journal for appending; if `compacted` is given, first replaces its contents atomically (by rename).
 * @throws UserError if the file cannot be written
 */
export function openJournal(path: string, compacted?: readonly JournalEvent[]): Journal {
  const file = openFile(path, compacted);
  let size = fstatSync(file).size;
  return {
    append(event) {
      const line = Buffer.from(`${JSON.stringify(event)}\n`);
      try {
        for (let written = 0; written < line.length; ) written += writeSync(file, line, written);
      } catch (error) {
        // The disk is full: the next line would continue the part that was written.
        ftruncateSync(file, size);
        throw error;
      }
      size += line.length;
    },
    close: () => closeSync(file),
  };
}

function openFile(path: string, compacted: readonly JournalEvent[] | undefined): number {
  try {
    if (compacted) {
      writeFileSync(`${path}.new`, compacted.map(event => `${JSON.stringify(event)}\n`).join(''));
      renameSync(`${path}.new`, path);
    } else {
      truncateIncompleteLine(path);
    }
    return openSync(path, 'a');
  } catch (error) {
    throw unusable(path, error);
  }
}

/** Truncates after the last line end, so that the next event begins a line. */
function truncateIncompleteLine(path: string): void {
  let bytes: Buffer;
  try {
    bytes = readFileSync(path);
  } catch {
    return;
  }
  const end = bytes.lastIndexOf(0x0a) + 1;
  if (end < bytes.length) writeFileSync(path, bytes.subarray(0, end));
}
