import { type FormEvent, useState } from 'react';
import { ColumnMapping, type Mapping } from '../csv/column-mapping.tsx';
import { CsvDrop } from '../csv/csv-drop.tsx';
import type { CsvTable } from '../csv/csv-file.ts';
import { CsvPreview } from '../csv/csv-preview.tsx';
import { RowErrors } from '../csv/row-errors.tsx';
import {
  AddRecipientListRowsDocument,
  CreateRecipientListDocument,
  type UploadedListFragment,
} from '../documents.generated.ts';
import { useAccount } from '../session/account.tsx';
import { useTexts } from '../texts/texts.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Field } from '../ui/field.tsx';
import { Progress } from '../ui/progress.tsx';
import { errorsOf, type UserError, UserErrors } from '../ui/user-errors.tsx';
import type { ListChoice } from './campaign-draft.ts';

const FIELDS = ['phone', 'firstName', 'lastName', 'company', 'email', 'city'] as const;
type ListField = (typeof FIELDS)[number];
const NOTHING = Object.fromEntries(FIELDS.map(field => [field, ''])) as Mapping<ListField>;
/** Rows of one request: well below the size that the gateway takes. */
const CHUNK = 2_000;

interface Props {
  readonly onClose: () => void;
  readonly onUploaded: (list: ListChoice) => void;
}

interface Upload {
  readonly done: number;
  readonly total: number;
  readonly list?: UploadedListFragment;
  readonly errors: readonly UserError[];
  readonly isOver: boolean;
}

/** Uploads a list of people for campaigns: file, columns, then the rows that were left out with their faults. */
export function UploadDialog({ onClose, onUploaded }: Props) {
  const { t, language } = useTexts();
  const { client } = useAccount();
  const [table, setTable] = useState<CsvTable>();
  const [name, setName] = useState('');
  const [mapping, setMapping] = useState(NOTHING);
  const [upload, setUpload] = useState<Upload>();
  const take = async (chosen: CsvTable, fileName: string): Promise<void> => {
    const { COLUMN_NAMES, guessColumn } = await import('../csv/csv-file.ts');
    setMapping(
      Object.fromEntries(
        FIELDS.map(field => [field, guessColumn(chosen.columns, COLUMN_NAMES[field])]),
      ) as typeof NOTHING,
    );
    setName(fileName.replace(/\.\w+$/, ''));
    setTable(chosen);
  };
  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    if (!table) return;
    const { writeCsv } = await import('../csv/csv-file.ts');
    const total = table.rows.length;
    let list: UploadedListFragment | undefined;
    const show = (done: number, isOver: boolean, errors: readonly UserError[] = []): void =>
      setUpload({ done, total, isOver, errors, ...(list && { list }) });
    show(0, false);
    try {
      for (let from = 0; from < total; from += CHUNK) {
        const csv = writeCsv(table.columns, table.rows.slice(from, from + CHUNK));
        const payload = list
          ? (await client.mutate(AddRecipientListRowsDocument, { input: { id: list.id, csv } })).addRecipientListRows
          : (await client.mutate(CreateRecipientListDocument, { input: { name, csv, mapping: given(mapping) } }))
              .createRecipientList;
        list = payload?.recipientList ?? list;
        if (!payload?.recipientList) return show(from, true, payload?.userErrors ?? []);
        show(Math.min(total, from + CHUNK), false);
      }
      show(total, true);
      if (list) onUploaded(list);
    } catch (error) {
      show(0, true, [{ message: error instanceof Error ? error.message : String(error) }]);
    }
  };
  const download = async (): Promise<void> => {
    if (!table || !upload?.list) return;
    const { guarded, saveFile, writeCsv } = await import('../csv/csv-file.ts');
    const rows = upload.list.errors.map(({ row, message }) => [
      ...table.columns.map((_, place) => guarded(table.rows[row - 1]?.[place] ?? '')),
      message,
    ]);
    saveFile(`${name}-errors.csv`, writeCsv([...table.columns, 'error'], rows));
  };
  const faults = upload?.isOver ? upload.errors : [];
  const isDone = upload?.isOver && faults.length === 0;
  const isForm = table && (!upload || faults.length > 0);
  return (
    <Dialog title={t('upload.title')} onClose={onClose} isWide>
      <form className="form" onSubmit={event => void submit(event)}>
        {!table && <CsvDrop hint={t('upload.hint')} onTable={(chosen, file) => void take(chosen, file)} />}
        {isForm && (
          <>
            <Field
              label={t('upload.name')}
              value={name}
              error={errorsOf(faults, 'name')}
              onChange={setName}
              isRequired
            />
            <CsvPreview table={table} used={Object.values(mapping)} />
            <ColumnMapping
              table={table}
              fields={FIELDS}
              mapping={mapping}
              labelOf={field => t(`field.${field}`)}
              errorOf={field => (field === 'phone' && mapping.phone === '' ? t('import.needsPhone') : undefined)}
              onChange={setMapping}
            />
            <p className="muted small">{t('upload.columnsHint')}</p>
            <UserErrors errors={faults.filter(({ path }) => path?.[0] !== 'name')} />
          </>
        )}
        {upload && !upload.isOver && <Progress label={t('upload.running')} value={upload.done} max={upload.total} />}
        {isDone && upload.list && (
          <div aria-live="polite" className="form">
            <p className="notice good">
              {t('upload.done', { name: upload.list.name, count: upload.list.rowCount.toLocaleString(language) })}
            </p>
            <RowErrors errors={upload.list.errors} count={upload.list.errorCount} onDownload={() => void download()} />
          </div>
        )}
        <div className="dialog-foot">
          {!isDone && (
            <button type="button" className="button" onClick={onClose}>
              {t('cancel')}
            </button>
          )}
          {isForm && (
            <button type="submit" className="button primary" disabled={mapping.phone === ''}>
              {t('upload.start', { count: table.rows.length })}
            </button>
          )}
          {isDone && (
            <button type="button" className="button primary" onClick={onClose}>
              {t('done')}
            </button>
          )}
        </div>
      </form>
    </Dialog>
  );
}

/** The mapping without fields that have no column. */
const given = (mapping: Mapping<ListField>) => ({
  phone: mapping.phone,
  ...Object.fromEntries(Object.entries(mapping).filter(([, column]) => column !== '')),
});
