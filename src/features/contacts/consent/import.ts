import type { Author } from '../../../core/author.ts';
import type { Database, Db } from '../../../database/database.ts';
import { MINUTE } from '../../../platform/clock.ts';
import { type CsvRow, surplusFault } from '../../../platform/csv.ts';
import { columnsOf } from '../../../platform/csv-format.ts';
import { parseDateTime } from '../../../platform/date-time.ts';
import { parsePhone } from '../../../platform/phone.ts';
import { findContactsByIdentity } from '../erasure/store.ts';
import {
  CONSENT_CATEGORIES,
  type ConsentCategory,
  type ConsentState,
  evidenceFault,
  type NewConsentEntry,
} from './consent.ts';

/** Columns of the file. The last one may be missing: then the consent was given when the file is imported. */
export const CONSENT_CSV_COLUMNS = ['phone', 'category', 'state', 'evidence', 'occurred_at'] as const;
const OPTIONAL = 'occurred_at';
type Cells = Partial<Record<(typeof CONSENT_CSV_COLUMNS)[number], string>>;

export interface ConsentFault {
  /** In the file, from 1. */
  readonly line: number;
  /** `row`: the whole row. */
  readonly column: string;
  readonly message: string;
}

export interface ParsedConsent {
  readonly entries: readonly NewConsentEntry[];
  /** In the order of the file. */
  readonly faults: readonly ConsentFault[];
}

const STATES: readonly ConsentState[] = ['opted_in', 'opted_out'];
/** Rows that are read, and imported in one transaction, at a time. */
const BATCH_ROWS = 500;
const CLOCK_SKEW_MS = 5 * MINUTE;

/**
 * Reads consent from the rows of a CSV file, header first, and finds the contacts. Writes nothing.
 * @returns for some rows at a time, entries of those without a fault, and all faults of the others; the faults of the header alone, if it
 *   has any
 */
export async function* parseConsent(
  { read }: Pick<Database, 'read'>,
  tenantId: number,
  rows: AsyncIterable<CsvRow>,
  author: Author,
  nowMs: number,
): AsyncGenerator<ParsedConsent> {
  let names: readonly string[] | undefined;
  let batch: CsvRow[] = [];
  const parse = () => parseRows(read, tenantId, names ?? [], batch, author, nowMs);
  for await (const row of rows) {
    if (names) batch.push(row);
    else {
      names = columnsOf(row.cells).map(name => name.toLowerCase());
      const faults = headerFaults(row, names);
      if (faults.length > 0) return yield { entries: [], faults };
    }
    if (batch.length < BATCH_ROWS) continue;
    yield await parse();
    batch = [];
  }
  if (!names) yield { entries: [], faults: headerFaults(undefined, []) };
  else if (batch.length > 0) yield await parse();
}

function headerFaults(header: CsvRow | undefined, names: readonly string[]): ConsentFault[] {
  const faults: ConsentFault[] = CONSENT_CSV_COLUMNS.filter(name => name !== OPTIONAL && !names.includes(name)).map(
    column => ({ line: header?.line ?? 1, column, message: 'The file has no such column.' }),
  );
  // One of two would decide, and the other be ignored.
  for (const column of CONSENT_CSV_COLUMNS)
    if (names.indexOf(column) !== names.lastIndexOf(column))
      faults.push({ line: header?.line ?? 1, column, message: 'The file has this column twice.' });
  return faults;
}

async function parseRows(
  db: Db,
  tenantId: number,
  names: readonly string[],
  rows: readonly CsvRow[],
  author: Author,
  nowMs: number,
): Promise<ParsedConsent> {
  const faults: ConsentFault[] = [];
  const given = rows.map(({ line, cells }) => ({
    line,
    surplus: surplusFault(cells, names.length),
    cells: Object.fromEntries(names.map((name, index) => [name, cells[index]?.trim() ?? ''])) as Cells,
  }));
  const keys = given.flatMap(({ cells }) => parsePhone(cells.phone ?? '')?.key ?? []);
  const contacts = await findContactsByIdentity(db, tenantId, [...new Set(keys)]);
  const entries = given.flatMap(({ line, surplus, cells }) => {
    const before = faults.length;
    const add = (column: string, message: string): number => faults.push({ line, column, message });
    if (surplus !== undefined) {
      // Its other faults would be those of values in the wrong columns.
      add('row', surplus);
      return [];
    }
    const contactId = contactOf(cells, contacts, add);
    const { category, state } = cells;
    if (!isOneOf(CONSENT_CATEGORIES, category)) add('category', `Must be ${CONSENT_CATEGORIES.join(', ')}.`);
    if (!isOneOf(STATES, state)) add('state', `Must be ${STATES.join(' or ')}.`);
    const evidence = evidenceOf(cells, add);
    const occurredAt = occurredAtOf(cells, nowMs, add);
    if (faults.length > before || contactId === undefined) return [];
    const consent = { category: category as ConsentCategory, state: state as ConsentState, source: 'import' as const };
    return [{ contactId, ...consent, evidence, author, occurredAt, isUndated: !cells.occurred_at }];
  });
  return { entries, faults };
}

const isOneOf = <Word extends string>(words: readonly Word[], text: string | undefined): text is Word =>
  (words as readonly (string | undefined)[]).includes(text);

type AddFault = (column: string, message: string) => void;

function contactOf({ phone = '' }: Cells, contacts: ReadonlyMap<string, number>, add: AddFault): number | undefined {
  const parsed = parsePhone(phone);
  if (!parsed) {
    add('phone', 'Must be a phone number in international format, such as +4915123456789.');
    return undefined;
  }
  const contactId = contacts.get(parsed.key);
  if (contactId === undefined) add('phone', 'No contact has this number.');
  return contactId;
}

function evidenceOf({ evidence = '' }: Cells, add: AddFault): string {
  const fault = evidenceFault(evidence);
  if (evidence === '') add('evidence', 'Is required: say where the consent is recorded.');
  else if (fault) add('evidence', fault.message);
  return evidence;
}

function occurredAtOf({ occurred_at: text = '' }: Cells, nowMs: number, add: AddFault): string {
  const ms = text === '' ? nowMs : parseDateTime(text);
  if (ms === undefined) add('occurred_at', 'Must be a date or time in ISO 8601, such as 2026-01-31.');
  else if (ms > nowMs + CLOCK_SKEW_MS) add('occurred_at', 'Must not be in the future.');
  return new Date(ms ?? nowMs).toISOString();
}
