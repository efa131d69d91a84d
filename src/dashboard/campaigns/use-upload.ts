import { useEffect, useRef, useState } from 'react';
import type { Mapping } from '../csv/column-mapping.tsx';
import type { CsvTable } from '../csv/csv-file.ts';
import type { RowError } from '../csv/row-errors.tsx';
import {
  AddRecipientListRowsDocument,
  CreateRecipientListDocument,
  DeleteRecipientListDocument,
  PreviewRecipientListDocument,
  type UploadedListFragment,
} from '../documents.generated.ts';
import { useAccount } from '../session/account.tsx';
import { requestFault } from '../texts/faults.ts';
import { useTexts } from '../texts/texts.tsx';
import type { UserError } from '../ui/user-errors.tsx';

export const LIST_FIELDS = ['phone', 'firstName', 'lastName', 'company', 'email', 'city'] as const;
export type ListField = (typeof LIST_FIELDS)[number];
/** Rows of one request, so that it stays well below the gateway's limit for a body (2 MB). */
const CHUNK = 2_000;

export interface UploadOutcome {
  readonly step: 'checking' | 'checked' | 'uploading' | 'uploaded' | 'stopped';
  readonly done: number;
  readonly total: number;
  /** Rows that are, or would be, people of the list. */
  readonly people: number;
  readonly newContacts: number;
  readonly errorCount: number;
  readonly errors: readonly RowError[];
  /** Of the whole file. */
  readonly faults: readonly UserError[];
  readonly list: UploadedListFragment | undefined;
}

export interface Uploader {
  readonly outcome: UploadOutcome | undefined;
  /** Checks all rows, and writes nothing. */
  check(table: CsvTable, mapping: Mapping<ListField>): Promise<void>;
  /** @returns the list; undefined if it was refused, or the dialog was closed before its end: what was stored of it is deleted */
  upload(name: string, table: CsvTable, mapping: Mapping<ListField>): Promise<UploadedListFragment | undefined>;
  reset(): void;
}

/** Checks and uploads a file in parts, until the dialog closes. */
export function useUpload(): Uploader {
  const { client } = useAccount();
  const { faultText } = useTexts();
  const [outcome, setOutcome] = useState<UploadOutcome>();
  const controller = useRef<AbortController>(undefined);
  useEffect(() => () => controller.current?.abort(), []);

  /** Runs a step for each part of the file, and shows what is known after each of them. */
  const run = async (
    table: CsvTable,
    steps: readonly ['checking', 'checked'] | readonly ['uploading', 'uploaded'],
    send: (csv: string, from: number, signal: AbortSignal) => Promise<Partial<UploadOutcome>>,
  ): Promise<UploadOutcome | undefined> => {
    const current = new AbortController();
    controller.current = current;
    const { signal } = current;
    const { writeCsv } = await import('../csv/csv-file.ts');
    const total = table.rows.length;
    const counts = { done: 0, total, people: 0, newContacts: 0, errorCount: 0 };
    let state: UploadOutcome = { ...counts, step: steps[0], errors: [], faults: [], list: undefined };
    const show = (change: Partial<UploadOutcome>): void => {
      state = { ...state, ...change };
      if (!signal.aborted) setOutcome(state);
    };
    show({});
    try {
      for (let from = 0; from < total && !signal.aborted; from += CHUNK) {
        const csv = writeCsv(table.columns, table.rows.slice(from, from + CHUNK));
        const { faults = [], errors = [], ...part } = await send(csv, from, signal);
        if (faults.length > 0) {
          show({ step: 'stopped', faults: faults.map(fault => ({ ...fault, message: faultText(fault) })) });
          return undefined;
        }
        show({
          done: Math.min(total, from + CHUNK),
          people: state.people + (part.people ?? 0),
          newContacts: state.newContacts + (part.newContacts ?? 0),
          errorCount: state.errorCount + (part.errorCount ?? 0),
          errors: [...state.errors, ...errors],
          list: part.list ?? state.list,
        });
      }
      if (signal.aborted) return undefined;
      show({ step: steps[1] });
      return state;
    } catch (error) {
      show({ step: 'stopped', faults: [{ message: faultText(requestFault(error)) }] });
      return undefined;
    }
  };

  return {
    outcome,
    reset: () => setOutcome(undefined),
    async check(table, mapping) {
      await run(table, ['checking', 'checked'], async (csv, from, signal) => {
        const input = { csv, mapping: given(mapping) };
        const { previewRecipientList: answer } = await client.query(
          PreviewRecipientListDocument,
          { input },
          { signal },
        );
        const { preview, userErrors = [] } = answer ?? {};
        if (!preview) return { faults: userErrors };
        const { rowCount: people, newContactCount: newContacts, errorCount, errors } = preview;
        const placed = errors.map(({ row, message }) => ({ row: row + from, message }));
        return { people, newContacts, errorCount, errors: placed };
      });
    },
    async upload(name, table, mapping) {
      let list: UploadedListFragment | undefined;
      const result = await run(table, ['uploading', 'uploaded'], async (csv, from) => {
        // An incomplete list cannot be an audience, even if the tab is closed before the last part.
        const isComplete = from + CHUNK >= table.rows.length;
        // Not aborted when the dialog closes: the answer has the id of the list to delete.
        const payload = list
          ? (await client.mutate(AddRecipientListRowsDocument, { input: { id: list.id, csv, isComplete } }))
              .addRecipientListRows
          : (
              await client.mutate(CreateRecipientListDocument, {
                input: { name, csv, mapping: given(mapping), isComplete },
              })
            ).createRecipientList;
        if (!payload?.recipientList) return { faults: payload?.userErrors ?? [] };
        list = payload.recipientList;
        return { list };
      });
      // If that fails too, the gateway deletes the list after 30 days, like any unused list.
      if (!result && list)
        await client.mutate(DeleteRecipientListDocument, { input: { id: list.id } }).catch(() => undefined);
      return result?.list;
    },
  };
}

/** The mapping without fields that have no column. */
const given = (mapping: Mapping<ListField>) => ({
  phone: mapping.phone,
  ...Object.fromEntries(Object.entries(mapping).filter(([, column]) => column !== '')),
});
