import { useEffect, useRef, useState } from 'react';
import type { RowError } from '../csv/row-errors.tsx';
import { type ContactInput, ImportContactsDocument } from '../documents.generated.ts';
import { useAccount } from '../session/account.tsx';
import { requestFault } from '../texts/faults.ts';
import { isTextKey, useTexts } from '../texts/texts.tsx';

/** Rows of one mutation: the API takes 1,000; smaller ones show progress. */
const BATCH = 250;

export interface ImportRow {
  /** Number of the row, from 1. */
  readonly row: number;
  readonly contact: ContactInput;
  /** Set if it has values beyond the columns. */
  readonly surplus: { readonly cells: number; readonly columns: number } | undefined;
}

export interface ImportOutcome {
  readonly step: 'checking' | 'checked' | 'importing' | 'imported' | 'stopped';
  readonly done: number;
  readonly total: number;
  readonly created: number;
  readonly skipped: number;
  readonly errors: readonly RowError[];
  /** The error that stopped the import. */
  readonly problem: string | undefined;
}

export interface Importer {
  readonly outcome: ImportOutcome | undefined;
  /** Sends rows in batches: as a dry run, or to write them. A row with a fault is left out, the others are written. */
  run(rows: readonly ImportRow[], isDryRun: boolean): Promise<void>;
  stop(): void;
  reset(): void;
}

/** Contacts are created batch by batch, until the dialog closes; each batch has an idempotency key, so that a repeated request writes nothing twice. */
export function useImport(): Importer {
  const { client } = useAccount();
  const { t, faultText } = useTexts();
  const labelOf = (field = ''): string => {
    const key = `field.${field}`;
    return isTextKey(key) ? t(key) : field;
  };
  const [outcome, setOutcome] = useState<ImportOutcome>();
  const controller = useRef<AbortController>(undefined);
  useEffect(() => () => controller.current?.abort(), []);
  return {
    outcome,
    stop: () => controller.current?.abort(),
    reset: () => setOutcome(undefined),
    async run(rows, isDryRun) {
      const current = new AbortController();
      controller.current = current;
      const { signal } = current;
      const sound = rows.filter(({ surplus }) => !surplus);
      const errors: RowError[] = rows.flatMap(({ row, surplus }) =>
        surplus ? { row, message: t('csv.surplus', { ...surplus }) } : [],
      );
      const counts = { done: errors.length, total: rows.length, created: 0, skipped: 0 };
      const show = (step: ImportOutcome['step'], problem?: string): void =>
        setOutcome({ step, ...counts, errors: errors.toSorted((a, b) => a.row - b.row), problem });
      show(isDryRun ? 'checking' : 'importing');
      try {
        for (let from = 0; from < sound.length; from += BATCH) {
          const batch = sound.slice(from, from + BATCH);
          const input = { contacts: batch.map(({ contact }) => contact), skipDuplicates: true, isDryRun };
          const { createContacts } = await client.mutate(ImportContactsDocument, { input }, { signal });
          const refused = createContacts?.userErrors[0];
          if (!createContacts?.summary) return show('stopped', refused ? faultText(refused) : '');
          for (const { index, userErrors } of createContacts.results)
            errors.push({
              row: batch[index]?.row ?? 0,
              message: userErrors.map(error => `${labelOf(error.path.at(-1))}: ${faultText(error)}`).join(' '),
            });
          counts.done += batch.length;
          counts.created += createContacts.summary.succeeded;
          counts.skipped += createContacts.summary.skipped;
          show(isDryRun ? 'checking' : 'importing');
        }
        show(isDryRun ? 'checked' : 'imported');
      } catch (error) {
        show('stopped', signal.aborted ? undefined : faultText(requestFault(error)));
      }
    },
  };
}
